#include "api/reception.hpp"

#include <memory>
#include <optional>
#include <utility>

#include "api/admission.hpp"
#include "api/change.hpp"

namespace tenure::api {

reception::reception(const board& from, clocks time, settings with)
    : board_(from), time_(std::move(time)), settings_(std::move(with)) {}

// Everywhere below the snapshot is taken before the clock is read: time that passes in between can
// only make an answer more careful.

void reception::api(const http::request& asked, http::responder respond) {
  const auto seen = board_.current();
  if (settings_.metrics && asks_for_metrics(asked)) {
    auto refused = refusal(asked, settings_.hosts);
    return refused ? respond(std::move(*refused)) : scrape(asked, std::move(respond));
  }
  if (settings_.control && is_control(asked)) return order(asked, *seen, std::move(respond));
  if (auto events = wants_events(asked, *seen, settings_.hosts)) {
    return respond(stream(std::move(*events)));
  }
  auto poll = wants_to_wait(asked, *seen, settings_.hosts);
  if (poll && !has_news(*poll, *seen, time_.boot())) {
    return respond(hold(asked, std::move(*poll)));
  }
  if (settings_.fresh) {
    if (const auto which = needs_fresh_read(asked, *seen, settings_.hosts)) {
      return read_fresh(*which, asked, std::move(respond));
    }
  }
  const pulse beat = alive();
  respond(answer(asked, *seen, beat, present(), settings_.hosts, pages_));
}

void reception::probe(const http::request& asked, http::responder respond) {
  if (auto refused = refusal(asked, settings_.hosts)) return respond(std::move(*refused));
  if (settings_.metrics && asks_for_metrics(asked)) return scrape(asked, std::move(respond));
  const auto seen = board_.current();
  const pulse beat = alive();
  respond(answer_probe(asked, *seen, beat, present()));
}

/// The page of an agent with thousands of elections takes a fifth of a second. It is made at the
/// next turn of the server, once for all who have asked by then, so that no crowd of scrapers keeps
/// a probe waiting for longer than one page.
void reception::scrape(const http::request& asked, http::responder respond) {
  scrapes_.emplace_back(asked, std::move(respond));
  settings_.wake();
}

void reception::answer_scrapes() {
  std::optional<std::string> page;
  for (auto& [asked, respond] : std::exchange(scrapes_, {})) {
    respond(answer_metrics(asked, [this, &page] {
      if (!page) page = settings_.metrics();
      return *page;
    }));
  }
}

http::attention reception::attend() {
  answer_scrapes();
  const auto seen = board_.current();
  const core::time_point now = time_.boot();
  http::attention out;
  const std::uint64_t index = index_of(*seen, now);
  out.news = std::exchange(attended_, index) != index;
  const core::time_point turn = next_turn(*seen, now);
  if (turn != core::never) out.again = turn - now;
  return out;
}

instant reception::present() const {
  return {.now = time_.boot(), .unix_ms = time_.unix_ms()};
}

pulse reception::alive() const {
  return {.last_beat = board_.last_beat(), .bound = settings_.beat_bound};
}

http::response reception::answer_now(const http::request& asked) {
  const auto seen = board_.current();
  const pulse beat = alive();
  return answer(asked, *seen, beat, present(), settings_.hosts, pages_);
}

void reception::order(const http::request& asked, const snapshot& seen, http::responder respond) {
  if (auto refused = refusal(asked, settings_.hosts)) return respond(std::move(*refused));
  auto wanted = read_control(asked, seen, settings_.who);
  if (!wanted) return respond(std::move(wanted.error()));
  settings_.control(wanted->which, wanted->what,
                    [asked, what = wanted->what,
                     respond = std::move(respond)](const control_result& result) mutable {
                      respond(control_response(asked, what, result));
                    });
}

void reception::read_fresh(core::election_index which, const http::request& asked,
                           http::responder respond) {
  // Not on the serving thread any more when it comes.
  settings_.fresh(which, [&from = board_, time = time_, which, asked,
                          respond = std::move(respond)](fresh_result read) mutable {
    const auto now = from.current();
    const instant at{.now = time.boot(), .unix_ms = time.unix_ms()};
    respond(answer_fresh(asked, which, *now, at, read));
  });
}

http::held_answer reception::hold(const http::request& asked, long_poll what) {
  const auto limit = std::chrono::duration_cast<std::chrono::milliseconds>(what.reader.wait);
  return {.ready = [this, asked,
                    what = std::move(what)](http::occasion why) -> std::optional<http::response> {
            const auto seen = board_.current();
            if (why == http::occasion::news && !has_news(what, *seen, time_.boot())) {
              return std::nullopt;
            }
            return answer_now(asked);
          },
          .limit = limit};
}

http::streamed_answer reception::stream(event_request what) {
  return {.head = events_head(),
          .next =
              [this, reader = event_reader(std::move(what))]() mutable {
                const auto seen = board_.current();
                return reader.next(*seen, present(), texts_);
              },
          .idle_text = ": still here\n\n",
          .idle = heartbeat};
}

}  // namespace tenure::api
