#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/text/report.hpp"

/// What a shell may offer for the word at its cursor.
namespace tenure::cli {

struct suggestion {
  std::string word;
  std::string_view doc;  ///< for shells that show it
};

/// What the shell does with the suggestions, or instead of them.
enum class offer : std::uint8_t {
  words,      ///< each is a whole word
  beginning,  ///< each goes on behind the cursor: no blank after it
  files,
  directories,
  commands,  ///< that can be run
};

struct suggestions {
  offer what = offer::words;
  std::vector<suggestion> words{};
};

/// The elections of the agent that `--api` names, or of the default one; empty if none answers.
using election_source =
    std::function<std::vector<election_report>(const std::optional<std::string>& api)>;

/// `words`: what stands behind "tenure" up to the cursor; the last is the one to be completed,
/// perhaps empty.
suggestions complete(std::span<const std::string> words, const election_source& elections);

/// "bash", "zsh" or "fish".
std::string_view completion_script(std::string_view shell);

/// `tenure complete -- WORDS...`, which the scripts call: a line for each word, with a tab between
/// it and what it means, and last the offer: ":words".
int run_complete(int argc, const char* const* argv);

}  // namespace tenure::cli
