#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "http/http_message.hpp"
#include "modelled_cluster.hpp"
#include "world.hpp"

namespace tenure::shell {

/// The requests that the servers of a modelled cluster have taken, until their answers have left.
class served_calls {
 public:
  struct call {
    std::uint64_t number = 0;
    std::size_t server = 0;
    http::request_target target;
    http::client_request asked;
    modelled_cluster::reply done;
    bool over = false;
  };
  using call_ptr = std::shared_ptr<call>;

  /// `take`: what a server does with a request. Both others must outlive this.
  served_calls(world& in, raft_cluster& servers, std::function<void(const call_ptr&)> take)
      : world_(in), servers_(servers), take_(std::move(take)) {}

  /// A request has arrived. A server that is down says nothing; one that is frozen takes it when it
  /// goes on.
  void arrive(std::size_t server, http::client_request asked, modelled_cluster::reply done);
  /// The answer leaves a little later, if its server is up.
  void answer(const call_ptr& c, http::client_reply what);
  /// Its connection ends: nobody knows whether it was carried out.
  void reset(const call_ptr& c);
  /// Those that this server has not answered, oldest first.
  [[nodiscard]] std::vector<call_ptr> open_at(std::size_t server) const;

 private:
  /// False if it was answered or reset before.
  bool leaves(const call_ptr& c);

  world& world_;
  raft_cluster& servers_;
  std::function<void(const call_ptr&)> take_;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, call_ptr> open_;  ///< by number
};

}  // namespace tenure::shell
