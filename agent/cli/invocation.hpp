#pragma once

#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/load.hpp"

/// The parsed command line.
namespace tenure::cli {

enum class output_form { text, json };

struct invocation {
  std::string verb;                           ///< "exec", "agent", ...
  std::vector<config::name_and_value> flags;  ///< settings, in order: {"--ttl", "15s"}
  std::optional<std::string> config_path;     ///< --config, or FILE of `check`
  output_form output = output_form::text;
  /// The verb's own flags and arguments, by their names in the table, in order. A flag without a
  /// value has an empty one.
  std::vector<config::name_and_value> given;

  [[nodiscard]] bool has(std::string_view name) const;
  /// Nothing if it was not given. Precondition of all three: the verb has such a flag or argument.
  [[nodiscard]] std::optional<std::string> value(std::string_view name) const;
  [[nodiscard]] std::vector<std::string> values(std::string_view name) const;
};

/// Parses the arguments before any `--`. Handles usage errors, --help and --version itself, on
/// stderr or stdout; the error is then the exit status.
std::expected<invocation, int> parse(int argc, const char* const* argv);

/// Reports that there is no such verb, and the one that was probably meant. Returns the status.
int report_unknown_verb(std::string_view given);

/// The index of `--` in argv; argc if there is none.
int separator(int argc, const char* const* argv);

}  // namespace tenure::cli
