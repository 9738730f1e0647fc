#include "api/events.hpp"

#include <utility>

#include "api/change.hpp"
#include "api/reports.hpp"
#include "core/check.hpp"
#include "wire/event.hpp"

namespace tenure::api {
namespace {

event_texts::text shared(std::string text) {
  return std::make_shared<const std::string>(std::move(text));
}

std::string retry_text() {
  constexpr auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(reconnect_after);
  return "retry: " + std::to_string(ms.count()) + "\n\n";
}

std::string election_event(const election_snapshot& election, const snapshot& seen,
                           const instant& at) {
  return wire::write({.id = version_id(seen.agent, index_of(election, seen, at.now)),
                      .name = "election",
                      .data = wire::write(report_of(election, seen, at))});
}

std::string older_event(const election_snapshot& election, const snapshot& seen,
                        const instant& at) {
  return wire::write({.id = version_id(seen.agent, index_of(election, seen, at.now)),
                      .data = wire::write(older_status_of(election, seen, at))});
}

/// An event of one election in a stream of several, without its id: one election cannot say what
/// the reader has seen of all.
std::string without_id(const std::string& event) {
  return event.substr(event.find('\n') + 1);
}

}  // namespace

http::response events_head() {
  return {.status = 200,
          .content_type = "text/event-stream",
          .headers = {{.name = "Cache-Control", .value = "no-store"},
                      // Otherwise nginx collects events until its buffer is full.
                      {.name = "X-Accel-Buffering", .value = "no"}}};
}

event_texts::text event_texts::of_election(const snapshot& seen, std::size_t place,
                                           const instant& at) {
  elections_.resize(seen.elections.size());
  entry& kept = elections_[place];
  const std::uint64_t index = index_of(seen.elections[place], seen, at.now);
  if (!kept.what || kept.index != index) {
    kept = {.index = index, .what = shared(election_event(seen.elections[place], seen, at))};
  }
  return kept.what;
}

event_texts::text event_texts::of_older(const snapshot& seen, const instant& at) {
  const std::uint64_t index = index_of(seen.elections[0], seen, at.now);
  if (!older_.what || older_.index != index) {
    older_ = {.index = index, .what = shared(older_event(seen.elections[0], seen, at))};
  }
  return older_.what;
}

event_texts::text event_reader::next(const snapshot& seen, const instant& at, event_texts& texts) {
  TENURE_CHECK(!seen.elections.empty());
  if (!std::exchange(begun_, true)) return first(seen, at);
  return asked_.what == calls::events::kind::all ? next_of_all(seen, at, texts)
                                                 : next_of_one(seen, at, texts);
}

/// How to reconnect, and the present state, unless the reader has it. Not shared: it is as of now,
/// not as of when the state began.
event_texts::text event_reader::first(const snapshot& seen, const instant& at) {
  std::string out = retry_text();
  if (asked_.what == calls::events::kind::all) {
    sent_of_.assign(seen.elections.size(), nothing);
    const std::uint64_t index = index_of(seen, at.now);
    if (!has(seen, index)) return shared(std::move(out));
    sent_ = index;
    for (std::size_t i = 0; i < sent_of_.size(); ++i) {
      sent_of_[i] = index_of(seen.elections[i], seen, at.now);
    }
    return shared(std::move(out));
  }
  const election_snapshot& election = seen.elections[asked_.place];
  sent_ = index_of(election, seen, at.now);
  if (has(seen, sent_)) return shared(std::move(out));
  const bool older = asked_.what == calls::events::kind::older;
  return shared(
      out.append(older ? older_event(election, seen, at) : election_event(election, seen, at)));
}

event_texts::text event_reader::next_of_one(const snapshot& seen, const instant& at,
                                            event_texts& texts) {
  const std::uint64_t index = index_of(seen.elections[asked_.place], seen, at.now);
  if (std::exchange(sent_, index) == index) return nullptr;
  return asked_.what == calls::events::kind::older ? texts.of_older(seen, at)
                                                   : texts.of_election(seen, asked_.place, at);
}

event_texts::text event_reader::next_of_all(const snapshot& seen, const instant& at,
                                            event_texts& texts) {
  const std::size_t count = sent_of_.size();
  for (std::size_t step = 0; step < count; ++step) {
    const std::size_t place = turn_;
    turn_ = (turn_ + 1) % count;
    const std::uint64_t index = index_of(seen.elections[place], seen, at.now);
    if (std::exchange(sent_of_[place], index) == index) continue;
    sent_ = nothing;
    return shared(without_id(*texts.of_election(seen, place, at)));
  }
  // Only now does the reader have everything, so only now does it get an id to come back with.
  const std::uint64_t index = index_of(seen, at.now);
  if (std::exchange(sent_, index) == index) return nullptr;
  return shared(wire::write({.id = version_id(seen.agent, index)}));
}

bool event_reader::has(const snapshot& seen, std::uint64_t index) const {
  return asked_.last_id == version_id(seen.agent, index);
}

}  // namespace tenure::api
