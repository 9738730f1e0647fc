#pragma once

#include <optional>
#include <string>
#include <vector>

/// A guard must stay small, so a process that has checked its arguments is replaced by one that
/// takes them as they are: `tenure VERB --checked WORDS... -- REST...`.
namespace tenure::cli {

struct checked_words {
  std::vector<std::string> words;
  std::vector<std::string> rest;  ///< behind the --
};

/// Replaces this process. Returns only if that fails, with the status to exit with.
[[nodiscard]] int run_checked(const std::string& verb, const checked_words& what);

/// What `run_checked` was given, if it was `count` words; nothing for any other command line.
[[nodiscard]] std::optional<checked_words> take_checked(int argc, const char* const* argv,
                                                        std::size_t count);

}  // namespace tenure::cli
