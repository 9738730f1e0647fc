#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/answer.hpp"
#include "api/control.hpp"
#include "api/election_pages.hpp"
#include "api/events.hpp"
#include "api/long_poll.hpp"
#include "api/metrics_answer.hpp"
#include "api/snapshot.hpp"
#include "api/verify.hpp"
#include "core/clock.hpp"
#include "http/server/http_server.hpp"
#include "http/server/responder.hpp"

namespace tenure::api {

/// Where the time comes from. Called on the serving thread.
struct clocks {
  std::function<core::time_point()> boot;  ///< `base::boot_now`
  std::function<std::int64_t()> unix_ms;   ///< the wall clock
};

/// Takes requests, and decides whether their answer comes at once, later, at the next change, or
/// never ends. Everything on the serving thread, which must end first.
class reception {
 public:
  struct settings {
    std::vector<std::string> hosts{};
    core::duration beat_bound{};
    fresh_reader fresh{};   ///< may be empty
    controller control{};   ///< may be empty
    control_access who{};   ///< may give orders
    page_writer metrics{};  ///< may be empty
    /// Sees to it that `attend` is called soon. With `metrics` only.
    std::function<void()> wake{};
  };

  reception(const board& from, clocks time, settings with);
  reception(const reception&) = delete;
  reception& operator=(const reception&) = delete;

  /// A request to the API.
  void api(const http::request& asked, http::responder respond);
  /// A request to the probe listener.
  void probe(const http::request& asked, http::responder respond);

  /// Whether something has changed for those who wait since the last call, and when time alone
  /// will change something. Answers those who have asked for a page of metrics.
  http::attention attend();

 private:
  [[nodiscard]] instant present() const;
  [[nodiscard]] pulse alive() const;
  [[nodiscard]] http::response answer_now(const http::request& asked);
  void scrape(const http::request& asked, http::responder respond);
  void answer_scrapes();
  void order(const http::request& asked, const snapshot& seen, http::responder respond);
  void read_fresh(core::election_index which, const http::request& asked, http::responder respond);
  [[nodiscard]] http::held_answer hold(const http::request& asked, long_poll what);
  [[nodiscard]] http::streamed_answer stream(event_request what);

  const board& board_;
  const clocks time_;
  const settings settings_;
  election_pages pages_;
  event_texts texts_;
  std::uint64_t attended_ = 0;  ///< the index that those who wait were told of
  std::vector<std::pair<http::request, http::responder>> scrapes_;  ///< wait for the next page
};

}  // namespace tenure::api
