#include "workload/guarded_hook_workload.hpp"

#include <chrono>
#include <utility>
#include <variant>

namespace tenure::workload {
namespace {

using namespace workload;

/// The time to remove the file after the workload has ended by itself.
constexpr core::duration file_time = std::chrono::seconds(1);

}  // namespace

guarded_hook_workload::guarded_hook_workload(base::event_loop& on,
                                             std::unique_ptr<workload_owner> guard, hooks ways,
                                             const settings::hooks& with, const core::timing& when,
                                             std::vector<std::string> names, listener to)
    : loop_(on),
      to_(std::move(to)),
      guard_(std::move(guard)),
      hooks_(on, std::move(ways), with, when, std::move(names), hook_workload::ended_by::guard,
             [this](const hook_event& what) { from_hooks(what); }) {}

// --- what the guard says ---------------------------------------------------------------------

void guarded_hook_workload::from_guard(const guard_event& what) {
  if (const auto* ready = std::get_if<guard_ready>(&what)) return on(*ready);
  if (const auto* started = std::get_if<workload_started>(&what)) return on(*started);
  if (const auto* exited = std::get_if<workload_exited>(&what)) return on(*exited);
  to_.on_guard(what);
}

void guarded_hook_workload::on(const guard_ready& what) {
  // The previous agent may have died before all hooks were done; calling them twice is harmless.
  if (what.found && !what.found->stopping) found_ = what.found->version;
  if (hooks_ready_) return to_.on_guard(what);
  ready_ = what;
}

/// Only passed on for a workload without a lease, or one first seen long after it was told.
void guarded_hook_workload::on(const workload_started& what) {
  if (what.version != to_start_) return to_.on_guard(what);
  started_ = what;
  tell(what.version);
}

void guarded_hook_workload::on(const workload_exited& what) {
  forget();
  if (!hooks_.may_run()) return to_.on_guard(what);
  exited_ = what;
  hooks_.stop(loop_.now() + file_time, 0);
}

void guarded_hook_workload::tell(core::version version) {
  to_start_ = found_ = core::no_version;
  hooks_.start(version, to_.environment());
}

/// Cancels the hooks that are still to be called.
void guarded_hook_workload::forget() {
  to_start_ = found_ = core::no_version;
  started_.reset();
}

// --- what the hooks say ----------------------------------------------------------------------

void guarded_hook_workload::from_hooks(const hook_event& what) {
  if (std::holds_alternative<hooks_ready>(what)) {
    hooks_ready_ = true;
    if (const auto ready = std::exchange(ready_, std::nullopt)) to_.on_guard(*ready);
  } else if (std::holds_alternative<workload_obeyed>(what)) {
    if (const auto exited = std::exchange(exited_, std::nullopt)) to_.on_guard(*exited);
  } else {
    const auto started = std::exchange(started_, std::nullopt);
    if (started && std::holds_alternative<workload_told>(what)) to_.on_guard(*started);
    to_.on_hook(what);
  }
}

// --- what it is told -------------------------------------------------------------------------

void guarded_hook_workload::arm(core::version version, core::time_point stop_at,
                                core::time_point kill_at) {
  guard_->arm(version, stop_at, kill_at);
  hooks_.arm(version, stop_at, kill_at);
  // The found workload belongs to this term: the store has confirmed it.
  if (version == found_) tell(version);
}

void guarded_hook_workload::start(core::version version,
                                  const std::vector<std::string>& environment) {
  to_start_ = version;
  guard_->start(version, environment);
}

/// Sends the signal without waiting for the file.
void guarded_hook_workload::stop(core::time_point kill_by, int signal) {
  forget();
  guard_->stop(kill_by, signal);
  hooks_.stop(kill_by, signal);
}

}  // namespace tenure::workload
