#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/check.hpp"
#include "http/client/client_message.hpp"
#include "raft_cluster.hpp"
#include "world.hpp"

namespace tenure::shell {

/// One open request of a client whose answer does not end: `data` takes what the server sends,
/// `end` its end, `reset` the end of its connection.
struct served_stream {
  std::function<void(http::reply_head)> head;
  std::function<void(std::string)> data;
  std::function<void()> end;
  std::function<void()> reset;
  bool closed = false;

  served_stream() = default;
  served_stream(const served_stream&) = delete;
  served_stream& operator=(const served_stream&) = delete;
  virtual ~served_stream() = default;
};

/// A cluster of three servers of a store, as its clients can tell.
class modelled_cluster {
 public:
  static constexpr std::size_t most_servers = raft_cluster::most_members;
  using reply =
      std::move_only_function<void(std::expected<http::client_reply, http::client_error>)>;

  modelled_cluster(world& in, raft_cluster::handlers on) : members_(in, std::move(on)) {}
  virtual ~modelled_cluster() = default;
  modelled_cluster(const modelled_cluster&) = delete;
  modelled_cluster& operator=(const modelled_cluster&) = delete;

  // What clients do. All take effect at the call, as one that has arrived.
  /// A server that is down says nothing.
  virtual void handle(std::size_t server, http::client_request asked, reply done) = 0;
  /// False if nobody answers there.
  [[nodiscard]] bool listens(std::size_t server) const { return members_.up(server); }
  /// An endless request, as a client gets it from here; null: this store has none.
  [[nodiscard]] virtual std::shared_ptr<served_stream> make_stream() { return nullptr; }
  /// True: `open` sends the head of the answer. False: each request is confirmed as it arrives.
  [[nodiscard]] virtual bool sends_heads() const { return false; }
  virtual void open(std::size_t, const std::shared_ptr<served_stream>&,
                    const http::client_request&) {
    TENURE_CHECK(false);
  }
  /// More of the body of an open request.
  virtual void more(const std::shared_ptr<served_stream>&, std::string_view) {
    TENURE_CHECK(false);
  }

  /// How many members with this identity are listed; nothing: the judge does not need to know.
  [[nodiscard]] virtual std::optional<std::size_t> listed(const std::string& /*election*/,
                                                          const std::string& /*identity*/) const {
    return std::nullopt;
  }

  // What goes wrong.
  void kill(std::size_t server) { members_.kill(server); }
  void start(std::size_t server) { members_.start(server); }
  void freeze(std::size_t server) { members_.freeze(server); }
  void thaw(std::size_t server) { members_.thaw(server); }
  void cut_off(std::size_t server) { members_.cut_off(server); }  ///< from the other servers
  void join(std::size_t server) { members_.join(server); }
  void lag(std::size_t server, core::duration by) { members_.lag(server, by); }
  void change_leader() { members_.change_leader(); }
  /// The servers forget what was long ago.
  virtual void compact() = 0;
  /// An operator deletes the first key of this election; false if there is none.
  virtual bool delete_one(const std::string& election) = 0;
  /// An operator ends the lease of such a key; false if there is none.
  virtual bool revoke_one(const std::string& election) = 0;

  // What is true.
  [[nodiscard]] int leader() const { return members_.leader(); }
  /// Grows with every write.
  [[nodiscard]] virtual std::uint64_t revision() const = 0;
  /// For the trace of one seed.
  [[nodiscard]] virtual std::string describe() const = 0;
  /// Until when the leader has ever promised to keep this lease.
  [[nodiscard]] virtual world_time promised(std::int64_t lease) const = 0;
  /// The versions of those that hold this election, or wait for it by a key of their own, by age.
  [[nodiscard]] virtual std::vector<std::uint64_t> contenders(
      const std::string& election) const = 0;

 protected:
  raft_cluster members_;
};

}  // namespace tenure::shell
