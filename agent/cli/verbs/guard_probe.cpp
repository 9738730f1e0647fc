#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "base/boot_time.hpp"
#include "base/error_text.hpp"
#include "cli/command_check.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "guard/file_reader.hpp"
#include "guard/log_writer.hpp"
#include "process/child_list.hpp"
#include "process/proc_text.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::cli {
namespace {

/// The first process of the main container.
constexpr pid_t guard_pid = 1;
/// Processes of the guard's own.
constexpr std::array<std::string_view, 2> helpers{guard::log_writer::process_name,
                                                  guard::side_reader::process_name};

bool is_guard(pid_t pid) {
  struct stat its{};
  struct stat ours{};
  return ::stat(("/proc/" + std::to_string(pid) + "/exe").c_str(), &its) == 0 &&
         ::stat("/proc/self/exe", &ours) == 0 && its.st_dev == ours.st_dev &&
         its.st_ino == ours.st_ino;
}

bool is_helper(pid_t pid) {
  std::array<char, 64> room{};
  const auto line = process::read_proc(pid, "comm", room);
  return line && std::ranges::find(helpers, line->substr(0, line->find('\n'))) != helpers.end();
}

/// How long the workload has run; nothing if none runs. The error says why this is not known.
std::expected<std::optional<core::duration>, std::string> age_of_workload() {
  process::process_scan processes;
  process::child_list children;
  if (!is_guard(guard_pid) || !processes.open() || !children.open(guard_pid)) {
    return std::unexpected(
        "process 1 is not the guard; run the probe in the container of `tenure guard`, and share "
        "no processes with other containers");
  }
  std::optional<std::uint64_t> first;
  while (const auto child = children.next()) {
    const auto stat = processes.look_up(*child);
    if (!stat || stat->dead() || is_helper(*child)) continue;
    first = std::min(first.value_or(stat->start), stat->start);
  }
  if (!first) return std::nullopt;
  const auto ticks_a_second = static_cast<std::uint64_t>(std::max(1L, ::sysconf(_SC_CLK_TCK)));
  const auto started =
      std::chrono::milliseconds(static_cast<std::int64_t>(*first * 1000 / ticks_a_second));
  return base::boot_now().time_since_epoch() - started;
}

}  // namespace

int probe_workload(const invocation& what, const char* const* command) {
  const auto delay = config::parse_duration(what.value("--delay").value_or("0s"));
  if (!delay) {
    print_failure(what.verb, wrong_value("--delay", delay.error()));
    return runtime::exit_bad_settings;
  }
  const auto age = age_of_workload();
  if (!age) {
    print_failure(what.verb, age.error());
    return runtime::exit_failed;
  }
  // A standby is well, and so is what has not had its time to begin.
  if (!*age || **age < *delay) return runtime::exit_ok;
  if (const auto status = refuse_command(what.verb, *command)) return *status;
  ::execvp(*command, const_cast<char* const*>(command));
  print_failure(what.verb,
                "cannot execute " + std::string(*command) + ": " + base::error_text(errno));
  return runtime::exit_failed;
}

}  // namespace tenure::cli
