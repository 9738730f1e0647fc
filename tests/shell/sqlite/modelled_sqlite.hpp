#pragma once

#include <functional>
#include <memory>

#include "process.hpp"
#include "stores/sqlite/surroundings.hpp"

namespace tenure::shell {

class sqlite_host;

/// What SIGKILL leaves undone, for one agent.
struct agent_fate {
  bool killed = false;
};

/// An agent that waits for inotify.
class modelled_readiness final : public stores::sqlite::readiness {
 public:
  modelled_readiness(world& in, sqlite_host& on, const std::shared_ptr<process>& loop,
                     int descriptor, std::function<void()> then);
  ~modelled_readiness() override;

  void wait() override;

  /// True until it is to be woken.
  [[nodiscard]] bool waits() const { return waits_; }
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Precondition: it waits.
  void wake_in(core::duration wait);

 private:
  world& world_;
  sqlite_host& host_;
  std::weak_ptr<process> loop_;
  int descriptor_;
  std::function<void()> then_;
  bool waits_ = false;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

/// From now on every write of SQLite's in this process takes the time, and fails as, the machine of
/// the agent that writes has it. Others are not concerned. Thread-safe.
void model_writes();

/// What the store of one agent gets from the machine that all share.
std::unique_ptr<stores::sqlite::surroundings> make_modelled_sqlite(
    world& in, sqlite_host& on, std::shared_ptr<process> loop,
    std::shared_ptr<const agent_fate> fate);

}  // namespace tenure::shell
