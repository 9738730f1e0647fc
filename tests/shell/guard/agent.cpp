#include "shell/guard/agent.hpp"

#include <algorithm>
#include <csignal>
#include <utility>

namespace tenure::shell {

using namespace std::chrono_literals;
using guard::remains;

namespace {

constexpr std::uint32_t half = 500'000;

}  // namespace

// --- the processes, as an agent sees them ----------------------------------------------------

modelled_access::modelled_access(guard_machine& on, std::shared_ptr<guard_memory> memory,
                                 std::shared_ptr<modelled_line> line,
                                 const std::shared_ptr<process>& loop, pid_t guard, pid_t self)
    : on_(on),
      memory_(std::move(memory)),
      connection_(std::move(line), loop),
      guard_(guard),
      self_(self) {}

bool modelled_access::guard_exists() const {
  const modelled_process* const one = on_.processes.find(guard_);
  return one != nullptr && one->alive();
}

void modelled_access::follow(pid_t leader) {
  forget();
  const modelled_process* const one = on_.processes.find(leader);
  if (one != nullptr && one->parent == guard_ && guard_exists()) leader_ = leader;
}

/// In the order of `orphans::kill_all`.
remains modelled_access::kill_all() {
  std::vector<pid_t> certain;
  bool is_doubtful = false;
  if (guard_exists()) {
    for (const modelled_process* const one : on_.processes.descendants_of(guard_, self_)) {
      if (one->alive()) certain.push_back(one->pid);
    }
  } else {
    for (const auto& [pid, one] : on_.processes.all()) {
      if (!one.alive() || one.of_agent || one.term == 0) continue;
      const bool in_group = leader_ != 0 && one.group == leader_;
      if (in_group || (!one.mark.empty() && one.mark == mark_)) {
        certain.push_back(pid);
      } else if (one.hidden()) {
        is_doubtful = true;
      }
    }
  }
  for (const pid_t pid : certain) on_.processes.signal(pid, SIGKILL);
  if (!certain.empty()) return remains::something;
  return is_doubtful ? remains::doubtful : remains::nothing;
}

process::survivors modelled_access::doubtful() const {
  process::survivors out;
  for (const auto& [pid, one] : on_.processes.all()) {
    if (one.alive() && one.hidden()) ++out.left;
  }
  return out;
}

// --- the agent -------------------------------------------------------------------------------

guarded_agent::guarded_agent(guard_machine& on, pid_t pid, std::string id,
                             std::function<void(int status)> ends)
    : on_(on),
      pid_(pid),
      id_(std::move(id)),
      ends_(std::move(ends)),
      loop_(std::make_shared<process>(on.in, on.clock)),
      campaign_timer_(*loop_),
      renew_timer_(*loop_),
      stop_timer_(*loop_),
      end_timer_(*loop_),
      able_since_(on.in.now) {}

void guarded_agent::connect(std::shared_ptr<guard_memory> memory,
                            std::shared_ptr<modelled_line> line, pid_t guard) {
  dialing_ = looks_ = false;
  greeted_ = distrusts_ = false;
  guard_seen_ = guard;
  guard_number_ = on_.guards;
  // A container is started anew only when nothing of it is left.
  if (link_ && link_->may_run()) link_->presume_dead();
  link_ = std::make_unique<workload::guard_link>(
      *loop_,
      std::make_unique<modelled_access>(on_, std::move(memory), std::move(line), loop_, guard,
                                        pid_),
      workload::guard_link::own_session{.id = id_, .is_bound = bound_},
      [this](const workload::guard_event& e) {
        std::visit([this](const auto& one) { on(one); }, e);
      });
}

void guarded_agent::pause() {
  loop_->pause();
  able_since_ = sim::world_never;
}

void guarded_agent::go_on() {
  loop_->go_on();
  able_since_ = on_.in.now;
}

void guarded_agent::on(const workload::guard_ready& what) {
  greeted_ = true;
  distrusts_ = false;
  if (!bound_ && !what.session.empty()) id_ = what.session;
  bound_ = true;
  const std::uint64_t term = what.found ? core::number(what.found->term) : 0;
  const bool is_news = guard_number_ == on_.guards;
  on_.referee.found(pid_, term, what.found && what.found->ended.has_value(),
                    what.session.empty() ? id_ : what.session, is_news);
  if (is_news) on_.referee.session = id_;
  if (!what.found) return campaign_in(on_.in.dice.spread(1ms, 500ms));
  if (what.found->ended) return leave();
  started_ = true;
  found_ = what.found->term;
  if (what.found->stopping) return;
  // We could not be granted a term of another session.
  const bool is_ours = what.session == id_;
  if (!is_ours || on_.in.dice.chance(200'000))
    return stop(loop_->now() + on_.drain, "an agent does not adopt");
  // The store has to confirm it first.
  renew_timer_.after(on_.in.dice.spread(1ms, on_.ttl / 3), [this] { renew(); });
}

void guarded_agent::on(const workload::guard_unusable& what) {
  on_.referee.broke(guard_rule::no_progress, "unusable: " + what.why);
}

void guarded_agent::campaign_in(core::duration wait) {
  if (!leaving_) campaign_timer_.after(wait, [this] { campaign(); });
}

void guarded_agent::campaign() {
  if (leaving_ || distrusts_ || !greeted_ || link_->gone() || link_->may_run()) return;
  if (!on_.store_is_up) return campaign_in(200ms);
  const core::version term{++on_.versions};
  link_->note_grant(term);
  prolong(term);
  if (!on_.in.dice.chance(100'000)) {
    return campaign_timer_.after(on_.in.dice.spread(10us, 5ms), [this] { start(); });
  }
  // The process gets no time between the two, and comes late with its order.
  renew_timer_.cancel();
  stop_timer_.cancel();
  campaign_timer_.after(on_.in.dice.spread(1ms, 2 * on_.ttl), [this] { start(); });
}

void guarded_agent::start() {
  if (!lease_ || leaving_ || distrusts_ || link_->gone() || link_->may_run()) return;
  const core::version term = lease_->term;
  stop_timer_.at(lease_->stop_at, [this] { lose_lease(); });
  if (renew_timer_.when() == core::never) renew_timer_.after(on_.ttl / 3, [this] { renew(); });
  on_.referee.asks_for_start(pid_, core::number(term));
  link_->start(term, {"TENURE_VERSION=" + std::to_string(core::number(term))});
  if (const auto goes_wrong = std::exchange(on_.after_start, nullptr)) goes_wrong();
}

/// The lease counts from now.
void guarded_agent::prolong(core::version term) {
  if (const auto goes_wrong = std::exchange(on_.before_renewal, nullptr)) goes_wrong();
  const core::time_point kill_at = loop_->now() + on_.ttl * 9 / 10;
  lease_ = {.term = term, .stop_at = kill_at - on_.ttl / 7, .kill_at = kill_at};
  on_.referee.armed(core::number(term), lease_->stop_at, kill_at);
  link_->arm(term, lease_->stop_at, kill_at);
  link_->show({.state = TENURE_ACTIVE, .version = term, .stop_at = lease_->stop_at});
  stop_timer_.at(lease_->stop_at, [this] { lose_lease(); });
  renew_timer_.after(on_.ttl / 3, [this] { renew(); });
}

void guarded_agent::renew() {
  if (leaving_ || distrusts_ || link_->gone()) return;
  const core::version term = lease_ ? lease_->term : found_;
  if (term == core::no_version) return;
  if (!on_.store_is_up) {
    renew_timer_.after(100ms, [this] { renew(); });
    return;
  }
  found_ = core::no_version;
  prolong(term);
}

void guarded_agent::lose_lease() {
  if (!lease_) return;
  const core::time_point kill_at = lease_->kill_at;
  lease_.reset();
  renew_timer_.cancel();
  link_->show({});
  if (link_->may_run()) return stop(kill_at, "the lease is not renewed");
  campaign_in(100ms);
}

void guarded_agent::stop(core::time_point kill_by, const char* why) {
  on_.referee.may_end(why);
  link_->stop(kill_by);
}

void guarded_agent::resign() {
  if (!link_ || link_->gone() || !greeted_) return;
  const bool had = lease_.has_value();
  lease_.reset();
  found_ = core::no_version;
  renew_timer_.cancel();
  stop_timer_.cancel();
  if (had) link_->show({});
  if (link_->may_run())
    stop(loop_->now() + on_.drain, "its agent resigns");
  else if (had)
    campaign_in(100ms);
}

void guarded_agent::on(const workload::workload_started& what) {
  started_ = true;
  on_.referee.answered(pid_, core::number(what.term), true, what.pid);
}

void guarded_agent::not_started(core::version term) {
  on_.referee.answered(pid_, core::number(term), false, 0);
  lease_.reset();
  renew_timer_.cancel();
  stop_timer_.cancel();
  leave_if_possible();
  campaign_in(on_.in.dice.spread(1ms, 1s));
}

void guarded_agent::on(const workload::start_refused& what) {
  not_started(what.term);
}
void guarded_agent::on(const workload::start_failed& what) {
  not_started(what.term);
}

void guarded_agent::on(const workload::workload_exited&) {
  const bool has_guard = guard_number_ == on_.guards && !link_->gone();
  on_.referee.exited(pid_, std::exchange(doubtful_, false), guard_seen_ != 0,
                     has_guard ? std::max(on_.guard_able_since, able_since_) : sim::world_never);
  started_ = false;
  found_ = core::no_version;
  lease_.reset();
  renew_timer_.cancel();
  stop_timer_.cancel();
  link_->show({});
  if (on_.has_door) looks_ = link_->gone();
  if (!on_.has_door && !on_.quiet && on_.in.dice.chance(100'000)) leave();
  leave_if_possible();
  campaign_in(on_.in.dice.spread(1ms, 1s));
}

void guarded_agent::on(const workload::signalled&) {
  if (on_.has_door) return;
  leave();
}

void guarded_agent::on(const workload::guard_gone&) {
  lease_.reset();
  renew_timer_.cancel();
  stop_timer_.cancel();
  if (!on_.has_door) {
    leaving_ = true;
    return leave_if_possible();
  }
  greeted_ = false;
  looks_ = true;
}

void guarded_agent::on(const workload::guard_hangs&) {
  on_.referee.hangs(on_.guard_able_since);
  on_.referee.may_end("the guard hangs");
  distrusts_ = true;
  link_->end_orphans();
  lease_.reset();
  renew_timer_.cancel();
  stop_timer_.cancel();
  if (!on_.has_door) leaving_ = true;
  leave_if_possible();
}

void guarded_agent::on(const workload::guard_recovers&) {
  if (!on_.has_door) return;
  distrusts_ = false;
  campaign_in(100ms);
}

void guarded_agent::leave() {
  leaving_ = true;
  resign();
  leave_if_possible();
}

void guarded_agent::leave_if_possible() {
  if (!leaving_ || link_->may_run() || end_timer_.when() != core::never) return;
  on_.referee.say("the agent ends");
  on_.referee.may_end("its agent ends");
  link_->bye(on_.in.dice.chance(half) ? std::optional(3) : std::nullopt);
  // It gives its lease up first, which may take a while.
  end_timer_.after(on_.in.dice.spread(10us, 2s), [this] { ends_(3); });
}

}  // namespace tenure::shell
