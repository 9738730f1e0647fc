#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The one table of subcommands. Parsing, --help, completion, the manual page and the check of
/// docs/commands.md all derive from it.
namespace tenure::cli {

/// The kind of a value, for completion.
enum class value_kind : std::uint8_t {
  text,
  word,       ///< one of `option::words`
  election,   ///< an election of a running agent
  verb,       ///< a verb in the table of commands
  member,     ///< a member of an election of a running agent
  state,      ///< one of `option::words`; a member after one that ends with '='
  file,       ///< an existing file
  directory,  ///< an existing directory
};

/// A flag of a verb, or an argument without a flag.
struct option {
  std::string_view name;          ///< "--api"; "ELECTION" for an argument
  std::string_view metavar = {};  ///< for a flag with a value: "URL"
  std::string_view doc;           ///< one line
  value_kind takes = value_kind::text;
  std::span<const std::string_view> words = {};
  bool repeatable = false;
  bool required = false;
  std::string_view also = {};  ///< another name of the flag; a flag that sets the argument

  [[nodiscard]] constexpr bool is_flag() const { return name.starts_with('-'); }
  [[nodiscard]] constexpr bool has_value() const { return !is_flag() || !metavar.empty(); }
};

/// The meaning of an exit status of a verb.
struct exit_meaning {
  int status;
  std::string_view means;
};

struct command {
  std::string_view name;
  std::string_view summary;            ///< one line, for lists
  bool has_settings = false;           ///< takes every setting as a flag, see config/fields.hpp
  std::string_view rest = {};          ///< what follows after --: "COMMAND [ARGUMENTS...]"
  std::span<const option> words = {};  ///< in order
  std::span<const option> flags = {};
  std::string_view notes = {};  ///< a paragraph after the flags, without line breaks
  std::string_view example = {};
  std::span<const exit_meaning> statuses = {};
};

/// In the order of --help.
std::span<const command> commands();

/// The verb of that name, or nullptr.
const command* command_named(std::string_view name);

/// The flags of a verb, including settings. Their text lives as long as the program.
std::vector<option> flags_of(const command& of);

/// Only its own flags, and those that set one of its arguments.
std::vector<option> own_flags_of(const command& of);

/// Only the flags of settings, in the order of the table of settings, after --config.
std::vector<option> setting_flags();

/// The first line of `tenure --help`.
inline constexpr std::string_view program_summary =
    "Runs a workload active/standby: at most one at a time, stopped before its lease ends";

}  // namespace tenure::cli
