#pragma once

#include <expected>
#include <string>

#include "base/unique_fd.hpp"

namespace tenure::guard {

/// The descriptors that a guard passes to an agent.
struct guard_fds {
  base::unique_fd socket;
  base::unique_fd page;
  base::unique_fd worker_page;  ///< none: the guard is of an earlier release
  /// A pidfd of the first process of the guard's PID namespace; none: of an earlier release, or
  /// the guard has started this agent.
  base::unique_fd first_process{};
};

/// True if this process was started by a guard.
[[nodiscard]] bool fds_in_environment();

/// Takes over the descriptors that TENURE_GUARD_FDS names, and removes that variable, so that no
/// child of ours uses them. Fails with the reason if it does not name them.
[[nodiscard]] std::expected<guard_fds, std::string> take_guard_fds();

}  // namespace tenure::guard
