#include "judged_link.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "shell/guard/access.hpp"

namespace tenure::shell {

world_time agent_process::reaches_since() const {
  return link == nullptr ? sim::world_never : link->reaches_since();
}

judged_link::judged_link(guard_machine& on, std::shared_ptr<agent_process> of, way_to_guard over,
                         const std::shared_ptr<process>& loop, const runtime::guard_wish& how,
                         runtime::guard_handler to)
    : on_(on),
      of_(std::move(of)),
      session_(how.session),
      is_bound_(how.session_is_bound),
      in_sight_(over.guard != 0),
      guard_number_(on.guards) {
  of_->link = this;
  link_ = std::make_unique<workload::guard_link>(
      *loop,
      std::make_unique<modelled_access>(on, std::move(over.memory), std::move(over.line), loop,
                                        over.guard, of_->pid),
      workload::guard_link::own_session{.id = how.session, .is_bound = how.session_is_bound},
      [this, to = std::move(to)](const workload::guard_event& what) {
        judge(what);
        // This call may destroy us.
        to(what);
      });
  link_->log_as(how.form, how.fields);
  if (is_bound_) on_.referee.bound_sessions.insert(session_);
}

judged_link::~judged_link() {
  if (of_->link == this) of_->link = nullptr;
}

world_time judged_link::reaches_since() const {
  if (!in_sight_ || !link_->may_run() || of_->able_since == sim::world_never) {
    return sim::world_never;
  }
  return std::max(greeted_at_, of_->able_since);
}

// --- what the agent wants --------------------------------------------------------------------

void judged_link::arm(core::version version, core::time_point stop_at, core::time_point kill_at) {
  if (const auto goes_wrong = std::exchange(on_.before_renewal, nullptr)) goes_wrong();
  on_.referee.armed(core::number(version), stop_at, kill_at);
  link_->arm(version, stop_at, kill_at);
}

void judged_link::start(core::version version, const std::vector<std::string>& environment) {
  on_.referee.asks_for_start(of_->pid, core::number(version));
  link_->start(version, environment);
  if (const auto goes_wrong = std::exchange(on_.after_start, nullptr)) goes_wrong();
}

void judged_link::stop(core::time_point kill_by, int signal) {
  on_.referee.may_end("its agent stops it");
  if (on_.stops) on_.stops(kill_by);
  link_->stop(kill_by, signal);
}

void judged_link::bye(std::optional<int> exit_code) {
  on_.referee.may_end("its agent ends");
  link_->bye(exit_code);
}

void judged_link::end_orphans() {
  on_.referee.may_end("its agent ends it without the guard");
  link_->end_orphans();
}

// --- what the agent hears --------------------------------------------------------------------

void judged_link::judge(const workload::guard_event& what) {
  std::visit([this](const auto& one) { on(one); }, what);
}

void judged_link::on(const workload::guard_ready& what) {
  greeted_at_ = on_.in.now;
  const bool is_news = guard_number_ == on_.guards;
  const std::string told = what.session.empty() ? session_ : what.session;
  on_.referee.found(of_->pid, what.found ? core::number(what.found->version) : 0,
                    what.found && what.found->ended.has_value(), told, is_news);
  // One that is in a session already goes on in it, and the guard with it.
  if (is_news) on_.referee.session = is_bound_ ? session_ : told;
}

void judged_link::on(const workload::guard_unusable& what) {
  on_.referee.broke(guard_rule::no_progress, "unusable: " + what.why);
}

void judged_link::on(const workload::workload_started& what) {
  on_.referee.answered(of_->pid, core::number(what.version), true, what.pid);
}

void judged_link::on(const workload::start_refused& what) {
  on_.referee.answered(of_->pid, core::number(what.version), false, 0);
}

void judged_link::on(const workload::start_failed& what) {
  on_.referee.answered(of_->pid, core::number(what.version), false, 0);
}

void judged_link::on(const workload::workload_exited&) {
  const bool has_guard = guard_number_ == on_.guards && !link_->gone();
  const world_time guard_well_since =
      has_guard ? std::max(on_.guard_able_since, of_->able_since) : sim::world_never;
  on_.referee.exited(of_->pid, std::exchange(doubtful_, false), in_sight_, guard_well_since);
}

void judged_link::on(const workload::guard_hangs&) {
  on_.referee.hangs(guard_number_ == on_.guards ? on_.guard_able_since : sim::world_never);
}

}  // namespace tenure::shell
