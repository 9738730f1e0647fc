#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "guard/guard_page.hpp"
#include "guard/tenure_page.h"
#include "process/survivors.hpp"

/// What an agent has of its guard: a connection, two pages, and the workload as it can be seen from
/// the agent. `guard_endpoint` has them from the kernel, the simulator (tests/shell) from a world
/// in virtual time.
namespace tenure::guard {

/// The agent's end of the connection to its guard, which keeps packets whole and in their order.
/// Used on the agent's loop only, where its handlers are called.
class guard_connection {
 public:
  struct handlers {
    std::function<void(std::span<const std::byte>)> packet;
    std::function<void()> writable;  ///< once after each `send` that has found no room
    std::function<void()> hung_up;   ///< once, after the last packet
  };

  /// Closes it.
  virtual ~guard_connection() = default;

  /// Handlers are called from now on, never from within a call. They may close the
  /// connection.
  virtual void open(handlers on) = 0;

  /// Hangs up. No handler is called from now on.
  virtual void close() = 0;

  /// False if there is no room now. A packet to which nobody listens any more counts as sent.
  [[nodiscard]] virtual bool send(std::span<const std::byte> packet) = 0;
};

/// What is left of a workload, as far as can be seen.
enum class remains : std::uint8_t {
  nothing,
  something,  ///< it was killed just now; look again
  doubtful,   ///< only what may be of it, or a stranger's: see `visible_workload::doubtful`
};

/// The workload as the agent can reach it without the guard's help. `orphans` is the real one.
class visible_workload {
 public:
  virtual ~visible_workload() = default;

  /// False in another container: nothing can be found there, and nobody's death be seen.
  [[nodiscard]] virtual bool in_sight() const = 0;

  /// The workload's first process, as the guard has just reported it. Ignored unless it can be seen
  /// to be a child of the guard: a message is not enough to kill a process.
  virtual void follow(pid_t leader) = 0;
  /// "NAME=VALUE", which the workload was started with.
  virtual void expect_mark(std::string mark) = 0;
  virtual void forget() = 0;

  /// Kills what is certainly of it; call it until that is gone. Precondition: in sight.
  [[nodiscard]] virtual remains kill_all() = 0;

  /// What has been doubtful in each look since all else was gone.
  [[nodiscard]] virtual process::survivors doubtful() const = 0;
};

/// All of it.
class guard_access {
 public:
  virtual ~guard_access() = default;
  [[nodiscard]] virtual guard_connection& connection() = 0;
  [[nodiscard]] virtual guard_page& page() = 0;
  /// Null: the guard is of an earlier release.
  [[nodiscard]] virtual tenure_page* worker_page() = 0;
  [[nodiscard]] virtual visible_workload& workload() = 0;
};

}  // namespace tenure::guard
