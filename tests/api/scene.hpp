#pragma once

#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "api/answer.hpp"
#include "api/change.hpp"
#include "api/router.hpp"
#include "api/snapshot.hpp"
#include "http/http_message.hpp"

/// An agent "me" with the election "db", at an instant that tests move by hand.
namespace tenure::tests {

using namespace std::chrono_literals;

inline constexpr core::time_point start{1000s};
/// 2026-01-31T12:00:00Z
inline constexpr std::int64_t start_unix_ms = 1'769'860'800'000;

/// Members of an earlier release, which only say who they are.
inline std::vector<core::member> members_named(std::vector<std::string> names) {
  std::vector<core::member> out;
  for (std::string& one : names) out.push_back({.identity = std::move(one)});
  return out;
}

struct scene {
  scene() {
    seen.index = 1;
    seen.agent = "run1";
    seen.identity = "me";
    seen.store = "etcd";
    seen.cluster_id = "c1";
    seen.store_opened = true;
    store_answers();
    add("db");
  }

  /// Now, and for ever: what happens later is not about the store, unless a test gives a ttl.
  void store_answers() { store_answers(core::store_contact()); }
  void store_answers(core::duration ttl) { store_answers(core::store_contact(ttl)); }
  void store_answers(core::store_contact how) {
    seen.contact = std::move(how);
    seen.contact.take(at.now, core::contact::answered{});
  }
  void store_says(const core::contact_event& what) { seen.contact.take(at.now, what); }

  api::election_snapshot& add(std::string name) {
    api::election_snapshot one;
    one.name = std::move(name);
    one.index = seen.index;
    one.view.since = start;
    one.since_unix_ms = start_unix_ms;
    seen.elections.push_back(std::move(one));
    return seen.elections.edit(seen.elections.size() - 1);
  }

  api::election_snapshot& db() { return seen.elections.edit(0); }
  core::election_view& view() { return db().view; }

  /// We hold term 7 until stop_at, 10 s after the start.
  void hold(core::phase in) {
    view().phase = in;
    view().lease = core::lease{.version = core::version{7},
                               .sent_at = start,
                               .ttl = 15s,
                               .safe_until = start + 14s,
                               .kill_at = start + 12s,
                               .stop_at = start + 10s};
    view().sequencer = "proof-7";
    view().workload_running = in == core::phase::active;
  }

  void watch_shows(std::vector<core::holder> holders, core::version as_of) {
    view().seen = core::observation{.as_of = as_of, .holders = std::move(holders)};
    db().watched = true;
    db().seen_at = at.now;
  }

  /// As when the election thread publishes a change of the election at this place.
  void publish_change(std::size_t place = 0) {
    seen.index += api::index_step(seen.elections.size());
    seen.elections.edit(place).index = seen.index;
  }

  void advance(core::duration by) {
    at.now += by;
    at.unix_ms += std::chrono::floor<std::chrono::milliseconds>(by).count();
    alive.last_beat += by;
  }

  static http::request get(const std::string& target) {
    http::request asked;
    asked.method = "GET";
    asked.target = http::parse_target(target).value();
    asked.host = "localhost:4040";
    return asked;
  }

  /// The answer to a call that the snapshot answers.
  http::response ask(const http::request& asked) const {
    return answer(api::route(asked, seen, routes));
  }
  http::response ask(const std::string& target) const { return ask(get(target)); }
  http::response probe(const http::request& asked) const {
    return answer(api::route_probe(asked, seen, routes));
  }
  http::response probe(const std::string& target) const { return probe(get(target)); }

  /// The valid call of this kind that the router makes of a request; nothing if it makes another
  /// one, or none.
  template <class Call>
  std::optional<Call> call(const http::request& asked) const {
    const api::routed wanted = api::route(asked, seen, routes);
    if (!wanted) return std::nullopt;
    if constexpr (std::is_constructible_v<api::read_call, Call>) {
      const auto* const read = std::get_if<api::read_call>(&*wanted);
      const auto* const found = read != nullptr ? std::get_if<Call>(read) : nullptr;
      return found != nullptr ? std::optional(*found) : std::nullopt;
    } else {
      const auto* const found = std::get_if<Call>(&*wanted);
      return found != nullptr ? std::optional(*found) : std::nullopt;
    }
  }
  nlohmann::json json(const std::string& target) const {
    return nlohmann::json::parse(ask(target).body);
  }
  nlohmann::json db_json() const { return json("/v1/elections/db"); }

  api::instant at{.now = start, .unix_ms = start_unix_ms};
  api::snapshot seen;
  api::heartbeat alive{.last_beat = start, .bound = 10s};
  api::routes routes;

 private:
  http::response answer(const api::routed& wanted) const {
    if (!wanted) return wanted.error();
    const auto* const read = std::get_if<api::read_call>(&*wanted);
    if (read == nullptr) throw std::logic_error("this call is not answered from a snapshot");
    return api::answer(*read, seen, alive, at);
  }
};

}  // namespace tenure::tests
