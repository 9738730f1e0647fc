#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "core/clock.hpp"
#include "guard/guard_page.hpp"
#include "guard/tenure_page.h"
#include "process/survivors.hpp"

/// What an agent needs from its guard: a connection, two pages, the workload as the agent sees it,
/// and the end of its container. `guard_endpoint` implements it on the kernel, the simulator
/// (tests/shell) in virtual time.
namespace tenure::guard {

/// The agent's end of the connection to its guard: whole packets, in order. Use it on the agent's
/// loop only, where its handlers are called.
class guard_connection {
 public:
  struct handlers {
    std::function<void(std::span<const std::byte>)> packet;
    std::function<void()> writable;  ///< once after each `send` that found no room
    std::function<void()> hung_up;   ///< once, after the last packet that the guard has sent
  };

  /// Closes it.
  virtual ~guard_connection() = default;

  /// Handlers are called from now on, never from inside a call. They may close the connection.
  virtual void open(handlers on) = 0;

  /// Hangs up. No handler is called from now on.
  virtual void close() = 0;

  /// False if it was not sent, and never will be: there is no room now, or the guard takes nothing
  /// any more. The one is followed by `writable`, the other by `hung_up`.
  [[nodiscard]] virtual bool send(std::span<const std::byte> packet) = 0;
};

/// What is left of a workload, as far as it is visible.
enum class remains : std::uint8_t {
  nothing,
  something,  ///< processes were left and have just been killed; look again
  doubtful,   ///< only processes that may or may not belong: see `visible_workload::doubtful`
};

/// Pause between two looks at what is left.
inline constexpr core::duration kill_again_after = std::chrono::milliseconds(10);
/// An unrelated process that was started just now does not count as a doubtful one if it ends
/// within this time.
inline constexpr core::duration strangers_end_within = std::chrono::seconds(1);

/// The workload as the agent can reach it without the guard's help. `orphans` is the real
/// implementation.
class visible_workload {
 public:
  virtual ~visible_workload() = default;

  /// False for a workload in another container: its processes and their deaths are invisible.
  [[nodiscard]] virtual bool in_sight() const = 0;

  /// True in signal mode: the guard does not start it, and it may be there again at any time.
  [[nodiscard]] virtual bool comes_by_itself() const = 0;

  /// The guard has reported the workload's first process. A process that is not visibly a child of
  /// the guard is ignored, as a message is not enough to kill a process; but a guard that has
  /// started us may name one that others started.
  virtual void follow(pid_t leader) = 0;
  /// "NAME=VALUE", which the workload's environment contains.
  virtual void expect_mark(std::string mark) = 0;
  virtual void forget() = 0;

  /// Kills the processes that certainly belong; call it until they are gone. Precondition: in
  /// sight.
  [[nodiscard]] virtual remains kill_all() = 0;

  /// The processes that were doubtful in every look since all certain ones were gone.
  [[nodiscard]] virtual process::survivors doubtful() const = 0;
};

/// The PID namespace of a guard in another container.
class guard_container {
 public:
  virtual ~guard_container() = default;

  /// Calls `ended`, at most once and never from inside the call, when all processes of the
  /// namespace are dead: the guard, its workload and what others have executed there. False if
  /// nobody tells that here.
  [[nodiscard]] virtual bool await_end(std::function<void()> ended) = 0;
};

/// Everything above.
class guard_access {
 public:
  virtual ~guard_access() = default;
  [[nodiscard]] virtual guard_connection& connection() = 0;
  [[nodiscard]] virtual guard_page& page() = 0;
  /// Null if the guard is of an earlier release.
  [[nodiscard]] virtual tenure_page* worker_page() = 0;
  [[nodiscard]] virtual visible_workload& workload() = 0;
  [[nodiscard]] virtual guard_container& container() = 0;
};

}  // namespace tenure::guard
