#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/event_loop.hpp"
#include "core/election.hpp"
#include "core/lease_group.hpp"
#include "kube/api_server.hpp"
#include "kube/event_recorder.hpp"
#include "kube/traffic_driver.hpp"
#include "log/logger.hpp"
#include "settings/agent.hpp"

namespace tenure::kube {

/// Tells Kubernetes what this member is: names its pod as the active one, and writes Events.
///
/// On the election thread only. No lease and no workload waits for it.
class announcer {
 public:
  struct parts {
    base::event_loop& loop;
    api_server& through;
    const settings::agent& settings;
    log::logger& to;
    std::function<traffic_wish()> wanted;               ///< by the only election
    std::function<void(bool)> named;                    ///< whether this pod is named has changed
    std::function<void()> failed;                       ///< a request about traffic has failed
    std::function<std::int64_t()> unix_ms;              ///< the wall clock
    core::duration patience = std::chrono::seconds(5);  ///< how long one request may take
  };

  /// Precondition: the settings use it.
  explicit announcer(parts with);
  ~announcer();
  announcer(const announcer&) = delete;
  announcer& operator=(const announcer&) = delete;

  /// Puts right what an earlier agent of this pod has left, and asks whether our ServiceAccount may
  /// do what the settings need.
  void begin();

  /// Something in an election has changed.
  void look();

  /// An election has changed its phase.
  void phase_changed(core::election_index which, const core::election& one,
                     const core::command::transition& what);

  /// Calls `done` once, as soon as all that was to be told is told, or at `deadline`. Not from
  /// within this call.
  void settle(core::time_point deadline, std::function<void()> done);

  /// Ends everything; nothing is called afterwards.
  void close();

 private:
  void check_rights();
  void settled();
  [[nodiscard]] bool is_settled() const;

  parts with_;
  std::optional<traffic_driver> traffic_;
  std::optional<event_recorder> events_;
  std::map<core::election_index, core::version> active_;  ///< gains that were told
  base::timer patience_;
  std::function<void()> when_settled_{};
};

}  // namespace tenure::kube
