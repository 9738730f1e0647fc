#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/guard.hpp"
#include "core/session.hpp"
#include "judge.hpp"
#include "modelled_network.hpp"
#include "process.hpp"
#include "stores/store.hpp"

namespace tenure::shell {

/// What the members of one world have in common.
struct stage {
  world& in;
  modelled_etcd& servers;
  modelled_network& network;
  judge& referee;
  core::timing when;
  std::vector<std::string> elections;
};

/// The workload of one election in one pod, with its guard: another process on the same clock.
class workload {
 public:
  workload(stage& s, machine_clock clock, std::size_t pod, std::string election)
      : stage_(s), clock_(clock), pod_(pod), election_(std::move(election)) {}

  void arm(core::version term, core::time_point stop_at, core::time_point kill_at);
  void start(core::version term);
  void stop(core::time_point kill_by);
  /// The pod is gone, with all that is in it.
  void vanish();
  /// It ends by itself.
  void exit();

  [[nodiscard]] bool alive() const { return alive_; }
  /// Who hears that it has started or ended; null: nobody.
  std::function<void(std::optional<core::version> started)> reports;

 private:
  void carry_out(const core::guard_actions& todo);
  void set_timer();
  void dies_in(core::duration wait);
  void died();
  [[nodiscard]] core::time_point now() const { return clock_.local(stage_.in.now); }

  stage& stage_;
  machine_clock clock_;
  std::size_t pod_;
  std::string election_;
  core::guard guard_;
  bool alive_ = false;
  bool ignores_term_ = false;
  std::uint64_t instance_ = 0;
  world_time dies_at_ = sim::world_never;
  world_time timer_at_ = sim::world_never;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

/// One agent process: the store's client that ships, `core::session`, and between them what the
/// election driver does.
class member {
 public:
  member(stage& s, machine_clock clock, std::size_t pod, std::uint32_t incarnation,
         std::vector<std::unique_ptr<workload>>& workloads);
  ~member();
  member(const member&) = delete;
  member& operator=(const member&) = delete;

  void pause() { loop_->pause(); }
  void go_on() { loop_->go_on(); }
  void resign(std::size_t election, core::duration aside);

  [[nodiscard]] const core::election_view& view(std::size_t election) const {
    return session_.at(index(election)).view();
  }
  [[nodiscard]] bool opened() const { return session_.size() > 0; }
  /// What its watch shows, if it works: versions of holders.
  [[nodiscard]] std::optional<std::vector<std::uint64_t>> shown(std::size_t election) const {
    return shown_[election];
  }

 private:
  static core::election_index index(std::size_t election) {
    return core::election_index{static_cast<std::uint32_t>(election)};
  }
  void opened_store();
  void step(std::size_t e, const core::election_event& what);
  void carry_out();
  void carry_out(std::size_t e, const core::command::acquire& c);
  void carry_out(std::size_t e, const core::command::release& c);
  void carry_out(std::size_t e, const core::command::watch& c);
  void carry_out(std::size_t e, const core::command::arm& c);
  void carry_out(std::size_t e, const core::command::start_workload& c);
  void carry_out(std::size_t e, const core::command::stop_workload& c);
  void carry_out(std::size_t e, const core::command::transition& c);
  void carry_out(std::size_t, const core::command::publish&) {}
  void carry_out(std::size_t, const core::command::forget_grants&) {}
  void carry_out(std::size_t, const core::command::finished&) {}
  void renew(const core::command::renew& c);
  void open_watch(std::size_t e);
  void believes(std::size_t e, core::version term, core::time_point sent_at, core::duration ttl);
  [[nodiscard]] core::moment moment() {
    return {.now = loop_->now(), .entropy = loop_->random_bits()};
  }

  stage& stage_;
  std::size_t pod_;
  std::vector<std::unique_ptr<workload>>& workloads_;
  std::shared_ptr<process> loop_;
  core::session session_;
  core::session_effects effects_;
  std::vector<std::optional<std::vector<std::uint64_t>>> shown_;
  std::vector<core::version> entered_;
  std::unique_ptr<stores::store> store_;
  std::vector<std::unique_ptr<base::timer>> watch_timers_;
  base::timer timer_;
};

}  // namespace tenure::shell
