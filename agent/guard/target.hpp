#pragma once

#include <sys/types.h>

#include <cstdint>
#include <expected>
#include <string_view>

#include "settings/target.hpp"

/// How a workload that somebody else starts is recognized. No I/O, no allocation.
namespace tenure::guard {

/// "executable", "command line", "pid file".
[[nodiscard]] std::string_view noun(settings::target::kind by);

/// True if `wanted` names the program that /proc/PID/exe says is `link`. A program that was
/// replaced while it runs is still the one.
[[nodiscard]] bool executable_matches(std::string_view link, std::string_view wanted);

/// True if the arguments in /proc/PID/cmdline, joined by blanks, are `wanted` or begin with it.
/// Whole arguments only: "sleep 10" does not match "sleep 100". Programs that write a title into
/// their arguments are matched by the title.
[[nodiscard]] bool command_line_matches(std::string_view arguments, std::string_view wanted);

/// Why a pid file names nobody.
enum class pid_file_fault : std::uint8_t {
  empty,      ///< as a program leaves it for a moment while it starts
  no_number,  ///< its first line is not a process id
};

/// The process id in the first line of a pid file; what follows, as in PostgreSQL's, is not ours.
[[nodiscard]] std::expected<pid_t, pid_file_fault> read_pid_file(std::string_view text);

}  // namespace tenure::guard
