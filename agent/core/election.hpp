#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "core/backoff.hpp"
#include "core/campaign_obstacle.hpp"
#include "core/check.hpp"
#include "core/clock.hpp"
#include "core/timing.hpp"
#include "core/unhealthy_terms.hpp"
#include "core/vocabulary.hpp"

/// One election as a pure state machine: an event and the instant go in, commands come out.
///
/// It is the same object in production, in the simulator and behind the chaos tests. It does no
/// I/O, reads no clock, draws no random number and starts no thread.
namespace tenure::core {

struct state_reader;  // tests/explore: tells two states apart

/// What follows the loss of a lease.
enum class after_loss : std::uint8_t { standby, exit };

struct election_settings {
  std::string identity;  ///< of this incarnation: no other agent ever uses it
  timing when;
  std::uint32_t slots = 1;         ///< how many may hold at a time
  bool campaigns = true;           ///< false: an observer, which only watches
  bool owns_workload = true;       ///< false: the readers of our answers are the workload
  bool ends_with_workload = true;  ///< false: after one that ended by itself, campaign again
  after_loss on_lost = after_loss::standby;
  /// The workload's health is checked while it does not run, too: only `workload_healthy` makes it
  /// well again. False: what was unhealthy is dead at the end of its term.
  bool checked_always = false;
  /// Added by the store itself between the end of a session and the next grant of what that held
  /// (Consul's lock-delay). A deleted key has none.
  duration store_lock_delay = duration::zero();
};

namespace event {

/// To a candidate: an earlier agent of this session has ended, and its guard has kept the workload
/// that it had started under `term`. It goes on if the store grants us that very term before
/// `stop_at`; otherwise it is stopped.
struct workload_found {
  version term = no_version;
  time_point stop_at{};   ///< as the guard has it
  time_point kill_at{};   ///< as the guard has it
  bool stopping = false;  ///< it was told to end
};

/// The agent is up; campaign, or watch.
struct started {
  /// An earlier agent had this session. It may have left a release unanswered, so whatever the
  /// session holds is released before the first campaign, unless `workload_found` came before:
  /// granted once more, such a term could be taken away by that release.
  bool session_was_used = false;
  /// The newest term that this session was granted. No grant up to it is believed, unless it is
  /// that very term and its workload was found.
  version last_term = no_version;
};

/// The store has granted the lease (or confirms that this session has it).
struct granted {
  attempt number{};
  version term = no_version;
  std::string sequencer{};
  duration ttl{};                 ///< as granted, which need not be as asked
  time_point sent_at{};           ///< before the first byte of the request left
  bool released_cleanly = false;  ///< the previous holder's workload is known to be dead
};

/// Somebody else holds it.
struct refused {
  attempt number{};
  /// When another try may succeed although nothing was released; `never`: the watch will tell.
  time_point retry_at = never;
};

/// The outcome of an acquire is unknown: it may or may not have happened.
struct acquire_unknown {
  attempt number{};
};

/// A renewal of term `term` was acknowledged. Sent by `session`.
struct renewed {
  version term = no_version;
  time_point sent_at{};
  duration ttl{};
};

/// The store's own word that term `term` is over. Never a time-out or a reset.
struct lost {
  version term = no_version;
  loss_reason why = loss_reason::revoked;
};

/// The watch shows this. The first one after a `watch` command is the state at that time.
struct observed {
  observation what;
};

/// The watch broke; what it would have shown is missing until it is up again.
struct watch_failed {};

/// The release was carried out, or there was nothing left to release.
struct released {
  attempt number{};
};

/// The outcome of a release is unknown.
struct release_unknown {
  attempt number{};
};

/// The workload of term `term` runs.
struct workload_started {
  version term = no_version;
};

/// The last process of the workload was *observed* to be gone, or it could not be started.
struct workload_exited {};

/// Nobody knows how long the end of what may be left of the workload takes: it hangs in the kernel,
/// where SIGKILL waits, or its guard does. Its lease is not renewed any more.
struct workload_stuck {};

/// What may be left of the workload is out of everybody's sight and reach. Its lease is neither
/// renewed nor released, and nothing is asked for, before it has run out.
struct workload_unseen {};

/// Health of the workload, after hysteresis.
struct workload_unhealthy {};
struct workload_healthy {};

/// The guard, without which no workload can be started, is about to end or has ended; another has
/// come. In between this member does not campaign.
struct guard_away {};
struct guard_back {};

/// Give the lease up, and stand aside for `aside` from then on (`duration::max()`: until
/// `resume`). With an `heir`, the others let that member come first, for a moment.
struct resign {
  duration aside{};
  std::string heir{};
};

/// Campaign again, at once; also if it stands aside because its workload was unhealthy.
struct resume {};

/// Stop the workload, release, end. There is no way back.
struct shutdown {
  loss_reason why = loss_reason::shutdown;
};

/// Nothing happened but time.
struct woke {};

/// The same, and the machine has slept for `lasted` of it. Comes before anything else that happens
/// after a sleep: a lease that would still hold without it ends as `suspended`.
struct slept {
  duration lasted{};
};

}  // namespace event

using election_event = std::variant<
    event::workload_found, event::started, event::granted, event::refused, event::acquire_unknown,
    event::renewed, event::lost, event::observed, event::watch_failed, event::released,
    event::release_unknown, event::workload_started, event::workload_exited, event::workload_stuck,
    event::workload_unseen, event::workload_unhealthy, event::workload_healthy, event::guard_away,
    event::guard_back, event::resign, event::resume, event::shutdown, event::woke, event::slept>;

namespace command {

/// Ask the store for the lease. Idempotent for one session: if we hold it already, the answer is
/// `granted` with the same version.
struct acquire {
  attempt number{};
  time_point deadline{};
  /// The new version must be larger than this one. A store that makes its own versions sees to
  /// it, so that even a lost file does not move them back.
  version above = no_version;
};

/// Give the lease up, if it is still ours. The workload is dead.
struct release {
  attempt number{};
  version term = no_version;  ///< `no_version`: whatever our session may hold
  /// Everything that ran under earlier terms is dead, too: the next holder need not wait. False
  /// if this term ends before its own lock_delay is over.
  bool clean = false;
  time_point deadline{};
};

/// Open the watch (again). Its first observation is the present state.
struct watch {
  time_point not_before{};
};

/// Move the guard's deadlines. Comes before `start_workload` and after every renewal.
struct arm {
  version term = no_version;
  time_point stop_at{};
  time_point kill_at{};
};

/// Start the workload under this version, unless kill_at has passed.
struct start_workload {
  version term = no_version;
};

/// SIGTERM now, SIGKILL at `kill_by` to whatever is left. A later command may only shorten it.
struct stop_workload {
  time_point kill_by{};
  loss_reason why = loss_reason::none;
};

/// The phase has changed; one line in the log.
struct transition {
  phase from;
  phase to;
  loss_reason why = loss_reason::none;
};

/// `view()` shows something new.
struct publish {};

/// An operator has accepted that versions begin anew: the newest grant that is kept for the next
/// agent of this session (`event::started::last_term`) is not above `before`.
struct forget_grants {
  version before = no_version;
};

/// Nothing is held and nothing runs: the agent may end.
struct finished {
  loss_reason why = loss_reason::none;
};

}  // namespace command

using election_command =
    std::variant<command::acquire, command::release, command::watch, command::arm,
                 command::start_workload, command::stop_workload, command::transition,
                 command::publish, command::forget_grants, command::finished>;

/// The commands of one step, in the order in which they must be carried out. Holds them in
/// place, so that a step allocates nothing.
class effects {
 public:
  static constexpr std::size_t capacity = 12;

  void add(const election_command& what) {
    TENURE_CHECK(count_ < capacity);
    commands_[count_++] = what;
  }
  [[nodiscard]] const election_command* begin() const { return commands_.data(); }
  [[nodiscard]] const election_command* end() const { return commands_.data() + count_; }
  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }

 private:
  std::array<election_command, capacity> commands_;
  std::size_t count_ = 0;
};

/// The lease as far as its acknowledged renewals reach. All instants on CLOCK_BOOTTIME.
struct lease {
  version term = no_version;
  time_point sent_at{};
  duration ttl{};
  time_point safe_until{};
  time_point kill_at{};
  time_point stop_at{};
};

/// A grant whose version resources could not tell from that of an earlier holder.
struct regression {
  version granted = no_version;
  version seen = no_version;  ///< at least as large, before

  friend bool operator==(const regression&, const regression&) = default;
};

/// What anybody may know of an election. Copied out by the runtime for those who serve answers.
struct election_view {
  core::phase phase = core::phase::candidate;
  std::optional<core::lease> lease;  ///< while one is held or may be
  std::string sequencer;
  time_point since = never;         ///< of the present phase; `never` before `started`
  std::optional<observation> seen;  ///< the newest that the watch has shown
  bool workload_running = false;
  loss_reason last_loss = loss_reason::none;
  time_point aside_until = time_point::min();  ///< no campaign before; `never`: until `resume`
  bool paused = false;                         ///< it was told to stand aside until `resume`
  core::held_back held_back{};                 ///< why it does not campaign, as a candidate
  /// Since a grant was given back because of its version, until a larger one is granted, or an
  /// operator has accepted that they begin anew.
  std::optional<regression> regressed{};

  /// True while this member may act as holder at `now`. Computed for every answer: a cached flag
  /// would outlive the lease.
  [[nodiscard]] bool valid_at(time_point now) const {
    return phase == core::phase::active && lease && now < lease->stop_at;
  }
};

/// Safety rule: a holder stops no later than `sent_at + ttl * (1 - drift) - kill_budget - grace`,
/// where sent_at is when the last acknowledged renewal was *sent*. Counting from the reply would
/// let a slow network stretch the lease.
///
/// Not thread-safe; one thread drives it.
class election {
 public:
  explicit election(election_settings settings);

  /// Advances the machine by one event. Time that has passed is acted upon first, whatever the
  /// event. Precondition: `at.now` never goes backwards.
  [[nodiscard]] effects step(const moment& at, const election_event& what);

  /// When to call `step` with `woke` if nothing happens before; `never` if there is no need.
  [[nodiscard]] time_point next_wake() const;

  /// True if the lease should be in the next renewal.
  [[nodiscard]] bool wants_renewal() const;

  /// True while a workload that was found waits for the store's word.
  [[nodiscard]] bool adopting() const { return found_.has_value(); }

  /// No campaign begins before: it was told to stand aside, or its workload was unhealthy.
  [[nodiscard]] time_point aside_until() const { return std::max(aside_until_, rest_until_); }

  /// Who is to hold after us, to be left with the release; empty: whoever comes first.
  [[nodiscard]] const std::string& heir() const { return heir_; }

  /// True while the lease in the view is ours, as far as anybody has told us: in a drain, too.
  [[nodiscard]] bool holding() const;

  [[nodiscard]] const election_view& view() const { return view_; }
  [[nodiscard]] const election_settings& settings() const { return settings_; }

 private:
  friend struct state_reader;
  enum class work : std::uint8_t { none, starting, running, stopping };
  enum class call : std::uint8_t { idle, flying, waiting };

  /// A store operation of which at most one is in flight. `at` is its deadline while it flies,
  /// and the time of the next try while it waits.
  struct operation {
    call state = call::idle;
    attempt number{};
    time_point at = never;
    std::uint32_t failures = 0;
  };

  void expire(const moment& at, duration slept, effects& out);
  void settle(const moment& at, effects& out);
  void settle_candidate(const moment& at, effects& out);
  void settle_draining(const moment& at, effects& out);

  void on(const moment& at, const event::workload_found& e, effects& out);
  void on(const moment& at, const event::started&, effects& out);
  void on(const moment& at, const event::granted& e, effects& out);
  void on(const moment& at, const event::refused& e, effects& out);
  void on(const moment& at, const event::acquire_unknown& e, effects& out);
  void on(const moment& at, const event::renewed& e, effects& out);
  void on(const moment& at, const event::lost& e, effects& out);
  void on(const moment& at, const event::observed& e, effects& out);
  void on(const moment& at, const event::watch_failed&, effects& out);
  void on(const moment& at, const event::released& e, effects& out);
  void on(const moment& at, const event::release_unknown& e, effects& out);
  void on(const moment& at, const event::workload_started& e, effects& out);
  void on(const moment& at, const event::workload_exited&, effects& out);
  void on(const moment& at, const event::workload_stuck&, effects& out);
  void on(const moment& at, const event::workload_unseen&, effects& out);
  void on(const moment& at, const event::workload_unhealthy&, effects& out);
  void on(const moment& at, const event::workload_healthy&, effects& out);
  void on(const moment& at, const event::guard_away&, effects& out);
  void on(const moment& at, const event::guard_back&, effects& out);
  void on(const moment& at, const event::resign& e, effects& out);
  void on(const moment& at, const event::resume&, effects& out);
  void on(const moment& at, const event::shutdown& e, effects& out);
  void on(const moment& at, const event::woke&, effects& out);
  void on(const moment& at, const event::slept&, effects& out);

  void enter(core::phase to, loss_reason why, const moment& at, effects& out);
  [[nodiscard]] core::lease extended(core::lease of, time_point sent_at, duration ttl) const;
  void activate(const moment& at, effects& out);
  void adopt(const moment& at, effects& out);
  void arm(effects& out) const;
  void give_up(loss_reason why, time_point kill_by, const moment& at, effects& out);
  void lose(loss_reason why, const moment& at, effects& out);
  void stop_work(time_point kill_by, loss_reason why, effects& out);
  void acquire_now(const moment& at, effects& out);
  void acquire_failed(const moment& at);
  void release_now(version term, const moment& at, effects& out);
  void release_first(const moment& at);
  void release_failed(const moment& at);
  void note_heir(const observation& seen, const moment& at);
  void wait_for(const observation& seen, bool changed, bool room, const moment& at);
  void drained(const moment& at, effects& out);
  [[nodiscard]] bool seen_gone(version ours) const;
  [[nodiscard]] bool leaving() const;
  [[nodiscard]] bool may_hold(time_point now) const;
  [[nodiscard]] bool may_campaign(time_point now) const;
  [[nodiscard]] campaign_obstacle disagreement() const;
  [[nodiscard]] loss_reason why_aside() const;
  [[nodiscard]] core::held_back obstacle_at(time_point now) const;
  [[nodiscard]] time_point candidate_wake() const;
  [[nodiscard]] time_point drained_by(const moment& at) const;
  void remember(version seen);
  void note_acceptance(const observation& seen, const moment& at, effects& out);
  [[nodiscard]] attempt next_attempt();

  /// A store that refuses and names the present as the time to try again is not asked in a circle.
  static constexpr duration refused_pause = std::chrono::milliseconds(1);

  election_settings settings_;
  election_view view_;

  operation acquire_;
  operation release_;
  attempt last_attempt_{};
  time_point last_now_ = time_point::min();

  time_point pending_until_ = never;                 ///< when lock_delay will have passed
  time_point aside_until_ = time_point::min();       ///< no campaign before
  duration aside_{};                                 ///< to stand aside once the drain is over
  std::string heir_;                                 ///< of the term that we are giving up
  time_point heir_first_until_ = time_point::min();  ///< another is to hold next, until then
  unhealthy_terms unhealthy_terms_;
  duration rest_{};                             ///< after an unhealthy term, once the drain is over
  time_point rest_until_ = time_point::min();   ///< the same, when that is known
  time_point quiet_until_ = time_point::min();  ///< readers of our answers may still act until then
  time_point watched_from_ = never;             ///< when the watch was opened, or will be
  time_point unseen_until_ = time_point::min();  ///< what may be left has a lease until then
  version highest_seen_ = no_version;
  version ended_ = no_version;                  ///< the newest term of ours that is over
  std::int64_t accepted_unix_ms_ = 0;           ///< the newest acceptance of versions that was seen
  std::optional<event::workload_found> found_;  ///< until it is adopted, stopped or dead
  version inherited_ = no_version;              ///< of what was found, until a term is granted
  work work_ = work::none;
  version work_term_ = no_version;       ///< under which it was started
  time_point kill_by_ = never;           ///< of the stop order in force
  bool stuck_ = false;                   ///< it cannot be carried out
  loss_reason why_ = loss_reason::none;  ///< of the drain in progress
  std::uint32_t watch_failures_ = 0;
  bool healthy_ = true;
  bool guarded_ = true;           ///< there is a guard, if one is needed
  bool ending_ = false;           ///< shutdown was asked for
  bool clean_ = false;            ///< nothing of an earlier term can still run
  bool gone_ = false;             ///< the store has said that the lease is no longer ours
  bool maybe_held_ = false;       ///< an acquire ended unknown: the store may count us as holder
  bool freed_meanwhile_ = false;  ///< the lease was seen free while an acquire was in flight
};

}  // namespace tenure::core
