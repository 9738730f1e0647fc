#include "sqlite/host_faults.hpp"

#include <cerrno>
#include <utility>

#include "sqlite/sqlite_host.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

std::string strike(stage& s, const swarm<file_fault>& kinds, core::duration lasts,
                   bool may_replace) {
  sqlite_host& host = *s.host;
  rng& dice = s.in.dice;
  const std::string& which = s.elections[dice.below(s.elections.size())];
  const auto slows = [&](core::duration sqlite_host::* what, const char* name) {
    host.*what = dice.spread(5ms, s.when.ttl);
    s.in.after(lasts, [&host, what] { host.*what = {}; });
    return std::string("slow: ") + name;
  };
  const file_fault what = kinds.draw(dice);
  if (what >= file_fault::removed && !may_replace) return "nothing: no member knows the file";
  switch (what) {
    case file_fault::locked:
      host.take_lock();
      s.in.after(lasts, [&host] { host.release_lock(); });
      return "another program holds the lock";
    case file_fault::jobs_late:
      return slows(&sqlite_host::longest_start, "jobs begin late");
    case file_fault::writes_slow:
      return slows(&sqlite_host::longest_write, "writes");
    case file_fault::answers_slow:
      return slows(&sqlite_host::longest_reply, "answers of the worker");
    case file_fault::events_slow:
      return slows(&sqlite_host::longest_event, "events of inotify");
    case file_fault::disk_fails:
      host.disk_error = dice.chance(500'000) ? ENOSPC : EIO;
      s.in.after(lasts, [&host] { host.disk_error = 0; });
      return host.disk_error == ENOSPC ? "the disk is full" : "writes fail";
    case file_fault::row_deleted:
      host.delete_row(which);
      return "an operator deletes a row of " + which;
    case file_fault::copy_kept:
      host.keep_copy();
      return "a copy is kept";
    case file_fault::removed:
      host.remove_file(dice.chance(500'000) ? sqlite_host::others_too::yes
                                            : sqlite_host::others_too::no);
      return "the file is removed";
    case file_fault::emptied:
      host.replace_by_empty();
      return "an empty file takes its place";
    case file_fault::older_copy:
      host.replace_by_copy();
      return "an older copy takes its place";
    case file_fault::restored_over:
      host.restore_over();
      return "an older copy is written over it";
  }
  std::unreachable();
}

}  // namespace tenure::shell
