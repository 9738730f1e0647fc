#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include "core/campaign_obstacle.hpp"
#include "core/clock.hpp"
#include "core/election_command.hpp"
#include "core/election_event.hpp"
#include "core/election_state.hpp"
#include "core/election_view.hpp"
#include "core/succession.hpp"
#include "core/timing.hpp"
#include "core/unhealthy_terms.hpp"
#include "core/vocabulary.hpp"

/// One election as a pure state machine: an event and the instant go in, commands come out.
///
/// Production, the simulator and the chaos tests all run this class. It does no I/O, reads no
/// clock, draws no random number and starts no thread.
namespace tenure::core {

struct state_reader;  // tests/explore: tells two states apart

/// What follows the loss of a lease.
enum class after_loss : std::uint8_t { standby, exit };

struct election_settings {
  std::string identity;  ///< the member's name; another run of its agent has the same one
  timing when;
  std::uint32_t slots = 1;         ///< how many members may hold the lease at a time
  bool campaigns = true;           ///< false: only watches, as an observer
  bool owns_workload = true;       ///< false: API clients are the workload
  bool ends_with_workload = true;  ///< false: if the workload ends by itself, campaign again
  after_loss on_lost = after_loss::standby;
  /// True: health is checked even while the workload does not run, and only `workload_healthy` ends
  /// `unhealthy`. False: an unhealthy workload counts as healthy again once its term has ended,
  /// because it is dead.
  bool checked_always = false;
  succession_settings succeeds{};
};

/// Safety rule: a holder stops no later than `sent_at + ttl * (1 - drift) - kill_budget - grace`,
/// where sent_at is when the last acknowledged renewal was *sent*. Counting from the reply would
/// let a slow network stretch the lease.
///
/// Not thread-safe; one thread drives it.
class election {
 public:
  explicit election(election_settings settings);

  /// Advances the machine by one event. Everything that has become due is done before the event.
  /// Precondition: `at.now` never goes backwards.
  [[nodiscard]] effects step(const moment& at, const election_event& what);

  /// When to call `step` with `woke` if nothing happens before; `never` if there is no need.
  [[nodiscard]] time_point next_wake() const;

  /// True if the lease should be in the next renewal.
  [[nodiscard]] bool wants_renewal() const;

  /// True while a workload that was found running waits for the store to confirm its term.
  [[nodiscard]] bool adopting() const;

  /// True while that workload may go on: nobody has asked it to stop.
  [[nodiscard]] bool may_go_on() const;

  /// No campaign begins before then, after a resign or because the workload was unhealthy.
  [[nodiscard]] time_point aside_until() const { return std::max(aside_until_, rest_until_); }

  /// The member that should hold next, written into the release record; empty: any member.
  [[nodiscard]] const std::string& heir() const;

  /// True while this member holds the lease in the view as far as it knows; also in a drain.
  [[nodiscard]] bool holding() const;

  [[nodiscard]] const election_view& view() const { return view_; }
  [[nodiscard]] const election_settings& settings() const { return settings_; }
  /// The largest version that this member has seen since versions were last accepted.
  [[nodiscard]] core::version highest_seen() const { return highest_seen_; }

 private:
  friend struct state_reader;

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
  void on(const moment& at, const event::guard_away& e, effects& out);
  void on(const moment& at, const event::guard_back&, effects& out);
  void on(const moment& at, const event::resign& e, effects& out);
  void on(const moment& at, const event::resume&, effects& out);
  void on(const moment& at, const event::shutdown& e, effects& out);
  void on(const moment& at, const event::woke&, effects& out);
  void on(const moment& at, const event::slept&, effects& out);

  // --- phases ---
  /// The state of phase `Phase`; null in another phase.
  template <class Phase>
  [[nodiscard]] auto* in(this auto& self) {
    return std::get_if<Phase>(&self.state_);
  }
  /// The lease that this member holds as far as it knows; null if there is none.
  [[nodiscard]] auto* held(this auto& self) {
    if (auto* p = self.template in<state::pending>()) return &p->lease;
    if (auto* a = self.template in<state::active>()) return &a->lease;
    auto* d = self.template in<state::draining>();
    return d != nullptr && d->lease && !d->gone ? &*d->lease : nullptr;
  }
  /// Leaves the present phase and destroys its state: pointers into it become invalid.
  void enter(election_state to, loss_reason why, const moment& at, effects& out);
  void refresh_view(time_point now);
  void announce(time_point now, effects& out);
  [[nodiscard]] bool comes_first() const;
  void expire(const moment& at, duration slept, effects& out);
  void settle(const moment& at, effects& out);

  // --- candidate ---
  void settle(state::candidate& c, const moment& at, effects& out);
  [[nodiscard]] time_point wake_of(const state::candidate& c) const;
  [[nodiscard]] bool may_hold(time_point now) const;
  [[nodiscard]] bool may_campaign(time_point now) const;
  [[nodiscard]] campaign_obstacle disagreement() const;
  [[nodiscard]] core::held_back obstacle_at(time_point now) const;
  [[nodiscard]] loss_reason why_aside() const;
  void wait_for(state::candidate& c, const observation& seen, bool changed, bool room,
                const moment& at);
  void acquire_now(state::candidate& c, const moment& at, effects& out);
  void acquire_failed(state::candidate& c, const moment& at) const;
  void accept(state::candidate& c, const event::granted& e, const core::lease& granted,
              const moment& at, effects& out);
  static void release_first(state::candidate& c, const moment& at);
  [[nodiscard]] time_point turn(const moment& at) const;
  [[nodiscard]] time_point behind(time_point free_from, const moment& at) const;

  // --- pending, active ---
  void make_way(const moment& at, effects& out);
  [[nodiscard]] time_point makes_way_at() const;
  void activate(const core::lease& held, const moment& at, effects& out);
  [[nodiscard]] core::lease extended(core::lease of, time_point sent_at, duration ttl) const;
  static void arm(const core::lease& by, effects& out);
  [[nodiscard]] bool in_term() const;
  [[nodiscard]] core::version workload_term() const;
  void lose(const core::lease& lease, loss_reason why, duration room, const moment& at,
            effects& out);

  // --- draining ---
  state::draining& give_up(loss_reason why, time_point kill_by, const moment& at, effects& out);
  state::draining& taken_away(loss_reason why, time_point kill_by, const moment& at, effects& out);
  void carry_over(state::draining& to, const moment& at);
  void settle(state::draining& d, const moment& at, effects& out);
  [[nodiscard]] time_point wake_of(const state::draining& d) const;
  static void stop(state::draining& d, time_point kill_by, loss_reason why, effects& out);
  void release_now(state::release_try& release, core::version version, bool clean, const moment& at,
                   effects& out);
  void drained(state::draining done, const moment& at, effects& out);
  [[nodiscard]] bool is_last(loss_reason why) const;
  [[nodiscard]] time_point drained_by(const moment& at) const;

  // --- what is known ---
  void note_heir(const observation& seen, const moment& at);
  void note_order(const observation& seen, bool room, const moment& at);
  void note_acceptance(const observation& seen, const moment& at, effects& out);
  [[nodiscard]] bool seen_gone(core::version ours) const;
  [[nodiscard]] bool shown_over(core::version version) const;
  void remember(core::version seen);
  [[nodiscard]] attempt next_attempt();

  /// First pause after an acquire whose outcome is unknown; the longest is the renewal interval.
  static constexpr duration first_acquire_pause = std::chrono::milliseconds(50);
  /// Prevents a busy loop with a store that refuses and says "try again now".
  static constexpr duration refused_pause = std::chrono::milliseconds(1);

  // State for the whole life of the election. All other state belongs to a phase.
  election_settings settings_;
  election_state state_;
  election_view view_;  ///< `refresh_view` copies into it what the phase keeps

  attempt last_attempt_{};
  time_point last_now_ = time_point::min();

  time_point aside_until_ = time_point::min();  ///< no campaign before
  time_point rest_until_ = time_point::min();   ///< the same, because the workload was unhealthy
  time_point heir_first_until_ = time_point::min();  ///< until then the heir comes first
  succession succession_;
  time_point vacant_from_ = never;     ///< when the watch showed the present vacancy
  time_point outranked_from_ = never;  ///< since when the next one has a higher priority
  /// What the list of members says of us; nothing: what it said before our newest term.
  std::optional<bool> announced_;
  bool stands_in_line_ = false;  ///< as the store was told last
  unhealthy_terms unhealthy_terms_;
  bool healthy_ = true;
  bool guarded_ = true;  ///< a guard is connected, or none is needed

  core::version highest_seen_ = no_version;
  core::version ended_ = no_version;      ///< the newest term of ours that is over
  core::version inherited_ = no_version;  ///< the version of a found workload, until a grant
  std::int64_t accepted_unix_ms_ = 0;     ///< the newest acceptance of versions

  time_point watched_from_ = never;  ///< when the watch was opened, or will be
  std::uint32_t watch_failures_ = 0;
};

}  // namespace tenure::core
