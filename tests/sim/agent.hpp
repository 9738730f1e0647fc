#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "core/lease_group.hpp"
#include "guarded_workload.hpp"
#include "network.hpp"
#include "record_judge.hpp"
#include "stage.hpp"

namespace tenure::sim {

/// What a step has done that others should know.
struct news {
  bool tempting = false;  ///< a bad moment for a fault, so faults lie in wait for it
  bool finished = false;
};

/// One agent process: core's machines, and what the runtime and the store's client do for them.
class agent {
 public:
  agent(stage& s, network& n, machine_clock clock, std::uint8_t pod, std::uint16_t identity,
        std::uint32_t process, std::span<guarded_workload> guards);
  ~agent() { stage_.judge.agent_ended(pod_); }
  agent(const agent&) = delete;
  agent& operator=(const agent&) = delete;

  /// `session_was_used`: by an earlier agent, as their guard says.
  void start(bool session_was_used);
  void timer();
  void receive(const message& m);
  void hears(const entry& e);
  void open_watch(std::size_t election);
  void stream_broke(const entry& e);
  /// From the API, a signal or a health check.
  void tell(std::size_t election, const core::election_event& what, core::loss_reason why);
  /// After a pause: timers fire when the process is scheduled again.
  void continued();

  [[nodiscard]] std::uint16_t identity() const { return identity_; }
  [[nodiscard]] bool campaigns() const { return !stage_.drawn.observes[pod_]; }
  /// All elections have ended.
  [[nodiscard]] bool done() const { return finished_ == stage_.drawn.elections; }
  /// What has happened since the last call.
  news take_news();

 private:
  /// The store client's part of one election.
  struct client {
    std::uint32_t stream = 0;
    record_judge judge;
    bool known = false;       ///< of the record: it was seen
    message record;           ///< as last seen
    core::attempt acquire{};  ///< in flight
    core::time_point deadline{};
    core::version above = core::no_version;
    core::attempt release{};  ///< in flight
    core::time_point release_deadline{};
    bool release_clean = false;
    bool asks_own = false;  ///< the release waits to hear which term it is about
  };

  void step(std::size_t election, const core::election_event& what);
  void carry_out();
  void carry_out(std::size_t e, const core::command::acquire& c);
  void carry_out(std::size_t e, const core::command::release& c);
  void carry_out(std::size_t e, const core::command::watch& c);
  void carry_out(std::size_t e, const core::command::arm& c);
  void carry_out(std::size_t e, const core::command::start_workload& c);
  void carry_out(std::size_t e, const core::command::stop_workload& c);
  void carry_out(std::size_t e, const core::command::transition& c);
  void carry_out(std::size_t, const core::command::publish&) {}
  void carry_out(std::size_t e, const core::command::forget_grants& c) {
    guards_[e].forget_grants(c.before);
  }
  void carry_out(std::size_t e, const core::command::announce& c);
  void carry_out(std::size_t, const core::command::stand_in_line&) {}
  void carry_out(std::size_t e, const core::command::finished& c);
  void renew(const core::command::renew& c);

  void try_record(std::size_t e);
  void release(std::size_t e, core::version version);
  void told_own(const message& m);
  void released(const message& m);
  void saw_record(const message& m);
  void granted(const message& m);
  void refused(const message& m);
  void renewed(const message& m);
  void shown(const message& m);
  void failed(const message& m);

  static core::election_index place(std::size_t e) {
    return core::election_index{static_cast<std::uint32_t>(e)};
  }
  [[nodiscard]] bool keeps_records() const { return stage_.drawn.family == store_family::record; }
  [[nodiscard]] core::moment moment() { return {.now = now_, .entropy = stage_.dice.bits()}; }
  [[nodiscard]] message request(mail kind, std::size_t e) const;
  void set_timer();

  stage& stage_;
  network& network_;
  machine_clock clock_;
  std::uint8_t pod_;
  std::uint16_t identity_;
  std::uint32_t process_;
  std::span<guarded_workload> guards_;

  core::lease_group machine_;
  core::group_effects effects_;
  core::election_event observed_;  ///< reused: an observation owns memory
  core::time_point now_{};
  std::array<client, max_elections> clients_{};
  core::attempt renewal_{};
  core::time_point renewal_deadline_{};
  world_time timer_at_ = world_never;
  std::uint32_t finished_ = 0;
  news news_;
};

}  // namespace tenure::sim
