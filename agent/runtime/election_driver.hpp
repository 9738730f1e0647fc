#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock_reading.hpp"
#include "base/event_loop.hpp"
#include "core/lease_group.hpp"
#include "runtime/clock_watch.hpp"
#include "runtime/due_watches.hpp"
#include "runtime/election_host.hpp"
#include "runtime/election_listener.hpp"
#include "runtime/election_workload.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Turns the elections of one agent. It feeds them events of the store, the workload, orders and
/// time, and carries out the commands with which they answer: on the store, on the workload, and as
/// timers. It decides nothing about leases itself; `core::election` does.
///
///     store, workload, orders, time --events--> core::lease_group
///
///     core::lease_group --commands--> store, election_workload, timer
///                       --reports---> election_listener (log, metrics, API)
///                       --the rest--> election_host (an election is over, an order was left)
///
/// Everything happens on one loop, which outlives the driver, as does the store. In the simulator,
/// that loop has virtual time; the rest is the code that ships.
class election_driver {
 public:
  using clock_reader = std::function<base::clock_reading()>;

  /// The objects for which it turns the elections. They outlive it.
  struct parties {
    election_workload& workload;
    election_listener& listener;
    election_host& host;
  };

  election_driver(base::event_loop& on, clock_reader clocks, const core::timing& when,
                  const parties& with);
  election_driver(const election_driver&) = delete;
  election_driver& operator=(const election_driver&) = delete;

  /// The events with which an election begins; `event::started` is the last of them.
  using beginning = std::vector<core::election_event>;

  /// Begins with these elections, in the order of `stores::setup::elections`. Call once. Events
  /// fed before come after `first`.
  void begin(stores::store& of, std::vector<core::election_settings> elections,
             const beginning& first);

  /// Feeds an event to one election, or to all of them. Kept until `begin`, ignored after `end`.
  /// From within a call that the driver makes, it is kept until all commands of the present step
  /// are carried out.
  void feed(core::election_index which, const core::election_event& what);
  void feed_all(const core::election_event& what);

  /// Stops feeding the elections, and asks nothing more of the store and the workload. Close the
  /// store next.
  void end();

  [[nodiscard]] const core::lease_group& elections() const { return group_; }
  /// True from `begin` on.
  [[nodiscard]] bool begun() const { return group_.size() > 0; }

 private:
  void step(core::election_index which, const core::election_event& what);
  void take(std::optional<core::election_index> which, const core::election_event& what);
  void turn();
  void carry_out();
  void set_timer();
  void carry_out(core::election_index which, const core::command::acquire& c);
  void carry_out(core::election_index which, const core::command::release& c);
  void carry_out(core::election_index which, const core::command::watch& c);
  void carry_out(core::election_index which, const core::command::arm& c);
  void carry_out(core::election_index which, const core::command::start_workload& c);
  void carry_out(core::election_index which, const core::command::stop_workload& c);
  void carry_out(core::election_index which, const core::command::transition& c);
  void carry_out(core::election_index which, const core::command::publish& c);
  void carry_out(core::election_index which, const core::command::forget_grants& c);
  void carry_out(core::election_index which, const core::command::announce& c);
  void carry_out(core::election_index which, const core::command::stand_in_line& c);
  void carry_out(core::election_index which, const core::command::finished& c);
  void renew(const core::command::renew& c);
  void open_watch(core::election_index which);
  void watch_says(core::election_index which,
                  std::variant<core::observation, stores::unknown> what);
  [[nodiscard]] core::moment moment();
  [[nodiscard]] core::moment present();
  void look_at_clocks();

  base::event_loop& loop_;
  clock_reader read_clocks_;
  parties with_;
  stores::store* store_ = nullptr;

  core::lease_group group_;
  core::group_effects effects_;
  std::uint64_t entropy_;
  clock_watch clocks_;
  base::timer timer_;
  core::time_point next_turn_{};  ///< the latest one, even if nothing happens
  due_watches watches_;           ///< to be opened, or opened again
  /// True while `effects_` is being filled or carried out.
  bool busy_ = false;
  /// Events fed before `begin` or while busy; without an index, for all elections.
  std::vector<std::pair<std::optional<core::election_index>, core::election_event>> waiting_;
  bool ended_ = false;
};

}  // namespace tenure::runtime
