#include "judged_link.hpp"

#include <algorithm>
#include <utility>
#include <variant>

#include "shell/guard/access.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

/// A guard that hangs is noticed within two looks of a second, the second of them for what it has
/// acknowledged meanwhile.
constexpr core::duration notices_within = 2500ms;
/// For an agent that gets its time, to kill in rounds.
constexpr core::duration kills_within = 400ms;

}  // namespace

world_time agent_process::orders_since() const {
  return link == nullptr ? sim::world_never : link->orders_since();
}

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
  memory_ = over.memory;
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

/// Since when it runs, and knows of the workload.
world_time judged_link::knows_since() const {
  if (!link_->may_run() || of_->able_since == sim::world_never) return sim::world_never;
  return std::max(greeted_at_, of_->able_since);
}

world_time judged_link::orders_since() const {
  return link_->gone() ? sim::world_never : knows_since();
}

world_time judged_link::reaches_since() const {
  return in_sight_ ? knows_since() : sim::world_never;
}

// --- what the agent wants --------------------------------------------------------------------

void judged_link::arm(core::version version, core::time_point stop_at, core::time_point kill_at) {
  if (const auto goes_wrong = std::exchange(on_.before_renewal, nullptr)) goes_wrong();
  on_.referee.armed(core::number(version), stop_at, kill_at);
  if (on_.clock_off != 0ns) {
    on_.referee.broke(guard_rule::used_with_other_clock, std::to_string(core::number(version)));
  }
  if (unheard_since_ == sim::world_never) unheard_since_ = on_.in.now;
  link_->arm(version, stop_at, kill_at);
}

void judged_link::start(core::version version, const std::vector<std::string>& environment) {
  shows(core::number(version));
  on_.referee.asks_for_start(of_->pid, core::number(version));
  running_ = core::number(version);
  link_->start(version, environment);
  if (const auto goes_wrong = std::exchange(on_.after_start, nullptr)) goes_wrong();
}

void judged_link::stop(core::time_point kill_by, int signal) {
  shows(0);
  on_.referee.all_may_end("its agent stops it");
  if (on_.stops) on_.stops(kill_by);
  link_->stop(kill_by, signal);
}

void judged_link::bye(std::optional<int> exit_code) {
  on_.referee.all_may_end("its agent ends");
  link_->bye(exit_code);
}

void judged_link::end_orphans() {
  on_.referee.all_may_end("its agent ends it without the guard");
  link_->end_orphans();
}

/// Who asks the API from within the workload is not told what was before.
void judged_link::shows(std::uint64_t version) const {
  const auto shown = on_.shown ? on_.shown() : std::nullopt;
  if (!shown || *shown == version) return;
  on_.referee.broke(guard_rule::told_before_shown,
                    std::to_string(*shown) + " is shown, and not " + std::to_string(version));
}

// --- what the agent hears --------------------------------------------------------------------

void judged_link::judge(const workload::guard_event& what) {
  std::visit([this](const auto& one) { on(one); }, what);
}

void judged_link::on(const workload::guard_ready& what) {
  greeted_at_ = on_.in.now;
  usable_ = true;
  if (what.found) running_ = core::number(what.found->version);
  const bool is_news = guard_number_ == on_.guards;
  const std::string told = what.session.empty() ? session_ : what.session;
  on_.referee.found(of_->pid, what.found ? core::number(what.found->version) : 0,
                    what.found && what.found->ended.has_value(), told, guard_number_, is_news);
  // One that is in a session already goes on in it, and the guard with it.
  if (is_news) on_.referee.session = is_bound_ ? session_ : told;
}

void judged_link::on(const workload::guard_unusable& what) {
  if (on_.clock_off == 0ns) on_.referee.broke(guard_rule::refused_though_well, what.why);
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

void judged_link::on(const workload::workload_exited& what) {
  const bool has_guard = guard_number_ == on_.guards && !link_->gone();
  const world_time guard_well_since =
      has_guard ? std::max(on_.guard_able_since, of_->able_since) : sim::world_never;
  // Its deadline has passed, or the next guard is there, and the end of its container was not seen.
  const bool is_presumed = link_->gone() && !in_sight_ && !what.with_container;
  on_.referee.exited(of_->pid, std::exchange(doubtful_, false), in_sight_, is_presumed,
                     guard_well_since);
  on_.processes.close_term();
  if (has_guard || what.with_container) in_sight();
}

void judged_link::on(const workload::workload_doubtful& what) {
  doubtful_ = true;
  out_of_sight(core::number(what.version));
}

void judged_link::on(const workload::guard_hangs& what) {
  on_.referee.hangs(guard_number_ == on_.guards ? on_.guard_able_since : sim::world_never);
  lost(what.workload_in_sight);
}

void judged_link::on(const workload::guard_recovers&) {
  usable_ = true;
  lost_at_ = unheard_since_ = sim::world_never;
}

void judged_link::lost(bool workload_in_sight) {
  usable_ = false;
  lost_at_ = std::min(lost_at_, on_.in.now);
  if (!workload_in_sight && link_->may_run()) out_of_sight(running_);
}

// --- what goes on for too long -----------------------------------------------------------------

void judged_link::look() {
  look_at_hearing();
  look_at_survivors();
}

void judged_link::look_at_hearing() {
  if (memory_->page.armed.load() == memory_->page.kill_at.load()) {
    unheard_since_ = sim::world_never;
  }
  if (!usable_ || unheard_since_ == sim::world_never || of_->able_since == sim::world_never) return;
  if (std::max(unheard_since_, of_->able_since) + notices_within >= on_.in.now) return;
  on_.referee.broke(guard_rule::hang_unnoticed, "since its agent has armed it");
}

void judged_link::look_at_survivors() const {
  const world_time able = std::max(lost_at_, reaches_since());
  if (usable_ || able == sim::world_never) return;
  for (const auto& [pid, one] : on_.processes.all()) {
    if (!one.alive() || one.version != running_ || one.hidden() || one.hangs) continue;
    if (std::max({able, one.born, one.hung_until}) + kills_within >= on_.in.now) continue;
    on_.referee.broke(guard_rule::outlives_guard, "process " + std::to_string(pid));
  }
}

}  // namespace tenure::shell
