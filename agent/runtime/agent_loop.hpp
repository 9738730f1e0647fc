#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/signal_set.hpp>
#include <cstdint>
#include <expected>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/service.hpp"
#include "api/snapshot.hpp"
#include "core/session.hpp"
#include "core/store_contact.hpp"
#include "metrics/instruments.hpp"
#include "net/asio_loop.hpp"
#include "runtime/agent.hpp"
#include "runtime/clock_watch.hpp"
#include "runtime/election_lines.hpp"
#include "runtime/fresh_reads.hpp"
#include "runtime/health_monitor.hpp"
#include "runtime/history.hpp"
#include "runtime/hooked_workload.hpp"
#include "runtime/lines.hpp"
#include "runtime/log.hpp"
#include "runtime/member_log.hpp"
#include "runtime/order_relay.hpp"
#include "runtime/orders.hpp"
#include "runtime/repeats.hpp"
#include "runtime/snapshots.hpp"
#include "runtime/store_outage.hpp"
#include "stores/store.hpp"
#include "workload/guard_dialer.hpp"
#include "workload/guard_link.hpp"
#include "workload/workload_owner.hpp"

namespace tenure::runtime {

/// The election thread: turns what store, guard, signals and time bring into events for the
/// session, and carries out its commands. Decides nothing about leases itself.
///
/// Single-threaded: everything happens on `io_`, which `run` turns.
class agent_loop {
 public:
  agent_loop(agent_options options, log& to);
  ~agent_loop();
  agent_loop(const agent_loop&) = delete;
  agent_loop& operator=(const agent_loop&) = delete;

  /// Runs until everything is released and closed. Returns the status to exit with.
  int run();

 private:
  // Start and end.
  bool open_guard();
  void count_adoption(core::election_index which, const core::command::transition& what);
  void open_hooks();
  void open_told_workload();
  void open_store();
  void open_failed(const stores::open_error& why);
  bool serve();
  [[nodiscard]] std::string local_socket() const;
  bool give_way(const api::service_error& why, api::service_settings& with) const;
  [[nodiscard]] bool may_keep_port() const;
  void say_if_moved() const;
  void store_opened(std::expected<stores::description, stores::open_error> what);
  void store_reached(const stores::description& what);
  void listen_for_signals();
  void shut_down(int signo, core::loss_reason why = core::loss_reason::shutdown);
  void end(int status, bool as_workload = false);

  // What comes in.
  void from_guard(const workload::guard_event& what);
  void dialed(workload::guard_fds with);
  void dialed(const workload::no_guard& what);
  void on(const workload::guard_ready& what);
  void on(const workload::guard_unusable& what);
  void on(const workload::workload_started& what);
  void on(const workload::start_refused& what);
  void on(const workload::start_failed& what);
  void on(const workload::workload_survives& what);
  void on(const workload::workload_exited& what);
  void on(const workload::workload_doubtful& what);
  void on(const workload::signalled& what);
  void on(const workload::guard_gone& what);
  void on(const workload::guard_hangs& what);
  void on(const workload::guard_recovers& what);
  void from_hooks(const hook_event& what);
  void on(const hooks_ready& what);
  void on(const workload_told& what);
  void on(const workload_not_told& what);
  void on(const stop_way_failed& what);
  void on(const workload_obeyed& what);
  void on(const workload_defied& what);
  void on(const workload_lapsed& what);
  void on(const agent_must_end& what);
  void guard_returned(const workload::guard_ready& what);
  void workload_runs(core::version term);
  void without_guard(bool hangs);
  void lose_guard(bool workload_in_sight);
  void let_lease_run_out();
  [[nodiscard]] bool may_leave_workload() const;
  void begin_to_leave();
  void leave_if_time();
  void from_watch(core::election_index which,
                  std::variant<core::observation, stores::unknown> what);
  void health_changed();
  void hear(const core::contact_event& what);
  void turn();
  void feed(core::election_index which, const core::election_event& what);
  void step(core::election_index which, const core::election_event& what);

  // What goes out.
  void carry_out();
  void carry_out(core::election_index which, const core::command::acquire& c);
  void carry_out(core::election_index which, const core::command::release& c);
  void carry_out(core::election_index which, const core::command::watch& c);
  void carry_out(core::election_index which, const core::command::arm& c);
  void carry_out(core::election_index which, const core::command::start_workload& c);
  void carry_out(core::election_index which, const core::command::stop_workload& c);
  void carry_out(core::election_index which, const core::command::transition& c);
  void carry_out(core::election_index which, const core::command::publish& c);
  void carry_out(core::election_index which, const core::command::forget_grants& c);
  void carry_out(core::election_index which, const core::command::finished& c);
  void renew(const core::command::renew& c);
  void agree(core::election_index which, const core::order& what, api::control_handler done);
  void ordered(core::election_index which, core::order what, api::control_handler done);
  [[nodiscard]] std::expected<core::left_order, api::control_refusal> addressed_to(
      core::election_index which, core::order what) const;
  [[nodiscard]] std::optional<api::control_refusal> objection_to(
      core::election_index which, const core::left_order& what) const;
  [[nodiscard]] bool may_act(core::election_index which) const;
  void obey(core::election_index which, const core::left_order& what);
  void note_term(core::election_index which, const core::command::transition& what);
  void show_to_workload();
  void open_health();
  void tell_health(core::election_index which, const core::command::transition& what);
  void failed(store_request what, const std::string& why);
  void say(const stores::notice& what);
  void answered(store_request what);
  void set_timer();
  void open_watches(core::time_point now);
  void open_watch(core::election_index which);

  /// True if the guard is in another container, and has to be found.
  [[nodiscard]] bool has_door() const { return !options_.settings.guard_dir.empty(); }
  /// True if somebody else starts the workload, and the guard has to find it.
  [[nodiscard]] bool is_foreign() const { return options_.settings.target.given(); }
  /// True under `tenure exec`: the agent ends with its command.
  [[nodiscard]] bool has_command() const {
    return options_.has_guard && !has_door() && !is_foreign() && !has_hooks();
  }
  /// True if the workload is told by hooks, and nothing else stops it.
  [[nodiscard]] bool has_hooks() const { return options_.settings.hooks.any() && !is_foreign(); }
  /// As the core is told of it.
  [[nodiscard]] static core::event::workload_found event_of(const workload::found_workload& what);
  [[nodiscard]] std::optional<core::duration> safe_for() const;
  [[nodiscard]] circumstances circumstances_now() const;
  [[nodiscard]] term_end how_it_ends(core::election_index which) const;
  void say(core::election_index which, const core::command::transition& what);
  void say(core::election_index which, const core::command::stop_workload& what);
  void say(core::election_index which, const workload::workload_exited& what);
  void tell_guard_the_log(workload::guard_link& with) const;
  [[nodiscard]] std::optional<core::duration> renewal_margin() const;
  [[nodiscard]] core::moment moment();
  [[nodiscard]] core::moment present();
  void look_at_clocks();
  [[nodiscard]] std::string_view name_of(core::election_index which) const;
  [[nodiscard]] speaker speaker_of(core::election_index which) const;
  [[nodiscard]] std::vector<std::string> workload_environment(core::election_index which) const;
  [[nodiscard]] std::vector<std::string> names_for_workload() const;

  boost::asio::io_context io_{1};
  net::asio_loop loop_{io_.get_executor()};
  agent_options options_;
  log& log_;
  std::vector<stores::election_spec> elections_;

  core::session session_;
  core::session_effects effects_;
  std::uint64_t entropy_;

  metrics::instruments instruments_;
  api::board board_;
  snapshots snapshots_;
  std::vector<history> histories_;       ///< of each election
  std::vector<member_log> member_logs_;  ///< of each election
  fresh_reads fresh_reads_;
  orders orders_;
  order_relay order_relay_;
  std::unique_ptr<api::service> service_;
  /// Where a workload was told to find the agent before this one; 0: at no port.
  std::uint16_t told_api_port_ = 0;
  core::store_contact contact_;
  bool contact_is_news_ = false;  ///< and is about to be published
  std::unique_ptr<stores::store> store_;
  std::unique_ptr<workload::guard_dialer> dialer_;   ///< if it has to be found
  std::unique_ptr<workload::workload_owner> guard_;  ///< null: readers of our answers are it
  std::unique_ptr<health_monitor> health_;           ///< null: nothing is checked
  boost::asio::signal_set signals_;
  base::timer timer_;

  std::vector<core::time_point> watch_at_;  ///< when to open a watch (again); `never`: it is open
  core::time_point first_watch_ = core::never;  ///< no later than the first of these
  core::time_point next_beat_{};
  clock_watch clocks_;
  repeats failures_;
  std::vector<election_lines> lines_;  ///< of each election
  store_outage outage_;
  std::uint32_t unfinished_ = 0;  ///< elections that have not ended
  /// Whether a workload is left to another agent, and when.
  enum class leave : std::uint8_t { no, unless_guard_ends, with_next_renewal };
  leave leaving_ = leave::no;
  base::timer leave_timer_;
  base::timer opening_;            ///< the next try, where one has failed
  core::time_point dial_until_{};  ///< a guard that is there but busy is waited for until then
  std::string no_guard_;           ///< why there is none, as the log has said
  bool guard_here_ = false;
  int stop_signal_;
  bool store_reached_ = false;
  bool fit_ = true;     ///< as the elections were told last
  bool dirty_ = false;  ///< something new to publish
  bool shutting_down_ = false;
  bool ended_ = false;
  bool workload_ran_ = false;                      ///< in the term that is ending
  bool stop_ordered_ = false;                      ///< of what runs
  bool workload_is_killed_ = false;                ///< without its guard, as that is dead or hangs
  std::optional<workload::found_workload> found_;  ///< at our start
  bool session_was_used_ = false;                  ///< by agents before us, as the guard says
  core::version last_term_ = core::no_version;     ///< the newest that they were granted
  std::vector<core::election_event> early_;        ///< what came before the elections were there
  bool start_failed_ = false;
  bool lapsing_ = false;       ///< nothing has stopped the workload, and its lease runs out
  std::optional<int> status_;  ///< the first reason to end decides
};

}  // namespace tenure::runtime
