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

/// A reply with status 200, not looked at yet.
struct reply {
  std::string body;
  core::time_point sent_at{};  ///< just before the request that it answers left
  std::size_t member = 0;      ///< who has answered, for `prefer`
};

/// Why there is none.
struct call_failure {
  error_meaning meaning = error_meaning::unknown;
  std::string why;  ///< for a person; no secret
};

using reply_or_failure = std::expected<reply, call_failure>;

/// What goes first. What keeps leases alive has connections reserved: ten thousand elections that
/// campaign at once must not cost those that are held.
enum class priority : std::uint8_t { urgent, other };

/// The members of an etcd cluster behind their JSON gateways.
///
/// Calls go to one member, the present one, until it fails; then the next becomes it. What is sent
/// must be safe to repeat: a call whose outcome is unknown at one member is tried at the others
/// within its deadline. Signs in where a user is given, again when etcd has forgotten the token.
///
/// Used on its loop only. No handler is called from within the call that it was given to.
class cluster {
 public:
  using done_handler = handler<reply_or_failure>;

  /// Precondition: there is an endpoint. `moved`: another member has become the present one.
  /// `hears`: of each call, that it was answered, or that no member has answered it; may be empty.
  cluster(base::event_loop& on, const http::http_connector& connect,
          const std::vector<settings::endpoint>& members, const settings::security& with,
          std::size_t most_calls, std::function<void()> moved,
          std::function<void(const core::contact_event&)> hears);
  ~cluster();
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  /// Loads what files the settings name. The error names the file and what is wrong with it.
  std::expected<void, std::string> check();

  /// Calls `done` once, by the deadline. An empty body makes it a GET.
  void call(std::string path, std::string body, core::time_point deadline, done_handler done,
            priority as = priority::other);

  /// A reply without end from the present member, to a request that stays open. Destroying what is
  /// returned ends it silently.
  [[nodiscard]] std::unique_ptr<http::http_stream> stream(std::string path, std::string body,
                                                          core::time_point head_deadline,
                                                          http::stream_handlers on);

  /// Sees to it that the next calls find connections to the present member open.
  void warm_up(core::time_point deadline);

  /// Makes the next member the present one, as the present one is not to be relied on.
  void move_on();

  /// Makes the member that has given a reply the present one.
  void prefer(std::size_t member);

  /// The URL of the present member.
  [[nodiscard]] std::string present() const;

  /// Ends everything; no handler is called afterwards.
  void close();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

}  // namespace tenure::stores::etcd
