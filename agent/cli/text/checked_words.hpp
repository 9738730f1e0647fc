#pragma once

#include <optional>
#include <string>
#include <vector>

/// A guard must stay small, so a process that has checked its arguments replaces itself by one that
/// takes them unchecked: `tenure VERB --checked WORDS... -- REST...`.
namespace tenure::cli {

struct checked_words {
  std::vector<std::string> words;
  std::vector<std::string> rest;  ///< after the --
};

/// Replaces this process. Returns only on failure, with the exit status.
[[nodiscard]] int run_checked(const std::string& verb, const checked_words& what);

/// The arguments of `run_checked`, if there are `count` words; nothing for any other command line.
[[nodiscard]] std::optional<checked_words> take_checked(int argc, const char* const* argv,
                                                        std::size_t count);

}  // namespace tenure::cli
