#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/answer.hpp"
#include "api/control.hpp"
#include "api/events.hpp"
#include "api/fresh_read.hpp"
#include "api/page_writer.hpp"
#include "api/router.hpp"
#include "api/snapshot.hpp"
#include "core/clock.hpp"
#include "http/server/http_server.hpp"
#include "http/server/responder.hpp"

namespace tenure::api {

/// The clocks. Called on the serving thread.
struct clocks {
  std::function<core::time_point()> boot;  ///< `base::boot_now`
  std::function<std::int64_t()> unix_ms;   ///< the wall clock
};

/// Answers requests, with one handler per call. An answer comes at once, later, at the next change,
/// or never ends. Used on the serving thread only, which must end first.
class handlers {
 public:
  struct settings {
    routes reach{};
    core::duration beat_bound{};
    fresh_reader fresh{};   ///< may be empty
    controller control{};   ///< may be empty
    page_writer metrics{};  ///< may be empty
    /// Makes the server call `attend` soon. Only with `metrics`.
    std::function<void()> wake{};
  };

  handlers(const published& from, clocks time, settings with);
  handlers(const handlers&) = delete;
  handlers& operator=(const handlers&) = delete;

  /// A request to the API.
  void api(const http::request& asked, http::responder respond);
  /// A request to the probe listener.
  void probe(const http::request& asked, http::responder respond);

  /// Returns whether something has changed for waiting clients since the last call, and when time
  /// alone will change something. Answers the requests for metrics.
  http::attention attend();

 private:
  [[nodiscard]] instant present() const;
  void take(routed wanted, const snapshot& seen, http::responder respond);

  void handle(read_call what, const snapshot& seen, http::responder respond);
  void handle(calls::events what, const snapshot& seen, http::responder respond);
  void handle(calls::order what, const snapshot& seen, http::responder respond);
  void handle(calls::metrics what, const snapshot& seen, http::responder respond);

  [[nodiscard]] http::response answer_now(const read_call& what, const snapshot& seen);
  void read_fresh(calls::verify what, http::responder respond);
  [[nodiscard]] http::held_answer hold(calls::status what);
  void answer_scrapes();

  const published& published_;
  const clocks time_;
  const settings settings_;
  event_texts texts_;
  std::uint64_t attended_ = 0;            ///< the last index reported to waiting clients
  std::vector<http::responder> scrapes_;  ///< requests for the next page
};

}  // namespace tenure::api
