#include "api/handlers.hpp"

#include <optional>
#include <utility>
#include <variant>

#include "api/change.hpp"

namespace tenure::api {

handlers::handlers(const published& from, clocks time, settings with)
    : published_(from), time_(std::move(time)), settings_(std::move(with)) {}

// Everywhere below, the snapshot is taken before the clock is read: time that passes in between can
// only make an answer more careful.

void handlers::api(const http::request& asked, http::responder respond) {
  const auto seen = published_.current();
  take(route(asked, *seen, settings_.reach), *seen, std::move(respond));
}

void handlers::probe(const http::request& asked, http::responder respond) {
  const auto seen = published_.current();
  take(route_probe(asked, *seen, settings_.reach), *seen, std::move(respond));
}

void handlers::take(routed wanted, const snapshot& seen, http::responder respond) {
  if (!wanted) return respond(std::move(wanted.error()));
  std::visit([&](auto& what) { handle(std::move(what), seen, std::move(respond)); }, *wanted);
}

void handlers::handle(read_call what, const snapshot& seen, http::responder respond) {
  if (auto* const status = std::get_if<calls::status>(&what)) {
    const condition& reader = status->reader;
    if (reader.wait > core::duration::zero() &&
        !has_news(reader, seen.agent, index_of(*status, seen, time_.boot()))) {
      return respond(hold(std::move(*status)));
    }
  }
  auto* const verify = std::get_if<calls::verify>(&what);
  if (verify != nullptr && verify->fresh && settings_.fresh) {
    return read_fresh(std::move(*verify), std::move(respond));
  }
  respond(answer_now(what, seen));
}

void handlers::handle(calls::events what, const snapshot&, http::responder respond) {
  respond(http::streamed_answer{.head = events_head(),
                                .next =
                                    [this, reader = event_reader(std::move(what))]() mutable {
                                      const auto seen = published_.current();
                                      return reader.next(*seen, present(), texts_);
                                    },
                                .idle_text = ": still here\n\n",
                                .idle = stream_heartbeat});
}

void handlers::handle(calls::order what, const snapshot&, http::responder respond) {
  settings_.control(what.which, what.what,
                    [&from = published_, what,
                     respond = std::move(respond)](const control_result& result) mutable {
                      respond(answer_order(what, *from.current(), result));
                    });
}

/// With thousands of elections, the page takes a fifth of a second. It is made at the next turn of
/// the server, once for everybody who has asked by then, so that many scrapers delay a probe by one
/// page at most.
void handlers::handle(calls::metrics, const snapshot&, http::responder respond) {
  scrapes_.push_back(std::move(respond));
  settings_.wake();
}

void handlers::answer_scrapes() {
  if (scrapes_.empty()) return;
  const std::string page = settings_.metrics();
  for (http::responder& respond : std::exchange(scrapes_, {})) {
    respond(
        http::response{.content_type = "text/plain; version=0.0.4; charset=utf-8", .body = page});
  }
}

http::attention handlers::attend() {
  answer_scrapes();
  const auto seen = published_.current();
  const core::time_point now = time_.boot();
  http::attention out;
  const std::uint64_t index = index_of(*seen, now);
  out.news = std::exchange(attended_, index) != index;
  const core::time_point turn = next_turn(*seen, now);
  if (turn != core::never) out.again = turn - now;
  return out;
}

instant handlers::present() const {
  return {.now = time_.boot(), .unix_ms = time_.unix_ms()};
}

http::response handlers::answer_now(const read_call& what, const snapshot& seen) {
  const heartbeat beat{.last_beat = published_.last_beat(), .bound = settings_.beat_bound};
  return answer(what, seen, beat, present());
}

void handlers::read_fresh(calls::verify what, http::responder respond) {
  const core::election_index which{static_cast<std::uint32_t>(what.place)};
  // The result arrives on another thread.
  settings_.fresh(which, [&from = published_, time = time_, what = std::move(what),
                          respond = std::move(respond)](fresh_result read) mutable {
    const auto now = from.current();
    const instant at{.now = time.boot(), .unix_ms = time.unix_ms()};
    respond(answer_fresh(what, *now, at, read));
  });
}

http::held_answer handlers::hold(calls::status what) {
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(what.reader.wait);
  return {
      .ready = [this, what = std::move(what)](http::occasion why) -> std::optional<http::response> {
        const auto seen = published_.current();
        const std::uint64_t index = index_of(what, *seen, time_.boot());
        if (why == http::occasion::news && !has_news(what.reader, seen->agent, index)) {
          return std::nullopt;
        }
        return answer_now(what, *seen);
      },
      .limit = limit};
}

}  // namespace tenure::api
