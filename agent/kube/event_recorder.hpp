#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "kube/api_server.hpp"
#include "kube/event_note.hpp"
#include "log/logger.hpp"
#include "settings/kubernetes.hpp"

namespace tenure::kube {

/// Writes Events (events.k8s.io/v1) on this pod, and on the Lease of the election where the leases
/// are in this cluster.
///
/// Each is sent once. One that is not written is missed by nobody but people, so nothing is tried
/// again; that our ServiceAccount may not write any is said once.
class event_recorder {
 public:
  /// While so many are not answered, further ones are left out.
  static constexpr std::size_t most_under_way = 16;

  struct parts {
    base::event_loop& loop;
    api_server& through;
    const settings::kubernetes& its;
    std::string lease_namespace;
    std::string identity;
    log::logger& to;
    std::function<std::int64_t()> unix_ms;  ///< the wall clock
    core::duration patience;                ///< how long one request may take
  };

  explicit event_recorder(parts with) : with_(std::move(with)) {}
  event_recorder(const event_recorder&) = delete;
  event_recorder& operator=(const event_recorder&) = delete;

  /// `lease`: the name of the Lease.
  void record(event_note what, const std::string& lease);

  /// True if no Event is under way.
  [[nodiscard]] bool is_settled() const { return under_way_ == 0; }
  /// Calls this each time when one has been written, or has not. Empty: no more.
  void on_answer(std::function<void()> what) { answered_ = std::move(what); }

 private:
  void find_lease(const event_note& what, const std::string& lease);
  void write(const event_note& what, const event_subject& about);
  void answered(const event_subject& about, const api_reply& what);

  parts with_;
  event_limit limit_{};
  std::function<void()> answered_{};
  std::size_t under_way_ = 0;
  bool said_forbidden_ = false;
};

}  // namespace tenure::kube
