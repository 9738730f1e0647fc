#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/snapshot.hpp"
#include "core/lease_group.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Copies the election thread's knowledge into snapshots for serving threads.
class snapshots {
 public:
  struct owner {
    std::string agent;  ///< names this run of the agent
    std::string identity;
    std::string store;
    std::int64_t started_unix_ms;  ///< by the wall clock
  };
  snapshots(api::published& onto, owner whose, std::vector<settings::election> elections,
            bool campaigns);

  /// Nobody starts or stops a workload. Call before the first `publish`.
  void clients_are_the_workload();
  void store_opened(std::string cluster_id);
  void stopping();
  void guard_gone();
  void health(api::health_report what);
  /// The state of an election has changed; call `publish` later.
  void changed(core::election_index which);
  /// The phase of an election has changed at this wall-clock time.
  void phase_changed(core::election_index which, std::int64_t unix_ms);
  /// The transition of that change.
  void transition(core::election_index which, const core::command::transition& what);
  /// The watch of an election shows something. True if `publish` is necessary, even if the
  /// election ignores it.
  bool watch_showed(core::election_index which, core::time_point now);
  /// The known terms of an election have changed; call `publish` later.
  void terms_changed(core::election_index which, std::shared_ptr<const api::term_list> terms);
  /// The list of gone members has changed; call `publish` later.
  void members_gone(core::election_index which, std::shared_ptr<const api::gone_list> gone);
  /// The watch of an election broke.
  void watch_broke(core::election_index which);
  /// The store's contact, as far as it is known now.
  void contact(const core::store_contact& what) { next_.contact = what; }
  /// True if the state that the watch of an election has shown is confirmed at `now`.
  [[nodiscard]] bool is_vouched_for(core::election_index which, core::time_point now) const;
  /// Publishes and numbers the changes in `from`. An empty group shows its elections as not
  /// begun.
  void publish(const core::lease_group& from, core::time_point now);

 private:
  void number(core::time_point now);

  api::published& onto_;
  api::snapshot next_;
  std::shared_ptr<const api::snapshot> published_;  ///< null: nothing was published yet
  std::vector<core::election_index> changed_;
};

}  // namespace tenure::runtime
