#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/lease_group.hpp"
#include "core/vocabulary.hpp"
#include "kube/api_server.hpp"
#include "kube/container_end.hpp"
#include "log/logger.hpp"
#include "settings/agent.hpp"

namespace tenure::kube {

/// Watches the pods of the members that hold, each by its name, which is the member's identity.
/// Tells when the kubelet shows that the container ended in which the workload of a present term
/// ran, and with it all that ran under this term (docs/safety.md).
///
/// A term is left to run out if it is seen first, or seen again, after its container has ended, or
/// after a later term: a store that was restored shows terms of before, whose successors may still
/// run.
///
/// On the election thread only. No lease and no workload waits for it.
class container_witness {
 public:
  struct parts {
    base::event_loop& loop;
    api_server& through;
    const settings::agent& settings;
    log::logger& to;
    /// This term is over. Called again and again while the store shows it; must not call the
    /// witness.
    std::function<void(core::election_index, const core::holder&)> ended;
  };

  explicit container_witness(parts with);
  ~container_witness();
  container_witness(const container_witness&) = delete;
  container_witness& operator=(const container_witness&) = delete;

  /// The store shows these holders; `waits`: this member would take the place of one.
  void look(core::election_index which, const std::vector<core::holder>& holders, bool waits);

  /// What the store shows is not known for a while.
  void lost_sight(core::election_index which) { look(which, {}, false); }

  /// Ends everything; nothing is called afterwards.
  void close();

 private:
  struct watched;
  struct term {
    core::holder its;
    std::string last_words;
    bool is_stale = false;  ///< it is left to run out
  };

  void follow(const std::string& pod);
  void shows(const std::string& pod, std::string_view document);
  void broke(const std::string& pod, const api_failure& why);
  void compare(const std::string& pod);
  [[nodiscard]] const container_end* end_of(const term& what) const;

  parts with_;
  /// Terms of others, by election; none where we do not wait.
  std::map<core::election_index, std::vector<term>> terms_;
  std::map<core::election_index, core::version> newest_;  ///< that was ever shown, ours too
  std::map<std::string, std::unique_ptr<watched>> pods_;  ///< by name
  bool said_blind_ = false;
};

}  // namespace tenure::kube
