#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/snapshot.hpp"
#include "core/lease_group.hpp"
#include "stores/store.hpp"

namespace tenure::runtime {

/// Copies what the election thread knows into what serving threads may read.
class snapshots {
 public:
  /// `agent` names this run of it.
  snapshots(api::published& onto, std::string agent, std::string identity, std::string store,
            std::vector<settings::election> elections, bool owns_workload, bool campaigns);

  void store_opened(std::string cluster_id);
  void stopping();
  void guard_gone();
  void health(api::health_report what);
  /// What the session says of an election has changed; `publish` is to follow.
  void changed(core::election_index which);
  /// The phase of an election has changed at this wall-clock time.
  void phase_changed(core::election_index which, std::int64_t unix_ms);
  /// It did that by this transition.
  void transition(core::election_index which, const core::command::transition& what);
  /// The watch of an election shows something. True if that makes `publish` necessary, whatever
  /// the session makes of it.
  bool watch_showed(core::election_index which, core::time_point now);
  /// What is known of the terms of an election has changed; `publish` is to follow.
  void terms_changed(core::election_index which, std::shared_ptr<const api::term_list> terms);
  /// Who takes part no more has changed; `publish` is to follow.
  void members_gone(core::election_index which, std::shared_ptr<const api::gone_list> gone);
  /// The watch of an election broke.
  void watch_broke(core::election_index which);
  /// How the store answers, as far as it is known now.
  void contact(const core::store_contact& what) { next_.contact = what; }
  /// True if what the watch of an election has shown is what is so at `now`.
  [[nodiscard]] bool is_vouched_for(core::election_index which, core::time_point now) const;
  /// Publishes what has changed in `from`, and numbers it. Empty sessions show their elections as
  /// not begun.
  void publish(const core::lease_group& from, core::time_point now);

 private:
  void number(core::time_point now);

  api::published& onto_;
  api::snapshot next_;
  std::shared_ptr<const api::snapshot> published_;  ///< last; null: nothing was
  std::vector<core::election_index> changed_;
};

}  // namespace tenure::runtime
