#include "sqlite/host_faults.hpp"

#include <cerrno>

#include "sqlite/sqlite_host.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

std::string strike(stage& s, const swarm& kinds, core::duration lasts, bool may_replace) {
  sqlite_host& host = *s.host;
  rng& dice = s.in.dice;
  const std::string& which = s.elections[dice.below(s.elections.size())];
  const auto slows = [&](core::duration sqlite_host::* what, const char* name) {
    host.*what = dice.spread(5ms, s.when.ttl);
    s.in.after(lasts, [&host, what] { host.*what = {}; });
    return std::string("slow: ") + name;
  };
  constexpr std::uint64_t first_replacement = 12;
  const std::uint64_t what = kinds.draw(dice);
  if (what >= first_replacement && !may_replace) return "nothing: no member knows the file";
  switch (what) {
    case 0:
    case 1:
      host.take_lock();
      s.in.after(lasts, [&host] { host.release_lock(); });
      return "another program holds the lock";
    case 2:
      return slows(&sqlite_host::longest_start, "jobs begin late");
    case 3:
      return slows(&sqlite_host::longest_write, "writes");
    case 4:
      return slows(&sqlite_host::longest_reply, "answers of the worker");
    case 5:
      return slows(&sqlite_host::longest_event, "events of inotify");
    case 6:
    case 7:
      host.disk_error = dice.chance(500'000) ? ENOSPC : EIO;
      s.in.after(lasts, [&host] { host.disk_error = 0; });
      return host.disk_error == ENOSPC ? "the disk is full" : "writes fail";
    case 8:
    case 9:
      host.delete_row(which);
      return "an operator deletes a row of " + which;
    case 10:
    case 11:
      host.keep_copy();
      return "a copy is kept";
    case 12:
      host.remove_file(dice.chance(500'000) ? sqlite_host::others_too::yes
                                            : sqlite_host::others_too::no);
      return "the file is removed";
    case 13:
      host.replace_by_empty();
      return "an empty file takes its place";
    case 14:
      host.replace_by_copy();
      return "an older copy takes its place";
    default:
      host.restore_over();
      return "an older copy is written over it";
  }
}

}  // namespace tenure::shell
