#include "guard/recognizer.hpp"

#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <utility>

#include "base/boot_time.hpp"
#include "base/wall_time.hpp"
#include "core/check.hpp"
#include "process/proc_text.hpp"

namespace tenure::guard {
namespace {

/// A process that is gone does not match, nor does one without a program (a kernel thread).
recognition unless_gone(int error) {
  const bool gone = error == ENOENT || error == ESRCH;
  return gone ? recognition::no : recognition::unreadable;
}

/// When a process began, in milliseconds since 1970, if the clock was not set since.
std::int64_t began_ms(std::uint64_t start_ticks) {
  static const long ticks_a_second = ::sysconf(_SC_CLK_TCK);
  const auto since_boot =
      std::chrono::floor<std::chrono::milliseconds>(base::boot_now().time_since_epoch());
  const std::int64_t boot_ms = base::wall_now_ms() - since_boot.count();
  return boot_ms + static_cast<std::int64_t>(start_ticks) * 1000 / ticks_a_second;
}

}  // namespace

void recognizer::prepare(settings::target what) {
  TENURE_CHECK(!what.value.empty() && what.value.size() <= most_target_bytes);
  what_ = std::move(what);
  refresh();
}

void recognizer::refresh() {
  if (what_.by != settings::target::kind::pid_file) return;
  pid_ = 0;
  const file_reader::answer got = reader_.read(what_.value.c_str(), O_NOFOLLOW, room_);
  // A user who can write to it chooses the process that is killed.
  const base::demands asked{
      .not_for = S_IWOTH, .owner = what_.uid, .one_name = true, .named = true};
  if (const auto wrong = base::flaw_of(got.error, got.about, asked)) {
    flaw_ = *wrong;
    file_ = flaw_.missing() ? pid_file_state::missing : pid_file_state::unreadable;
    return;
  }
  const auto pid = read_pid_file(got.text);
  if (!pid) {
    const bool empty = pid.error() == pid_file_fault::empty;
    file_ = empty ? pid_file_state::missing : pid_file_state::malformed;
    return;
  }
  file_ = pid_file_state::good;
  pid_ = *pid;
  const timespec& written = got.about.st_mtim;
  written_ms_ = std::int64_t{written.tv_sec} * 1000 + written.tv_nsec / 1'000'000;
}

recognition recognizer::of(const process::process_stat& one) {
  // A host shows its kernel's threads, of which one or the other is always in state D.
  if (one.of_the_kernel) return recognition::no;
  // Checked first: a process that keeps forking and exiting is gone by the time it has matched, and
  // its children are found through it.
  const bool ours = may_be_meant(one);
  if (what_.uid && !ours) return recognition::no;
  const recognition found = named(one);
  return found == recognition::yes && !ours ? recognition::unreadable : found;
}

bool recognizer::may_be_meant(const process::process_stat& one) const {
  const auto users = process::users_of(one.pid);
  return users && base::is_trusted_user(users->real, what_.uid);
}

recognition recognizer::named(const process::process_stat& one) {
  switch (what_.by) {
    case settings::target::kind::executable:
      return by_executable(process::living_thread(one));
    case settings::target::kind::command_line:
      return by_command_line(one);
    case settings::target::kind::pid_file:
      return by_pid_file(one);
  }
  return recognition::unreadable;
}

recognition recognizer::by_executable(pid_t pid) {
  const auto link = process::read_executable(pid, room_);
  if (!link) return unless_gone(link.error());
  return executable_matches(*link, what_.value) ? recognition::yes : recognition::no;
}

recognition recognizer::by_command_line(const process::process_stat& one) {
  // It may hang with its memory locked, and then a reader of its command line hangs, too.
  if (one.state == 'D') return recognition::unreadable;
  std::array<char, 32> path{};
  std::snprintf(path.data(), path.size(), "/proc/%d/cmdline", process::living_thread(one));
  const file_reader::answer got = reader_.read(path.data(), 0, room_);
  if (got.error != 0) return unless_gone(got.error);
  return command_line_matches(got.text, what_.value) ? recognition::yes : recognition::no;
}

recognition recognizer::by_pid_file(const process::process_stat& one) const {
  if (file_ != pid_file_state::good || one.pid != pid_) return recognition::no;
  const bool began_later = began_ms(one.start) > written_ms_ + pid_file_slack_ms;
  return began_later ? recognition::unreadable : recognition::yes;
}

}  // namespace tenure::guard
