#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

/// The one table of subcommands. Parsing, --help, completion, the manual page and the check of
/// docs/commands.md all follow from it.
namespace tenure::cli {

/// What a value is, for completion.
enum class value_kind : std::uint8_t {
  text,
  word,       ///< one of `option::words`
  election,   ///< of a running agent
  verb,       ///< of the table of commands
  member,     ///< of an election of a running agent
  state,      ///< one of `option::words`; behind one that ends with '=', a member
  file,       ///< an existing file
  directory,  ///< an existing directory
};

/// A flag of a verb, or a word that it takes without one.
struct option {
  std::string_view name;          ///< "--api"; "ELECTION" where the word stands for itself
  std::string_view metavar = {};  ///< of a flag that takes a value: "URL"
  std::string_view doc;           ///< one line
  value_kind takes = value_kind::text;
  std::span<const std::string_view> words = {};
  bool repeatable = false;
  bool required = false;
  std::string_view also = {};  ///< another name of the flag; a flag that gives the word

  [[nodiscard]] constexpr bool is_flag() const { return name.starts_with('-'); }
  [[nodiscard]] constexpr bool has_value() const { return !is_flag() || !metavar.empty(); }
};

/// What a status that a verb ends with means.
struct exit_meaning {
  int status;
  std::string_view means;
};

struct command {
  std::string_view name;
  std::string_view summary;            ///< one line, for lists
  bool has_settings = false;           ///< takes every setting as a flag, see config/fields.hpp
  std::string_view rest = {};          ///< what follows behind --: "COMMAND [ARGUMENTS...]"
  std::span<const option> words = {};  ///< in their order
  std::span<const option> flags = {};
  std::string_view notes = {};  ///< a paragraph below the flags, without line breaks
  std::string_view example = {};
  std::span<const exit_meaning> statuses = {};
};

/// In the order of --help.
std::span<const command> commands();

/// The verb of that name, or nullptr.
const command* command_named(std::string_view name);

/// The flags of a verb, the settings among them. Their text lives as long as the program.
std::vector<option> flags_of(const command& of);

/// Its own alone, with those that give one of its words.
std::vector<option> own_flags_of(const command& of);

/// Those of settings alone, in the order of the table of settings, behind --config.
std::vector<option> setting_flags();

/// What `tenure --help` says at its top.
inline constexpr std::string_view program_summary =
    "Runs a workload active/standby: at most one at a time, stopped before its lease ends";

}  // namespace tenure::cli
