#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "core/clock.hpp"
#include "stores/kubernetes/cluster.hpp"
#include "stores/kubernetes/codec.hpp"
#include "stores/kubernetes/document_stream.hpp"

namespace tenure::stores::kubernetes {

/// Which Leases to watch, and from where on.
struct watch_request {
  std::string path;
  std::string selector;       ///< the query's, percent-encoded; empty: all Leases
  std::uint64_t version = 0;  ///< what comes after it is shown
  core::duration lasts{};     ///< then the server ends it
};

/// One watch at one API server, from its request to its end.
///
/// Used on its loop only. No handler is called after its destruction, which may happen in any of
/// them, nor from within the constructor.
class lease_stream {
 public:
  struct handlers {
    /// Every change from the version on is on its way.
    std::function<void(lease_stream&)> confirmed;
    /// Changes and bookmarks in their order, and how many bytes that took.
    std::function<void(lease_stream&, std::span<const watch_event>, std::size_t)> shows;
    std::function<void(lease_stream&, const call_failure&)> ended;  ///< once, last
  };

  /// The server must confirm by the deadline.
  lease_stream(cluster& through, const watch_request& what, core::time_point deadline, handlers on);
  ~lease_stream();
  lease_stream(const lease_stream&) = delete;
  lease_stream& operator=(const lease_stream&) = delete;

  [[nodiscard]] bool is_confirmed() const { return stream_.is_confirmed(); }

  /// Reads nothing for this long. Call from within `handlers::shows`.
  void pause(core::duration how_long) { stream_.pause(how_long); }

 private:
  void take(std::span<const std::string> documents, std::size_t bytes);

  cluster& cluster_;
  handlers on_;
  document_stream stream_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::kubernetes
