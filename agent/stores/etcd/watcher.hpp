#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "stores/etcd/cluster.hpp"
#include "stores/etcd/document_splitter.hpp"
#include "stores/etcd/layout.hpp"
#include "stores/etcd/mirror.hpp"

namespace tenure::stores::etcd {

/// Keeps the mirrors of all elections up to date: reads them, then watches from there, on a stream
/// of its own. When that breaks, or moves to another member, it starts again by itself.
///
/// Used on its executor only; no handler is called after its destruction.
class watcher {
 public:
  struct handlers {
    std::function<void(core::election_index)> changed;  ///< its mirror may show something new
    std::function<void()> live;                         ///< all mirrors are followed again
    std::function<void(call_failure)> broken;  ///< a try to (re)connect has failed, and why
  };

  watcher(boost::asio::any_io_executor where, cluster& through, std::vector<mirror>& mirrors,
          const std::vector<key_range>& ranges, handlers on);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Connects now, dropping the connection that is there.
  void connect();

  /// Ends the connection; no handler is called afterwards.
  void close();

  /// True while every event is on its way to the mirrors.
  [[nodiscard]] bool live() const { return live_; }

  /// How often it has connected. What was true of a mirror in one of these need not be in the next.
  [[nodiscard]] std::uint64_t generation() const { return generation_; }

  /// The cluster's id, once it was connected.
  [[nodiscard]] std::uint64_t cluster_id() const { return cluster_id_; }

 private:
  void read_from(std::size_t first);
  void open_stream();
  void take(std::string_view piece);
  void take(const watch_reply& what);
  void fail(call_failure what);
  void fail(const gateway_error& what, std::string_view doing);

  boost::asio::any_io_executor executor_;
  cluster& cluster_;
  std::vector<mirror>& mirrors_;
  const std::vector<key_range>& ranges_;
  handlers on_;
  std::unique_ptr<net::http_stream> stream_;
  document_splitter documents_;
  boost::asio::steady_timer again_;
  std::size_t created_ = 0;  ///< watches of the stream that etcd has confirmed
  std::uint32_t failures_ = 0;
  std::uint64_t generation_ = 0;
  std::uint64_t cluster_id_ = 0;
  bool live_ = false;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

}  // namespace tenure::stores::etcd
