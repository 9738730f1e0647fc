#pragma once

#include <array>

#include "base/unique_fd.hpp"
#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "guard/tenure_page.h"
#include "process/shared_memory.hpp"

namespace tenure::guard {

/// What the workload can read about its lease without a request.
struct worker_term {
  tenure_state state = TENURE_NONE;
  core::version version = core::no_version;
  core::time_point stop_at{};
};

/// Writes what the workload reads with `tenure_read`. At most one process writes at a time.
void show(tenure_page& to, const worker_term& what);

/// Marks the lease as draining: the agent is gone, and nobody renews it any more.
void drain(tenure_page& of);

/// The page that a workload reads with `tenure_page.h`.
///
/// The guard creates it, so that it outlives the agent. The agent writes it; while there is no
/// agent, the guard does. At most one of them writes at a time.
class worker_page {
 public:
  /// The guard's side. False if the kernel refuses.
  [[nodiscard]] bool make();

  /// The agent's side. False if `fd` is not such a page or has another layout.
  [[nodiscard]] bool map(base::unique_fd fd);

  void show(const worker_term& what) { guard::show(**this, what); }
  void drain() { guard::drain(**this); }

  /// Precondition: made or mapped.
  [[nodiscard]] tenure_page& operator*() { return *static_cast<tenure_page*>(memory_.data()); }

  /// For the agent, writable.
  [[nodiscard]] const base::unique_fd& fd() const { return memory_.fd(); }

  /// For the workload to inherit, read-only; -1 on the agent's side.
  [[nodiscard]] int workload_fd() const { return read_only_.get(); }

  /// "TENURE_PAGE=/proc/self/fd/N" for a workload that inherits `workload_fd`.
  [[nodiscard]] char* variable() { return variable_.data(); }

 private:
  process::shared_memory memory_;
  base::unique_fd read_only_;
  std::array<char, 48> variable_{};
};

}  // namespace tenure::guard
