#include <utility>

#include "os/boot_time.hpp"
#include "runtime/agent_loop.hpp"
#include "runtime/exit_status.hpp"
#include "runtime/hooked_workload.hpp"
#include "runtime/lines.hpp"
#include "runtime/told_workload.hpp"

/// The part of the agent that has to do with a workload that is told by hooks.
namespace tenure::runtime {
namespace {

/// The election that the workload belongs to; there is no other.
constexpr core::election_index hooked{0};

}  // namespace

void agent_loop::open_hooks() {
  guard_ = std::make_unique<hooked_workload>(
      loop_, options_.settings.hooks, options_.settings.timing, names_for_workload(),
      hooked_workload::ended_by::its_word, [this](const hook_event& what) { from_hooks(what); });
}

/// What the kubelet starts is found and killed by the guard, and told by hooks that it is active.
void agent_loop::open_told_workload() {
  guard_ = std::make_unique<told_workload>(
      loop_, std::move(guard_), options_.settings.hooks, options_.settings.timing,
      names_for_workload(),
      told_workload::listener{
          .environment = [this] { return workload_environment(hooked); },
          .on_guard = [this](const workload::guard_event& what) { from_guard(what); },
          .on_hook = [this](const hook_event& what) { from_hooks(what); }});
}

void agent_loop::from_hooks(const hook_event& what) {
  if (ended_) return;
  std::visit([this](const auto& one) { on(one); }, what);
}

/// Nobody knows what an agent that was killed has told the workload.
void agent_loop::on(const hooks_ready& what) {
  if (what.stopped) say_hooks_cleared(log_, speaker_of(hooked), *what.stopped);
  if (!store_) open_store();
}

void agent_loop::on(const workload_told& what) {
  say_hook_gained(log_, speaker_of(hooked));
  workload_runs(what.term);
}

/// Others go first: what has refused us may take it from them.
void agent_loop::on(const workload_not_told& what) {
  say_hook_not_gained(log_, speaker_of(hooked), what.why);
  feed(hooked, core::event::resign{options_.settings.timing.ttl});
}

void agent_loop::on(const stop_way_failed& what) {
  say_hook_failed(log_, speaker_of(hooked), what.why);
}

void agent_loop::on(const workload_obeyed&) {
  say_hook_stopped(log_, speaker_of(hooked));
  feed(hooked, core::event::workload_exited{});
}

/// Never release what may still run: the lease keeps others away until it runs out by itself.
void agent_loop::on(const workload_defied& what) {
  lapsing_ = true;
  say_hook_defied(log_, speaker_of(hooked));
  if (shutting_down_) return end(exit_ok);
  feed(hooked, core::event::lost{.term = what.term, .why = core::loss_reason::guard_gone});
}

void agent_loop::on(const workload_lapsed&) {
  lapsing_ = false;
  feed(hooked, core::event::workload_exited{});
}

void agent_loop::on(const agent_must_end& what) {
  say_hook_ends_agent(log_, speaker_of(hooked));
  end(what.status);
}

}  // namespace tenure::runtime
