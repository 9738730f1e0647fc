#include "guard/worker_page.hpp"

#include <cstdint>
#include <cstdio>
#include <new>
#include <utility>

#include "guard/guard_protocol.hpp"
#include "process/environment.hpp"

namespace tenure::guard {

bool worker_page::make() {
  if (!memory_.make("tenure-page", sizeof(tenure_page))) return false;
  new (memory_.data()) tenure_page{.magic = TENURE_PAGE_MAGIC,
                                   .layout = TENURE_PAGE_LAYOUT,
                                   .state = TENURE_NONE,
                                   .sequence = 0,
                                   .version = 0,
                                   .stop_at = 0};
  read_only_ = memory_.open_read_only();
  std::snprintf(variable_.data(), variable_.size(), "%s=/proc/self/fd/%d", process::page_variable,
                read_only_.get());
  return read_only_.get() >= 0;
}

bool worker_page::map(base::unique_fd fd) {
  return memory_.map(std::move(fd), sizeof(tenure_page)) && tenure_page_known(&**this) != 0;
}

/// Boehm, "Can seqlocks get along with programming language memory models?", MSPC 2012: the fence
/// keeps the fields after the odd number, the release store keeps the even number after the fields.
void show(tenure_page& to, const worker_term& what) {
  // It is already odd if an agent died while writing.
  const std::uint64_t odd = __atomic_load_n(&to.sequence, __ATOMIC_RELAXED) | 1;
  __atomic_store_n(&to.sequence, odd, __ATOMIC_RELAXED);
  __atomic_thread_fence(__ATOMIC_RELEASE);
  __atomic_store_n(&to.state, static_cast<std::uint32_t>(what.state), __ATOMIC_RELAXED);
  __atomic_store_n(&to.version, core::number(what.version), __ATOMIC_RELAXED);
  __atomic_store_n(&to.stop_at, std::int64_t{what.stop_at.time_since_epoch().count()},
                   __ATOMIC_RELAXED);
  __atomic_store_n(&to.sequence, odd + 1, __ATOMIC_RELEASE);
}

void drain(tenure_page& of) {
  tenure_term term{};
  if (tenure_read(&of, &term) == 0) return show(of, {});
  if (term.state != TENURE_ACTIVE) return;
  show(of, {.state = TENURE_DRAINING,
            .version = core::version{term.version},
            .stop_at = core::time_point(core::duration(term.stop_at))});
}

}  // namespace tenure::guard
