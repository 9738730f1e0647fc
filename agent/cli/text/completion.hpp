#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "wire/election.hpp"

/// The suggestions for the word at the cursor of a shell.
namespace tenure::cli {

struct suggestion {
  std::string word;
  std::string_view doc;  ///< for shells that show it
};

/// What the shell does with the suggestions, or instead of them.
enum class offer : std::uint8_t {
  words,      ///< each is a complete word
  beginning,  ///< each continues after the cursor: no blank follows
  files,
  directories,
  commands,  ///< executables
};

struct suggestions {
  offer what = offer::words;
  std::vector<suggestion> words{};
};

/// The elections of the agent of `--api`, or of the default one; empty if none answers.
using election_source =
    std::function<std::vector<wire::election_report>(const std::optional<std::string>& api)>;

/// `words`: the words after "tenure" up to the cursor; the last one, perhaps empty, is to be
/// completed.
suggestions complete(std::span<const std::string> words, const election_source& elections);

/// "bash", "zsh" or "fish".
std::string_view completion_script(std::string_view shell);

/// `tenure complete -- WORDS...`, which the scripts call: prints one line per word, with a tab
/// before its meaning, and last the offer: ":words".
int run_complete(int argc, const char* const* argv);

}  // namespace tenure::cli
