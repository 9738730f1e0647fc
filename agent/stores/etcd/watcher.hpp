#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "stores/document_splitter.hpp"
#include "stores/etcd/cluster.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/etcd/mirror.hpp"
#include "stores/watch_budget.hpp"

namespace tenure::stores::etcd {

/// Keeps the mirrors of all elections up to date: reads them, then watches from there, on a stream
/// of its own. When that breaks, or moves to another endpoint, the watcher starts again by itself.
///
/// A silent stream may be dead: a stopped endpoint keeps its connections open. So the watcher asks
/// for the progress now and then, on the stream itself, and expects the answer there before it asks
/// again.
///
/// Used on its loop only. No handler is called after its destruction.
class watcher {
 public:
  struct handlers {
    std::function<void(core::election_index)> changed;  ///< its mirror may show something new
    std::function<void()> live;                         ///< all mirrors are followed again
    std::function<void(call_failure)> broken;  ///< an attempt to (re)connect has failed, and why
    std::function<void()> heard;  ///< the mirrors show what etcd holds as of now; may be empty
  };

  watcher(base::event_loop& where, cluster& through, std::vector<mirror>& mirrors,
          const std::vector<key_range>& ranges, core::duration check_every, handlers on);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Connects now, and drops the present connection.
  void connect();

  /// Ends the connection; no handler is called afterwards.
  void close();

  /// True while every event is on its way to the mirrors.
  [[nodiscard]] bool live() const { return live_; }

  /// True if `await` works with the version of the server at the other end of the stream.
  [[nodiscard]] bool tells_progress() const { return live_ && tells_progress_; }
  void tells_progress(bool reliably) { tells_progress_ = reliably; }

  /// Calls `reached` once the mirrors contain all events up to `revision`; never, if the stream
  /// breaks first. Precondition: `tells_progress`, which may change whenever a call ends.
  void await(std::uint64_t revision, std::move_only_function<void()> reached);

  /// The cluster's id, once connected.
  [[nodiscard]] std::uint64_t cluster_id() const { return cluster_id_; }

 private:
  void drop_stream();
  void read_from(std::size_t first);
  void open_stream();
  void take(std::string_view piece);
  void take(const watch_reply& what);
  void confirm(std::size_t which);
  void progressed(std::uint64_t revision);
  void check_later();
  void check();
  void fail(call_failure what);
  void fail(const gateway_error& what, std::string_view doing);

  base::event_loop& loop_;
  cluster& cluster_;
  std::vector<mirror>& mirrors_;
  const std::vector<key_range>& ranges_;
  core::duration check_every_;
  handlers on_;
  std::unique_ptr<http::http_stream> stream_;
  watch_budget taken_;  ///< what streams may send, see `take`
  document_splitter documents_;
  /// Ends a pause or the wait for a new stream, or starts the next check.
  base::timer next_;
  std::vector<bool> created_;  ///< watches of the stream that etcd has confirmed
  bool heard_ = false;         ///< since the last request for progress
  std::uint64_t read_at_ = 0;  ///< the revision of the reads before the watch
  bool reached_ = false;       ///< what the stream shows has reached `read_at_`
  std::uint32_t failures_ = 0;
  core::time_point live_since_{};
  std::uint64_t generation_ = 0;
  std::uint64_t cluster_id_ = 0;
  bool live_ = false;
  bool tells_progress_ = false;
  struct awaited {
    std::uint64_t revision;
    std::move_only_function<void()> reached;
  };
  std::vector<awaited> awaited_;  ///< on this stream
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tenure::stores::etcd
