#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "core/store_contact.hpp"
#include "http/client/http_client.hpp"
#include "settings/security.hpp"
#include "stores/kubernetes/reply_error.hpp"
#include "stores/store.hpp"

namespace tenure::stores::kubernetes {

/// A request to any API server of a cluster.
struct request {
  std::string method = "GET";
  std::string path;     ///< "/apis/coordination.k8s.io/v1/namespaces/default/leases"
  std::string query{};  ///< percent-encoded
  std::string body{};
  std::string content_type = "application/json";  ///< the type of the body
};

/// A reply with status 200 or 201, not parsed yet.
struct reply {
  std::string body;
  std::int64_t date_ms = 0;    ///< what its Date header says, in whole seconds; 0: there is none
  core::time_point sent_at{};  ///< just before the request left
};

/// Why a call has no such reply.
struct call_failure {
  error_meaning meaning = error_meaning::unknown;
  std::string why;  ///< for a person; contains no secret
};

using reply_or_failure = std::expected<reply, call_failure>;

/// Which request goes first. Requests that keep leases have reserved connections: thousands of
/// elections that campaign at once must not cost the leases that are held.
enum class priority : std::uint8_t { urgent, other };

/// The API servers of a Kubernetes cluster.
///
/// Calls go to one server, the present one, until it fails; then the next one becomes the present
/// one. A call whose outcome is unknown at one server is tried at the others within its deadline,
/// so requests must be safe to repeat: each write relies on what it replaces, and a repeated one
/// fails. A server that says that it is too busy is asked again when it says, by any call; until
/// then calls go to the others or wait, up to their deadlines.
/// The token is read from its file every minute, and when the one that we have is refused.
///
/// Used on its loop only. No handler is called from within the call that takes it.
class cluster {
 public:
  using done_handler = handler<reply_or_failure>;

  /// Precondition: there is an endpoint. `hears`: each call was answered, or no server answered it;
  /// may be empty. `sent`: is told each token. `if_denied`: what a failure advises where the user
  /// of the token lacks a right; must outlive it.
  cluster(base::event_loop& on, const http::http_connector& connect,
          const std::vector<settings::endpoint>& endpoints, const settings::security& with,
          std::size_t most_calls, std::function<void(const core::contact_event&)> hears,
          std::shared_ptr<sent_secrets> sent, std::string_view if_denied = give_rights_to_leases);
  ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  /// Reads the files that the settings name. The error names the file and says what is wrong with
  /// it.
  std::expected<void, std::string> check();

  /// Calls `done` once, by the deadline.
  void call(request what, core::time_point deadline, done_handler done,
            priority as = priority::other);

  /// A GET with an endless reply, from the present server, on a connection of its own.
  [[nodiscard]] std::unique_ptr<http::http_stream> stream(const request& what,
                                                          core::time_point head_deadline,
                                                          http::stream_handlers on);

  /// Opens connections to the present server, so that the next calls find them.
  void warm_up(core::time_point deadline);

  /// Makes the next server the present one, because the present one cannot be relied on.
  void move_on();

  /// Judges an error reply of the present server, and advises what to do about it.
  [[nodiscard]] reply_error judge(unsigned status, std::string_view body) const;

  /// Reads the token again before the next request: the present one was refused.
  void doubt_token();

  /// When the present server wants to be asked again; it may be in the past.
  [[nodiscard]] core::time_point ready_at() const;

  /// What the wall clocks of the servers say now, by the newest reply that had a Date; 0: none had.
  [[nodiscard]] std::int64_t date_ms() const;

  /// The URL of the present server.
  [[nodiscard]] std::string present() const;

  /// Ends everything; no handler is called afterwards.
  void close();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tenure::stores::kubernetes
