#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/election.hpp"
#include "core/timing.hpp"
#include "core/vocabulary.hpp"

/// A conversation with one election: the test says what happens and reads the commands.
///
/// The commands of a step are one line of words, so that a test reads like the protocol: "candidate
/// > pending, publish". Instants are counted from the start of the conversation. What the member
/// says of itself in the list of members, and whether it stands in line, is not among them.
namespace tenure::core::testing {

using namespace std::chrono_literals;

/// The start of every conversation. Not zero: an unset instant must not look like now.
inline constexpr time_point start_of_talk = time_point(1'000s);

/// The term in most conversations.
inline constexpr version five{5};

/// ttl 15 s: renew 5 s, stop_at 12.35 s, kill_at 14.35 s, safe_until 14.85 s, try 3.675 s.
inline timing default_timing() {
  return *resolve({.lock_delay = std::chrono::milliseconds(500)});
}

inline election_settings member(std::string identity = "me") {
  return {.identity = std::move(identity), .when = default_timing()};
}

inline election_settings with(election_settings settings, auto change) {
  change(settings);
  return settings;
}

/// `holders` as the watch shows them, lowest version first.
inline event::observed shows(std::vector<holder> holders, core::version as_of,
                             time_point retry_at = never) {
  return {{.as_of = as_of, .holders = std::move(holders), .retry_at = retry_at}};
}

/// This run of the agent, as the store shows it as a holder.
inline holder mine(core::version version = five) {
  return {.identity = "me", .version = version, .ours = true};
}

inline event::observed shows_free(core::version as_of = five) {
  return shows({}, as_of);
}

inline event::observed shows_other(core::version version = core::version{6}) {
  return shows({{"other", version}}, version);
}

/// One command in words.
inline std::string in_words(const election_command& what) {
  const auto instant = [](time_point t) {
    return t == never ? std::string("never") : text(t - start_of_talk);
  };
  const auto version = [](core::version v) { return std::to_string(number(v)); };
  const auto because = [](loss_reason why) {
    return why == loss_reason::none ? std::string() : ": " + std::string(name(why));
  };
  struct words {
    decltype(instant)& at;
    decltype(version)& of;
    decltype(because)& why;
    std::string operator()(const command::acquire&) const { return "acquire"; }
    std::string operator()(const command::release& c) const {
      return "release " + (c.version == no_version ? std::string("any") : of(c.version));
    }
    std::string operator()(const command::watch&) const { return "watch"; }
    std::string operator()(const command::arm& c) const {
      return "arm " + of(c.version) + " until " + at(c.kill_at);
    }
    std::string operator()(const command::start_workload& c) const {
      return "start " + of(c.version);
    }
    std::string operator()(const command::stop_workload& c) const {
      return "stop by " + at(c.kill_by) + why(c.why);
    }
    std::string operator()(const command::transition& c) const {
      return std::string(name(c.from)) + " > " + std::string(name(c.to)) + why(c.why);
    }
    std::string operator()(const command::publish&) const { return "publish"; }
    std::string operator()(const command::forget_grants& c) const {
      return "forget grants above " + of(c.before);
    }
    std::string operator()(const command::announce& c) const {
      return c.ready ? "ready" : "not ready";
    }
    std::string operator()(const command::stand_in_line& c) const {
      return c.stands ? "stands in line" : "leaves the line";
    }
    std::string operator()(const command::finished& c) const { return "finished" + why(c.why); }
  };
  return std::visit(words{instant, version, because}, what);
}

class conversation {
 public:
  explicit conversation(election_settings settings = member()) : subject_(std::move(settings)) {}

  /// Moves the clock to `since_start`, without an event.
  conversation& at(duration since_start) {
    now_ = start_of_talk + since_start;
    return *this;
  }

  /// Random bits of the following steps. 0 gives the shortest back-off: half of the step.
  conversation& entropy(std::uint64_t bits) {
    entropy_ = bits;
    return *this;
  }

  /// Sends one event and returns the election's commands.
  std::string says(const election_event& what) {
    std::string all;
    for (const election_command& c : subject_.step({now_, entropy_}, what)) {
      note(c);
      if (std::holds_alternative<command::announce>(c)) continue;
      if (std::holds_alternative<command::stand_in_line>(c)) continue;
      all += (all.empty() ? "" : ", ") + in_words(c);
    }
    return all;
  }

  /// Up to the first observation: nobody holds. A candidate does not campaign before it.
  std::string starts() {
    const std::string ordered = says(event::started{});
    const bool waits = now_in() == phase::candidate && !view().seen;
    return waits ? ordered + ", " + says(shows_free(no_version)) : ordered;
  }
  std::string wakes() { return says(event::woke{}); }

  /// The store grants the acquire in flight, by default sent at the start.
  std::string is_granted(core::version version = five, duration sent = 0s, duration ttl = 15s,
                         bool released_cleanly = false) {
    return says(event::granted{.number = asked.number,
                               .version = version,
                               .sequencer = "proof",
                               .ttl = ttl,
                               .sent_at = start_of_talk + sent,
                               .released_cleanly = released_cleanly});
  }
  std::string is_refused(time_point retry_at = never) {
    return says(event::refused{.number = asked.number, .retry_at = retry_at});
  }
  std::string acquire_is_unknown() { return says(event::acquire_unknown{asked.number}); }
  std::string is_renewed(duration sent, duration ttl = 15s, core::version version = five) {
    return says(event::renewed{.version = version, .sent_at = start_of_talk + sent, .ttl = ttl});
  }
  std::string is_lost(loss_reason why = loss_reason::session_invalid, core::version version = five,
                      duration room = 0s) {
    return says(event::lost{.version = version, .why = why, .room = room});
  }
  /// Our session has ended, and the store grants nothing to others for `room` after that.
  std::string session_ends(duration room) {
    return is_lost(loss_reason::session_invalid, five, room);
  }
  std::string is_released() { return says(event::released{let_go.number}); }
  std::string release_is_unknown() { return says(event::release_unknown{let_go.number}); }
  std::string workload_starts(core::version version = five) {
    return says(event::workload_started{version});
  }
  std::string workload_exits() { return says(event::workload_exited{}); }
  std::string resigns(duration aside, std::string heir = {}) {
    return says(event::resign{.aside = aside, .heir = std::move(heir)});
  }
  std::string shuts_down() { return says(event::shutdown{}); }

  /// Up to an active member in term five whose workload runs, 1 s after the start.
  conversation& becomes_active() {
    starts();
    at(10ms).is_granted();
    at(510ms).wakes();
    at(600ms).workload_starts();
    return at(1s);
  }

  [[nodiscard]] const election& subject() const { return subject_; }
  [[nodiscard]] const election_view& view() const { return subject_.view(); }
  [[nodiscard]] phase now_in() const { return subject_.view().phase; }
  [[nodiscard]] time_point now() const { return now_; }
  [[nodiscard]] bool is_valid() const { return view().valid_at(now_); }
  /// The next wake, counted from the start; the greatest duration if never.
  [[nodiscard]] duration next_wake() const {
    const time_point t = subject_.next_wake();
    return t == never ? duration::max() : t - start_of_talk;
  }

  command::acquire asked;       ///< the last one ordered
  command::release let_go;      ///< the last one ordered
  command::watch watched;       ///< the last one ordered
  command::arm armed;           ///< the last one ordered
  bool stands_in_line = false;  ///< as it has said last
  std::vector<bool> announced;  ///< whether it is ready, in the order in which it said so

 private:
  void note(const election_command& c) {
    if (const auto* a = std::get_if<command::acquire>(&c)) asked = *a;
    if (const auto* r = std::get_if<command::release>(&c)) let_go = *r;
    if (const auto* w = std::get_if<command::watch>(&c)) watched = *w;
    if (const auto* a = std::get_if<command::arm>(&c)) armed = *a;
    if (const auto* a = std::get_if<command::announce>(&c)) announced.push_back(a->ready);
    if (const auto* s = std::get_if<command::stand_in_line>(&c)) stands_in_line = s->stands;
  }

  election subject_;
  time_point now_ = start_of_talk;
  std::uint64_t entropy_ = 0;
};

}  // namespace tenure::core::testing
