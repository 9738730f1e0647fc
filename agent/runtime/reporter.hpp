#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "api/snapshot.hpp"
#include "core/store_contact.hpp"
#include "log/repeats.hpp"
#include "metrics/instruments.hpp"
#include "runtime/election_driver.hpp"
#include "runtime/election_lines.hpp"
#include "runtime/election_listener.hpp"
#include "runtime/history.hpp"
#include "runtime/member_log.hpp"
#include "runtime/snapshots.hpp"
#include "runtime/store_outage.hpp"
#include "settings/agent.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Reports of the elections: log lines, counters, and the state that the API and the page show.
///
/// On the election thread only. Other threads read what it publishes.
class reporter final : public election_listener {
 public:
  struct parts {
    base::event_loop& loop;
    election_driver::clock_reader read_clocks;
    const settings::agent& settings;
    const std::vector<settings::election>& elections;
    log::logger& to;
    metrics::instruments& instruments;
    api::published& published;
    snapshots& shown;
    /// How this order stops the workload.
    std::function<term_end(const core::command::stop_workload&)> way_to_stop;
    /// A watch shows something, so the store can be reached.
    std::function<void()> watch_works;
  };
  explicit reporter(parts with);
  reporter(const reporter&) = delete;
  reporter& operator=(const reporter&) = delete;

  /// The driver of the elections. Call before its loop runs.
  void follow(const election_driver& which) { driver_ = &which; }

  // Events that do not pass through the driver.
  void heard(const core::contact_event& what);
  void store_reached(const stores::description& what);
  /// Before the elections begin.
  void elections_open();
  void stopping();
  /// Something else that is shown has changed: publish it with the next step.
  void changed() { dirty_ = true; }
  void changed(core::election_index which);
  /// Publishes at once.
  void publish();
  [[nodiscard]] const core::store_contact& contact() const { return contact_; }
  [[nodiscard]] log::speaker speaker_of(core::election_index which) const;

  void store_answered(store_request what) override;
  void store_failed(store_request what, const std::string& why) override;
  void watch_shows(core::election_index which, const core::observation& what) override;
  void watch_broke(core::election_index which, const std::string& why) override;
  void renewed(std::optional<core::duration> margin) override;
  void held_back(core::election_index which, const core::held_back& before) override;
  void view_changed(core::election_index which) override { changed(which); }
  void phase_changed(core::election_index which, const core::command::transition& what,
                     const core::command::stop_workload* stop) override;
  void releasing(core::election_index which) override;
  void release_failed(core::election_index which) override;
  void clocks_jumped(const clock_news& what) override;
  void workload_is_next() override { publish_news(); }
  void step_ended() override;
  void turned(core::time_point now) override { with_.published.beat(now); }

 private:
  void publish_news();
  std::optional<api::outage> note_term(core::election_index which,
                                       const core::command::transition& what);
  [[nodiscard]] const core::election& election(core::election_index which) const {
    return driver_->elections().at(which);
  }
  [[nodiscard]] circumstances now() const;
  [[nodiscard]] std::int64_t wall_ms() const;
  [[nodiscard]] api::instant instant() const {
    return {.now = with_.loop.now(), .unix_ms = wall_ms()};
  }
  [[nodiscard]] std::optional<core::duration> safe_for() const;

  parts with_;
  const election_driver* driver_ = nullptr;
  std::vector<history> histories_;       ///< per election
  std::vector<member_log> member_logs_;  ///< per election
  std::vector<election_lines> lines_;    ///< per election
  core::store_contact contact_;
  store_outage outage_;
  log::repeats repeats_;
  bool contact_is_news_ = false;  ///< it changed, and is about to be published
  bool stopping_ = false;
  bool dirty_ = false;  ///< there is something to publish
};

}  // namespace tenure::runtime
