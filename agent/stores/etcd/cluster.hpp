#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "core/store_contact.hpp"
#include "http/client/http_client.hpp"
#include "stores/etcd/gateway_error.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// A reply with status 200, not parsed yet.
struct reply {
  std::string body;
  core::time_point sent_at{};  ///< just before the request left
  std::size_t endpoint = 0;    ///< the endpoint that answered, for `prefer`
};

/// Why a call has no reply.
struct call_failure {
  error_meaning meaning = error_meaning::unknown;
  std::string why;  ///< for a person; contains no secret
};

using reply_or_failure = std::expected<reply, call_failure>;

/// Which request goes first. Requests that keep leases alive have reserved connections: ten
/// thousand elections that campaign at once must not cost the leases that are held.
enum class priority : std::uint8_t { urgent, other };

/// The endpoints of an etcd cluster behind their JSON gateways.
///
/// Calls go to one endpoint, the present one, until it fails; then the next one becomes the present
/// one. Requests must be safe to repeat: a call whose outcome is unknown at one endpoint is tried
/// at the others within its deadline. Signs in if a user is given, and again when etcd has
/// forgotten the token.
///
/// Used on its loop only. No handler is called from within the call that takes it.
class cluster {
 public:
  using done_handler = handler<reply_or_failure>;

  /// Precondition: there is an endpoint. `moved`: another endpoint has become the present one.
  /// `hears`: each call was answered, or no endpoint answered it; may be empty. `sent`: is told
  /// each password and token.
  cluster(base::event_loop& on, const http::http_connector& connect,
          const std::vector<settings::endpoint>& endpoints, const settings::security& with,
          std::size_t most_calls, std::function<void()> moved,
          std::function<void(const core::contact_event&)> hears,
          std::shared_ptr<sent_secrets> sent = std::make_shared<sent_secrets>());
  ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  /// Reads the files that the settings name. The error names the file and says what is wrong with
  /// it.
  std::expected<void, std::string> check();

  /// Calls `done` once, by the deadline. An empty body makes the request a GET.
  void call(std::string path, std::string body, core::time_point deadline, done_handler done,
            priority as = priority::other);

  /// An endless reply from the present endpoint, to a request that stays open. Destroying the
  /// returned stream ends it without a callback.
  [[nodiscard]] std::unique_ptr<http::http_stream> stream(std::string path, std::string body,
                                                          core::time_point head_deadline,
                                                          http::stream_handlers on);

  /// Opens connections to the present endpoint, so that the next calls find them.
  void warm_up(core::time_point deadline);

  /// Makes the next endpoint the present one, because the present one cannot be relied on.
  void move_on();

  /// Makes the endpoint that gave a reply the present one.
  void prefer(std::size_t endpoint);

  /// The URL of the present endpoint.
  [[nodiscard]] std::string present() const;

  /// Ends everything; no handler is called afterwards.
  void close();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tenure::stores::etcd
