#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "core/store_contact.hpp"
#include "http/client/http_client.hpp"
#include "settings/consul.hpp"
#include "settings/security.hpp"
#include "stores/consul/codec.hpp"
#include "stores/consul/reply_error.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// A request to any agent of a cluster.
struct request {
  std::string method = "GET";
  std::string path;     ///< "/v1/session/create"
  std::string query{};  ///< "consistent&recurse"; percent-encoded, without what settings add
  std::string body{};
};

/// A reply with status 200, 404 or 409, not parsed yet. With 409, the token is not the reason.
struct reply {
  unsigned status = 0;
  std::string body;
  std::uint64_t index = 0;     ///< what X-Consul-Index says; 0: absent
  core::time_point sent_at{};  ///< just before the request left
};

/// Why a call has no reply.
struct call_failure {
  error_meaning meaning = error_meaning::unknown;
  std::string why;  ///< for a person; contains no secret
};

using reply_or_failure = std::expected<reply, call_failure>;

/// Which request goes first. Requests that keep sessions alive have reserved connections: thousands
/// of elections that campaign at once must not cost the leases that are held.
enum class priority : std::uint8_t { urgent, other };

/// The agents of a Consul cluster, behind their HTTP API.
///
/// Calls go to one agent, the present one, until it fails; then the next one becomes the present
/// one. Requests must be safe to repeat: a call whose outcome is unknown at one agent is tried at
/// the others within its deadline. The token is read from its file when that changes, and when
/// Consul refuses the one we have.
///
/// Used on its loop only. No handler is called from within the call that takes it.
class cluster {
 public:
  using done_handler = handler<reply_or_failure>;

  /// Precondition: there is an endpoint. `most_waits`: watches at a time. `hears`: each call was
  /// answered, or no agent answered it; may be empty. `sent`: is told each token.
  cluster(base::event_loop& on, const http::http_connector& connect,
          const std::vector<settings::endpoint>& endpoints, const settings::security& with,
          const settings::consul& where, const std::string& name_space, std::size_t most_calls,
          std::size_t most_waits, std::function<void(const core::contact_event&)> hears,
          std::shared_ptr<sent_secrets> sent);
  ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  /// Reads the files that the settings name. The error names the file and says what is wrong with
  /// it.
  std::expected<void, std::string> check();

  /// The request that executes a transaction. One that only reads is consistent.
  [[nodiscard]] request transaction(std::span<const operation> all) const;

  /// Calls `done` once, by the deadline.
  void call(request what, core::time_point deadline, done_handler done,
            priority as = priority::other);

  /// The same for a blocking query, at the present agent only: on a connection that no call uses.
  void wait(request what, core::time_point deadline, done_handler done);

  /// Opens connections to the present agent, so that the next calls find them.
  void warm_up(core::time_point deadline);

  /// Makes the next agent the present one, because the present one cannot be relied on.
  void move_on();

  /// The URL of the present agent.
  [[nodiscard]] std::string present() const;

  /// Ends everything; no handler is called afterwards.
  void close();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tenure::stores::consul
