#include "runtime/hook_mode.hpp"

#include <variant>

#include "runtime/exit_status.hpp"

namespace tenure::runtime {

bool hook_mode::open() {
  owner_ = std::make_unique<workload::hook_workload>(
      with_.machine.loop(), with_.machine.make_hooks(with_.settings.hooks), with_.settings.hooks,
      with_.settings.timing, names(), workload::hook_workload::ended_by::its_word,
      [this](const workload::hook_event& what) { from_hooks(what); });
  return true;
}

void hook_mode::from_hooks(const workload::hook_event& what) {
  if (!with_.host.has_ended()) std::visit([this](const auto& one) { on(one); }, what);
}

/// It is unknown what a killed agent has told the workload.
void hook_mode::on(const workload::hooks_ready& what) {
  if (what.stopped) say_hooks_cleared(with_.to, who(), *what.stopped);
  with_.host.open_store({});
}

void hook_mode::on(const workload::workload_told& what) {
  say_hook_gained(with_.to, who());
  runs(what.version);
}

void hook_mode::on(const workload::workload_not_told& what) {
  not_told(what.why);
}

void hook_mode::on(const workload::stop_way_failed& what) {
  say_hook_failed(with_.to, who(), what.why);
}

void hook_mode::on(const workload::workload_obeyed&) {
  say_hook_stopped(with_.to, who());
  feed(core::event::workload_exited{});
}

/// The lease of a workload that may still run is not released: it must run out by itself.
void hook_mode::on(const workload::workload_defied&) {
  lapsing_ = true;
  say_hook_defied(with_.to, who());
  if (with_.host.is_shutting_down()) return with_.host.end(exit_ok);
  feed(core::event::workload_unseen{});
}

void hook_mode::on(const workload::workload_lapsed&) {
  lapsing_ = false;
  feed(core::event::workload_exited{});
}

void hook_mode::on(const workload::agent_must_end& what) {
  say_hook_ends_agent(with_.to, who());
  with_.host.end(what.status);
}

}  // namespace tenure::runtime
