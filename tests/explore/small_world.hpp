#pragma once

#include <array>
#include <boost/container/static_vector.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bit.hpp"
#include "core/guard.hpp"
#include "core/lease_group.hpp"
#include "rule.hpp"

/// The whole of a small system as one value, so that every state of it can be kept, copied and
/// gone on from: two members with their guards, one election, one store, and what is under way
/// between them. `core` is the one that ships; the rest is the least that is true of any store.
///
/// Time is counted in ticks. What is due within a tick happens in it, in every order; what a fault
/// has hit happens whenever it likes, or never: a letter that is stalled, an agent that is stopped,
/// a watch that lags. Guards are in time, as docs/safety.md demands.
namespace tenure::explore {

using sim::bit;
using sim::rule;

inline constexpr std::size_t members = 2;
inline constexpr core::duration tick = std::chrono::milliseconds(200);

/// What is under way between an agent and the store: requests, then answers.
enum class mail : std::uint8_t {
  acquire,
  renew,
  ask_own,  ///< which term the session holds, before a release that names none
  release,
  granted,
  refused,
  renewed,
  own,
  released,
};

struct letter {
  mail what{};
  std::uint8_t member = 0;
  bool orphan = false;   ///< who sent it has ended: nobody hears the answer
  bool stalled = false;  ///< arrives at any time, or never
  bool clean = false;
  core::loss_reason lost = core::loss_reason::none;  ///< of the term that was to be renewed
  core::attempt number{};
  core::version version = core::no_version;
  core::time_point sent_at{};

  [[nodiscard]] bool is_answer() const { return what >= mail::granted; }
};

/// What a watch shows: who holds, at one point of the store's history.
struct snapshot {
  core::version as_of = core::no_version;
  core::version version = core::no_version;  ///< `no_version`: free
  std::uint8_t holder = 0;
};

/// What a guard has told its agent.
struct report {
  bool started = false;  ///< else: it has ended
  core::version version = core::no_version;
};

/// What the rules need to know of what a member was told. Core's own notes are judged by it.
struct ledger {
  core::version version = core::no_version;
  core::version seen = core::no_version;         ///< the largest, its own and those of others
  core::version found = core::no_version;        ///< what ran when its agent came
  core::version shown_as_of = core::no_version;  ///< by the watch
  core::version shown_ours = core::no_version;
  bool overtaken = false;
  bool lost = false;                ///< it was told that `version` is over
  bool releasing = false;           ///< and nobody has said that it is done
  std::uint32_t asked = 0;          ///< a bit for each `loss_reason`
  core::time_point must_stop_at{};  ///< no earlier: the answers that must be believed
  core::time_point may_stop_at{};   ///< no later: all answers
  core::duration last_pause{};      ///< after the newest term that was unhealthy
  core::duration pause{};           ///< after the one that is ending
  core::time_point rests_until = core::time_point::min();
  core::time_point woke_at{};  ///< from the newest sleep
  core::duration slept{};
};

/// A term that an operator has taken away.
struct removal {
  core::version version = core::no_version;
  core::time_point at{};
  core::time_point news = core::never;
  bool is_waited_for = true;
};

struct member {
  // The agent, and what its client of the store knows.
  std::optional<core::lease_group> agent;
  bool ended = false;  ///< for good
  core::attempt acquire{};
  core::time_point acquire_by{};
  core::attempt release{};
  core::time_point release_by{};
  bool release_clean = false;
  bool asks_own = false;
  core::attempt renewal{};
  core::time_point renewal_by{};
  enum class stream : std::uint8_t { closed, wanted, open, broken } watch = stream::closed;
  core::time_point watch_at{};
  boost::container::static_vector<snapshot, 3> shown;
  bool lags = false;    ///< its watch shows nothing for as long as it likes
  bool frozen = false;  ///< does nothing until it goes on
  bool asleep = false;  ///< nor does its guard: the machine is
  core::time_point fell_asleep{};
  core::time_point woke_up = core::time_point::min();  ///< the guard, from the newest sleep
  bool unhealthy = false;

  // The guard, and what it owns.
  core::guard guard;
  core::version page_term = core::no_version;
  core::time_point stop_at{};
  core::time_point kill_at{};
  core::time_point kill_by = core::never;    ///< of the agent's orders to stop
  core::version granted = core::no_version;  ///< as noted for the next agent
  bool session_was_used = false;
  boost::container::static_vector<report, 4> reports;
  bool runs = false;
  bool told = false;          ///< to stop, by anybody
  std::uint8_t survives = 0;  ///< SIGKILLs that it takes
  core::time_point dead_by = core::never;
  bool given_again = false;  ///< its term was taken away, and granted again by a restored store

  // Its place in line, behind the holder. Nothing renews it here.
  core::version place = core::no_version;  ///< `no_version`: none
  core::time_point place_ends_at{};

  // What the store has promised it: nobody else before.
  core::version promised_term = core::no_version;
  core::time_point promised_until{};

  ledger known;
  boost::container::static_vector<removal, 3> removals;  ///< oldest first

  /// There is something to be read of its watch, or that it has broken.
  [[nodiscard]] bool has_news() const { return !shown.empty() || watch == stream::broken; }
};

/// What may happen next; faults come last.
enum class act : std::uint8_t {
  carry,    ///< a letter arrives
  wake,     ///< the agent looks at the clock
  hear,     ///< the agent hears of its guard
  see,      ///< the agent reads its watch
  open,     ///< the agent's watch is opened
  start,    ///< an agent comes up
  end,      ///< the workload ends as it was told
  expire,   ///< the store ends a lease whose time is over
  go_on,    ///< an agent that was stopped goes on
  recover,  ///< the workload is healthy again
  wither,   ///< the store ends the lease of a place in line
  pass,     ///< a tick passes
  stall,    ///< a letter is slow, or lost
  fail,     ///< a letter is lost, and its sender learns it
  crash,    ///< the agent dies, its guard does not
  freeze,   ///< the agent is stopped
  lag,      ///< its watch is slow
  sleep,    ///< the machine is suspended, with agent, guard and workload
  exit,     ///< the workload ends by itself
  cut,      ///< the watch breaks
  remove,   ///< an operator deletes the key
  restore,  ///< an operator restores a backup
  resign,
  shut_down,
  sicken,
  queue,  ///< a place of the member appears in line, wanted or not; perhaps of a request of long
          ///< ago
};

struct move {
  act what{};
  std::uint8_t member = 0;
  std::uint8_t letter = 0;  ///< its place; of a backup, how many versions it is behind

  [[nodiscard]] bool is_fault() const { return what >= act::stall; }
  friend bool operator==(const move&, const move&) = default;
};

/// The fault with this name; nothing if there is none.
std::optional<act> fault_named(std::string_view text);

/// What everything takes, in ticks; see small_world.cpp.
const core::timing& budget();

struct world {
  world();

  /// All that may happen now, but for faults when none is left.
  void moves(std::vector<move>& out) const;
  void apply(const move& m);
  /// The same for all worlds that cannot be told apart by what may still happen in them: which
  /// member is which, what time it is and how far versions have come does not count.
  [[nodiscard]] std::uint64_t digest() const;
  /// One line for a person.
  [[nodiscard]] std::string text(const move& m) const;

  rule broken = rule::none;
  std::uint8_t faults_left = 0;
  std::uint32_t kinds = ~0U;  ///< of faults that may happen: a bit for each `act`
  std::uint8_t ticks_left = 0;

  core::time_point now{std::chrono::hours(1)};
  std::array<member, members> all;
  boost::container::static_vector<letter, 12> letters;

  // The store.
  std::uint64_t revision = 1000;
  core::version held = core::no_version;
  std::uint8_t holder = 0;
  core::time_point ends_at{};
  bool doubtful = false;  ///< its last holder has not released
  bool begun_cleanly =
      false;  ///< the term of `held` was a place in line, and its last holder released
  core::version last_granted = core::no_version;  ///< since the last restore
  core::version given_twice = core::no_version;   ///< versions up to here may be granted again

 private:
  // Moves.
  void carry(const letter& l);
  void fail(const letter& l);
  void pass();
  void be_in_time(std::size_t m, core::time_point next);
  void go_on(std::size_t m);
  [[nodiscard]] bool may_pass() const;
  [[nodiscard]] bool may_arrive(const letter& l) const;
  [[nodiscard]] bool may_open_watch(const member& it) const;
  void forget_what_is_over();

  // The store.
  void receive(const letter& l);
  [[nodiscard]] snapshot present() const;
  void open_watch(std::size_t m);
  void extend(std::size_t m);
  void change();
  void take_away(bool by_operator);
  void freed();
  void stand_in_line(std::size_t m);
  void restored(std::uint64_t versions_lost);

  // An agent.
  void come_up(std::size_t m);
  void end_agent(std::size_t m);
  void post(const letter& l);
  void step(std::size_t m, const core::election_event& what);
  void carry_out(std::size_t m, const core::group_effects& out);
  void carry_out(std::size_t m, const core::command::acquire& c);
  void carry_out(std::size_t m, const core::command::release& c);
  void carry_out(std::size_t m, const core::command::watch& c);
  void carry_out(std::size_t m, const core::command::arm& c);
  void carry_out(std::size_t m, const core::command::start_workload& c);
  void carry_out(std::size_t m, const core::command::stop_workload& c);
  void carry_out(std::size_t m, const core::command::transition& c);
  void carry_out(std::size_t, const core::command::publish&) {}
  void carry_out(std::size_t, const core::command::forget_grants&) {}
  void carry_out(std::size_t, const core::command::announce&) {}
  void carry_out(std::size_t, const core::command::stand_in_line&) {}
  void carry_out(std::size_t m, const core::command::finished&);
  void renew(std::size_t m, const core::command::renew& c);
  void send(std::size_t m, mail what, core::attempt number, core::version version,
            bool clean = false);
  void granted(std::size_t m, const letter& l);
  void renewed(std::size_t m, const letter& l);
  void see(std::size_t m);

  // A guard.
  void guard_does(std::size_t m, const core::guard_actions& todo, core::time_point at);
  void report_to(std::size_t m, const report& what);
  void died(std::size_t m);

  // The rules.
  void violated(rule what);
  void began_term(std::size_t m, core::version version, core::time_point sent_at);
  void acknowledged(std::size_t m, core::version version, core::time_point sent_at, bool in_time);
  void told_lost(std::size_t m, core::version version, bool in_time);
  [[nodiscard]] bool claims(std::size_t m) const;
  void note_removal(std::size_t m, core::version version);
  void forget_removals(std::size_t m);
  [[nodiscard]] const removal* removed(std::size_t m, core::version version) const;
  [[nodiscard]] bool is_unaware(std::size_t m) const;
  [[nodiscard]] bool is_excused(std::size_t m) const;
  void judge_transition(std::size_t m, const core::command::transition& how);
  [[nodiscard]] bool sleeps_for_ever(std::size_t m) const;
  void judge_grant(std::size_t m);
  void judge_release(std::size_t m, core::version version);
  void judge_campaign(std::size_t m);
  void judge_arm(std::size_t m, const core::command::arm& c);
  void judge_begin(std::size_t m);
  [[nodiscard]] bool fits_sleep(const ledger& k, core::loss_reason why) const;
  void note_pause(ledger& of, const core::command::transition& how) const;
  void judge_state();

  [[nodiscard]] core::moment moment() const { return {.now = now, .entropy = 0}; }
  [[nodiscard]] const core::election& election(std::size_t m) const {
    return all[m].agent->at(core::election_index{0});
  }
};

}  // namespace tenure::explore
