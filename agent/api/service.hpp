#pragma once

#include <chrono>
#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/handlers.hpp"
#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "http/listen_error.hpp"
#include "http/server/http_server.hpp"
#include "settings/listen_address.hpp"

namespace tenure::api {

/// An election loop that has not turned for this long hangs: it wakes several times per renewal,
/// and its own longest call takes milliseconds.
inline constexpr core::duration default_beat_bound = std::chrono::seconds(10);

struct service_settings {
  std::optional<settings::listen_address> api =
      settings::listen_address{.host = "127.0.0.1", .port = 4040};
  std::optional<settings::listen_address> probe =
      settings::listen_address{.host = "0.0.0.0", .port = 8081};
  std::string socket{};              ///< the path of a Unix socket for the API; empty: none
  std::string local_socket{};        ///< the same, where commands find the agent
  std::vector<std::string> hosts{};  ///< further Host names to answer to
  control_access control{};          ///< who may give orders
  core::duration beat_bound = default_beat_bound;
  http::http_limits limits{};  ///< per listener
  page_writer metrics{};  ///< for `/metrics` on each listener; without it, there is no such page
  http::traffic* api_traffic = nullptr;    ///< counts the API's traffic; outlives the service
  http::traffic* probe_traffic = nullptr;  ///< the same for the probes

  /// The most descriptors that listeners and clients may have open at a time.
  [[nodiscard]] std::size_t descriptors() const;
};

enum class listener : std::uint8_t { api, probe, socket, local_socket };

/// Which listener could not be opened, and why. `text` ends with what to do.
struct service_error {
  listener which = listener::api;
  http::listen_failure kind = http::listen_failure::other;
  std::string text;
};

/// Serves what is published, on a thread of its own. Owned and stopped by one thread.
class service {
 public:
  /// Opens the configured listeners and serves them; all or nothing. `from` must live until
  /// the service is stopped, and longer than every read and order that `fresh` and `control` have
  /// begun; until then only the service may use its `on_change`. Without `fresh` and `control`,
  /// there are no fresh reads and no orders.
  static std::expected<std::unique_ptr<service>, service_error> start(published& from,
                                                                      service_settings with,
                                                                      clocks time,
                                                                      fresh_reader fresh = {},
                                                                      controller control = {});
  ~service();  ///< stops
  service(const service&) = delete;
  service& operator=(const service&) = delete;

  /// Stops in order: `http::http_server::shutdown`. A second call does nothing.
  void stop();

  /// The listener's address, with the port that the kernel has chosen; empty if it is off.
  [[nodiscard]] const std::optional<settings::listen_address>& api_address() const { return api_; }
  [[nodiscard]] const std::optional<settings::listen_address>& probe_address() const {
    return probe_;
  }

 private:
  explicit service(published& from) : published_(&from) {}

  published* published_;  ///< null once it is stopped
  std::optional<settings::listen_address> api_;
  std::optional<settings::listen_address> probe_;
  std::unique_ptr<handlers> handlers_;
  http::http_server server_;
};

}  // namespace tenure::api
