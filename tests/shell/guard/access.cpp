#include "shell/guard/access.hpp"

#include <csignal>
#include <utility>
#include <vector>

namespace tenure::shell {

using guard::remains;

modelled_access::modelled_access(guard_machine& on, std::shared_ptr<guard_memory> memory,
                                 std::shared_ptr<modelled_line> line,
                                 const std::shared_ptr<process>& loop, pid_t guard, pid_t self)
    : on_(on),
      memory_(std::move(memory)),
      connection_(std::move(line), loop),
      loop_(loop),
      guard_(guard),
      self_(self) {}

bool modelled_access::guard_exists() const {
  const modelled_process* const one = on_.processes.find(guard_);
  return one != nullptr && one->alive();
}

void modelled_access::follow(pid_t leader) {
  forget();
  const modelled_process* const one = on_.processes.find(leader);
  if (one != nullptr && one->parent == guard_ && guard_exists()) leader_ = leader;
}

bool modelled_access::await_end(std::function<void()> ended) {
  modelled_container& in = memory_->container;
  if (!on_.accepts_agents || !in.is_watchable) return false;
  const auto tell = [to = loop_, told = std::move(ended)] {
    if (const auto loop = to.lock()) loop->post(told);
  };
  if (in.is_over) {
    tell();
  } else {
    in.ended.emplace_back(tell);
  }
  return true;
}

/// In the order of `orphans::kill_all`.
remains modelled_access::kill_all() {
  std::vector<pid_t> certain;
  bool is_doubtful = false;
  if (on_.found) {
    for (const auto& [pid, one] : on_.processes.all()) {
      if (one.alive() && one.foreign) certain.push_back(pid);
    }
  } else if (guard_exists()) {
    for (const modelled_process* const one : on_.processes.descendants_of(guard_, self_)) {
      if (one->alive()) certain.push_back(one->pid);
    }
  } else {
    for (const auto& [pid, one] : on_.processes.all()) {
      if (!one.alive() || one.of_agent || one.version == 0) continue;
      const bool in_group = leader_ != 0 && one.group == leader_;
      if (in_group || (!one.mark.empty() && one.mark == mark_)) {
        certain.push_back(pid);
      } else if (one.hidden()) {
        is_doubtful = true;
      }
    }
  }
  for (const pid_t pid : certain) {
    const std::uint64_t version = on_.processes.find(pid)->version;
    if (version != 0) on_.referee.told_to_end(version, SIGKILL, "the agent");
    on_.processes.signal(pid, SIGKILL);
  }
  if (!certain.empty()) return remains::something;
  return is_doubtful ? remains::doubtful : remains::nothing;
}

tenure::process::survivors modelled_access::doubtful() const {
  tenure::process::survivors out;
  for (const auto& [pid, one] : on_.processes.all()) {
    if (one.alive() && one.hidden()) ++out.left;
  }
  return out;
}

}  // namespace tenure::shell
