#include "runtime/guard_mode.hpp"

#include <utility>
#include <variant>

#include "base/error_text.hpp"
#include "runtime/exit_status.hpp"

namespace tenure::runtime {

void guard_mode::from_guard(const workload::guard_event& what) {
  if (!with_.host.has_ended()) std::visit([this](const auto& one) { on(one); }, what);
}

/// The guard writes its lines to our log.
guard_wish guard_mode::wish() const {
  const log::speaker us = who();
  const log::log_form form = with_.to.form();
  return {.session = with_.session,
          .form = form,
          .fields = log::fields_text(form, {{"election", us.election},
                                            {"identity", us.identity},
                                            log::coded("process", "guard")})};
}

/// Only now is the session known.
void guard_mode::on(const workload::guard_ready& what) {
  with_.instruments.guard_found();
  if (what.found) {
    ran_ = true;
    if (what.found->ended) {
      say_exit(*what.found->ended);
    } else {
      say_workload_found(with_.to, who(), *what.found);
    }
  }
  with_.host.open_store(what);
}

void guard_mode::on(const workload::workload_started& what) {
  say_workload_started(with_.to, who(), what.version, static_cast<std::uint64_t>(what.pid));
  runs(what.version);
}

void guard_mode::on(const workload::start_refused&) {
  say_start_refused(with_.to, who());
  feed(core::event::workload_exited{});
}

void guard_mode::on(const workload::start_failed& what) {
  start_failed_ = true;
  say_start_failed(with_.to, who(), true, base::error_text(what.error));
  feed(core::event::workload_exited{});
}

/// A process stuck in the kernel executes nothing of its own any more: others need not wait for it.
void guard_mode::on(const workload::workload_survives& what) {
  say_survivors(with_.to, who(), what.what);
  if (what.what.all_stuck()) feed(core::event::workload_stuck{});
}

/// A member whose health is not known any more must hear of that before it may campaign, and
/// otherwise afterwards: the term ends because of the exit.
void guard_mode::on(const workload::workload_exited& what) {
  say_exit(what);
  const bool may_campaign_next = driver().begun() && phase() == core::phase::draining;
  if (may_campaign_next) with_.host.workload_ended();
  feed(core::event::workload_exited{.with_container = what.with_container});
  if (!may_campaign_next) with_.host.workload_ended();
}

/// The release of a lease that was found and is not ours yet can only be prevented by ending here.
void guard_mode::on(const workload::workload_doubtful& what) {
  say_doubtful(with_.to, who(), what.what);
  if (!driver().begun() || elections().at(owned).adopting()) return with_.host.end(exit_failed);
  let_lease_run_out();
}

}  // namespace tenure::runtime
