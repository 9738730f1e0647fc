#include "consul/modelled_consul.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/base64.hpp"
#include "base/number_text.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;

/// A server that finds no leader answers with an error after so long.
constexpr core::duration longest_request = 7s;
/// Between a leader and the server that asks it, or the other way.
constexpr core::duration longest_way = 3ms;
constexpr core::duration least_way = 20us;
constexpr std::uint32_t half = 500'000;
/// A blocking query that is answered although nothing has changed.
constexpr std::uint32_t early_ppm = 20'000;
constexpr int jitter_part = 16;

/// "1500ms"
core::duration duration_of(const std::string& text) {
  return std::chrono::milliseconds(
      base::read_number<std::int64_t>(text.substr(0, text.find('m'))).value_or(0));
}

std::string text_of(core::duration d) {
  return std::to_string(d / 1ms) + "ms";
}

json shown(const std::string& key, const consul_state::entry& what, bool with_value) {
  json out{{"LockIndex", what.lock_index}, {"Key", key},
           {"Flags", what.flags},          {"Value", nullptr},
           {"CreateIndex", what.create},   {"ModifyIndex", what.modify}};
  if (with_value && !what.value.empty()) out["Value"] = base::to_base64(what.value);
  if (!what.session.empty()) out["Session"] = what.session;
  return out;
}

std::vector<consul_state::operation> operations_of(const std::string& body) {
  std::vector<consul_state::operation> out;
  for (const json& one : json::parse(body)) {
    const json& kv = one.at("KV");
    out.push_back({.verb = kv.at("Verb"),
                   .key = kv.at("Key"),
                   .value = base::from_base64(kv.value("Value", "")).value_or(""),
                   .flags = kv.value("Flags", std::uint64_t{0}),
                   .index = kv.value("Index", std::uint64_t{0}),
                   .session = kv.value("Session", "")});
  }
  return out;
}

bool only_reads(const std::vector<consul_state::operation>& all) {
  return std::ranges::all_of(
      all, [](const auto& one) { return one.verb == "get" || one.verb.starts_with("check"); });
}

std::string text_of(const consul_state::outcome& what) {
  json results = json::array();
  json errors = json::array();
  for (const auto& one : what.results) {
    results.push_back({{"KV", shown(one.key, one.what, one.with_value)}});
  }
  for (const auto& one : what.errors) {
    errors.push_back({{"OpIndex", one.which}, {"What", one.what}});
  }
  return json{{"Results", results.empty() ? json() : results},
              {"Errors", errors.empty() ? json() : errors}}
      .dump();
}

const std::string* parameter(const http::request_target& of, std::string_view name) {
  const auto found = std::ranges::find(of.query, name, &http::parameter::name);
  return found == of.query.end() ? nullptr : &found->value;
}

/// What is after "/v1/kv/".
std::string key_in(const http::request_target& of) {
  std::string out;
  for (std::size_t i = 2; i < of.segments.size(); ++i) out += (i > 2 ? "/" : "") + of.segments[i];
  return out;
}

}  // namespace

modelled_consul::modelled_consul(world& in, store_witness& seen_by)
    : modelled_cluster(in, {.applied = [](std::size_t) {},
                            .stopped = [this](std::size_t m) { stopped(m); },
                            .leaderless = [](std::size_t) {},
                            .elected = [this] { elected(); },
                            .alone = [this](std::size_t m) { known_when_alone_[m] = state_; }}),
      world_(in),
      witness_(seen_by),
      sessions_(in, members_, state_,
                {.ended =
                     [this](const std::string& id) {
                       sessions_.delay_keys_of(id);
                       state_.end_session(id);
                       wrote(erased_by::expiry);
                     },
                 .delayed =
                     [this](const std::string& key, world_time until) {
                       if (key.ends_with("/.lock")) witness_.delayed(key, until);
                     }}),
      terms_(seen_by),
      calls_(in, members_, [this](const call_ptr& c) { take(c); }) {}

void modelled_consul::handle(std::size_t server, http::client_request asked, reply done) {
  calls_.arrive(server, std::move(asked), std::move(done));
}

void modelled_consul::take(const call_ptr& c) {
  const auto& path = c->target.segments;
  const auto is = [&](std::string_view room, std::string_view what) {
    return path.size() > 2 && path[1] == room && path[2] == what;
  };
  if (is("agent", "self")) {
    return answer(c, 200, json{{"Config", {{"Version", "1.21.0"}, {"Datacenter", "dc1"}}}}.dump());
  }
  if (is("session", "create")) return make_session(c);
  if (is("session", "renew")) return renew_session(c, path.at(3));
  if (is("session", "destroy")) return destroy_session(c, path.at(3));
  if (path.size() > 1 && path[1] == "txn") return transact(c);
  if (path.size() > 1 && path[1] == "kv") return c->asked.method == "GET" ? read(c) : put(c);
  answer(c, 404, "");
}

// Sessions --------------------------------------------------------------------------------------

void modelled_consul::make_session(const call_ptr& c) {
  at_leader(c, [this, c] {
    const json asked = json::parse(c->asked.body);
    consul_state::session made{.name = asked.value("Name", ""),
                               .lock_delay = duration_of(asked.value("LockDelay", "15000ms")),
                               .removes = asked.value("Behavior", "") == "delete"};
    if (asked.contains("TTL")) made.ttl = duration_of(asked.at("TTL"));
    const std::string id = state_.make_session(made);
    sessions_.kept(id);
    wrote(erased_by::transaction);
    answer(c, 200, json{{"ID", id}}.dump());
  });
}

/// The leader alone counts sessions, and asks nobody. One that was cut off or stopped goes on to
/// answer until it notices.
void modelled_consul::renew_session(const call_ptr& c, const std::string& id) {
  const auto say = [this, c, id](const consul_state& from) {
    const auto* const found = from.find_session(id);
    if (found == nullptr) return answer(c, 404, "Session id '" + id + "' not found");
    json one{{"ID", id}, {"Name", found->name}};
    if (found->ttl) one["TTL"] = text_of(*found->ttl);
    answer(c, 200, json::array({one}).dump());
  };
  if (members_.believes_to_lead(c->server)) {
    const consul_state& known = known_when_alone_[c->server];
    const auto* const one = known.find_session(id);
    // Until there is another leader its count is the one that goes on.
    if (members_.leads(c->server)) {
      sessions_.kept(id);
    } else if (one != nullptr) {
      sessions_.kept_by_replaced(id, one->number);
    }
    return say(known);
  }
  if (!members_.led() || !members_.well(c->server)) return fail_later(c);
  world_.after(world_.dice.spread(least_way, longest_way), [this, c, id, say] {
    if (!members_.led() || !members_.well(c->server)) return fail_later(c);
    sessions_.kept(id);
    say(state_);
  });
}

void modelled_consul::destroy_session(const call_ptr& c, const std::string& id) {
  at_leader(c, [this, c, id] {
    if (state_.find_session(id) != nullptr) {
      sessions_.delay_keys_of(id);
      state_.end_session(id);
      wrote(erased_by::transaction);
    }
    answer(c, 200, "true");
  });
}

// Keys ------------------------------------------------------------------------------------------

void modelled_consul::transact(const call_ptr& c) {
  auto all = operations_of(c->asked.body);
  if (!only_reads(all)) {
    return at_leader(c, [this, c, all] {
      consul_state::outcome out{.errors = delayed(all)};
      if (out.errors.empty()) {
        const auto orders = orders_in(all);
        out = state_.transact(all);
        wrote(erased_by::transaction);
        for (const auto& [key, text] : orders) {
          if (state_.find(key) == nullptr) witness_.order_gone(text, erased_by::transaction);
        }
      }
      answer(c, out.errors.empty() ? 200 : 409, text_of(out));
    });
  }
  const auto look = [this, c, all](const consul_state& in) {
    consul_state copy = in;
    const auto out = copy.transact(all);
    answer(c, out.errors.empty() ? 200 : 409, text_of(out));
  };
  const bool is_consistent = parameter(c->target, "consistent") != nullptr;
  if (!is_consistent && members_.believes_to_lead(c->server)) {
    return look(known_when_alone_[c->server]);
  }
  at_leader(c, [this, look] { look(state_); });
}

/// The orders that these operations name, as they are now.
std::map<std::string, std::string> modelled_consul::orders_in(
    const std::vector<consul_state::operation>& all) const {
  std::map<std::string, std::string> out;
  for (const auto& one : all) {
    const auto* const there = state_.find(one.key);
    if (there != nullptr && one.key.contains("/.tenure/orders/")) out[one.key] = there->value;
  }
  return out;
}

std::vector<consul_state::refused> modelled_consul::delayed(
    const std::vector<consul_state::operation>& all) const {
  std::vector<consul_state::refused> out;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].verb != "lock" || !sessions_.is_delayed(all[i].key)) continue;
    out.push_back(
        {.which = i, .what = "failed to lock key \"" + all[i].key + "\" due to lock delay"});
  }
  return out;
}

/// `acquire` and `release` name a session, `cas` an index; without them the value is written alone.
void modelled_consul::put(const call_ptr& c) {
  const std::string* const acquire = parameter(c->target, "acquire");
  const std::string* const release = parameter(c->target, "release");
  const std::string* const flags = parameter(c->target, "flags");
  const std::string* const index = parameter(c->target, "cas");
  const std::string* const session = acquire != nullptr ? acquire : release;
  consul_state::operation one{
      .verb = c->asked.method == "DELETE" ? "delete"
              : acquire != nullptr        ? "lock"
              : release != nullptr        ? "unlock"
              : index != nullptr          ? "cas"
                                          : "set",
      .key = key_in(c->target),
      .value = c->asked.body,
      .flags = flags == nullptr ? 0 : base::read_number<std::uint64_t>(*flags).value_or(0),
      .index = index == nullptr ? 0 : base::read_number<std::uint64_t>(*index).value_or(0),
      .session = session == nullptr ? "" : *session};
  at_leader(c, [this, c, one] {
    if (!delayed({one}).empty()) return answer(c, 200, "false");
    const auto out = state_.transact({one});
    wrote(erased_by::transaction);
    answer(c, 200, out.errors.empty() ? "true" : "false");
  });
}

void modelled_consul::read(const call_ptr& c) {
  const std::string prefix = key_in(c->target);
  const std::string* const index = parameter(c->target, "index");
  const auto after = index == nullptr ? 0 : base::read_number<std::uint64_t>(*index).value_or(0);
  const bool is_consistent = parameter(c->target, "consistent") != nullptr;
  if (!is_consistent && members_.believes_to_lead(c->server)) {
    return answer_keys(c, known_when_alone_[c->server]);
  }
  at_leader(c, [this, c, prefix, after] {
    if (after == 0 || state_.index_of(prefix) > after) return answer_keys(c, state_);
    block(c, prefix, after);
  });
}

void modelled_consul::block(const call_ptr& c, const std::string& prefix, std::uint64_t after) {
  const std::string* const wait = parameter(c->target, "wait");
  const core::duration time = wait == nullptr ? core::duration(5min) : duration_of(*wait);
  waiting_.push_back(
      {.of = c, .leader = members_.leader(), .prefix = prefix, .after = after, .at_first = state_});
  world_.after(time + world_.dice.between(core::duration{}, time / jitter_part),
               [this, noted = std::weak_ptr(c)] {
                 if (const auto there = noted.lock()) time_is_over(there);
               });
}

void modelled_consul::time_is_over(const call_ptr& of) {
  const auto found = std::ranges::find(waiting_, of, &blocking_query::of);
  if (found == waiting_.end()) return;
  const blocking_query one = std::move(*found);
  waiting_.erase(found);
  answer_keys(of, one.at_first);
}

void modelled_consul::answer_keys(const call_ptr& c, const consul_state& from) {
  const std::string key = key_in(c->target);
  const bool recurse = parameter(c->target, "recurse") != nullptr;
  json out = json::array();
  for (const std::string& one : from.keys_under(key)) {
    if (recurse || one == key) out.push_back(shown(one, *from.find(one), true));
  }
  const std::uint64_t index = from.index_of(key);
  out.empty() ? answer(c, 404, "", index) : answer(c, 200, out.dump(), index);
}

// What happens at the servers ---------------------------------------------------------------------

/// Through the leader, if the server reaches it, which first makes sure that it still leads.
void modelled_consul::at_leader(const call_ptr& c, std::move_only_function<void()> work) {
  members_.propose(
      c->server,
      [work = std::move(work)]() mutable {
        work();
        return std::uint64_t{0};
      },
      [this, c](bool done) {
        if (!done) fail_later(c);
      });
}

void modelled_consul::wrote(erased_by how) {
  terms_.changed(state_, how);
  members_.commit(state_.index());
  wake();
}

/// A query waits where the leader was; a leader that was replaced may not answer any more.
void modelled_consul::wake() {
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const auto where = static_cast<std::size_t>(at->leader);
    const bool hears = members_.well(where);
    const bool leads = hears && members_.led() && members_.leads(where);
    const bool news = state_.index_of(at->prefix) > at->after;
    if (!hears || (!news && !world_.dice.chance(early_ppm))) {
      ++at;
      continue;
    }
    const call_ptr c = at->of;
    at = waiting_.erase(at);
    leads ? answer_keys(c, state_) : fail_later(c);
  }
}

void modelled_consul::elected() {
  sessions_.begin_all_anew();
  witness_.leases_begin_anew();
}

void modelled_consul::stopped(std::size_t server) {
  sessions_.forget(server);
  for (const call_ptr& c : calls_.open_at(server)) {
    std::erase_if(waiting_, [&](const blocking_query& one) { return one.of == c; });
    calls_.reset(c);
  }
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    if (at->leader != static_cast<int>(server)) {
      ++at;
      continue;
    }
    answer(at->of, 500, "rpc error making call: EOF");
    at = waiting_.erase(at);
  }
}

void modelled_consul::answer(const call_ptr& c, unsigned status, std::string body,
                             std::uint64_t index) {
  http::client_reply out{{.status = status}};
  out.body = std::move(body);
  if (index > 0) {
    out.headers.push_back({.name = "X-Consul-Index", .value = std::to_string(index)});
  }
  calls_.answer(c, std::move(out));
}

void modelled_consul::fail_later(const call_ptr& c) {
  world_.after(world_.dice.spread(5ms, longest_request), [this, c] {
    answer(c, 500, world_.dice.chance(half) ? "No cluster leader" : "rpc error making call: EOF");
  });
}

// Operators ---------------------------------------------------------------------------------------

void modelled_consul::write(const std::string& key, const std::string& value, std::uint64_t flags) {
  if (!members_.led()) return;
  state_.transact({{.verb = "set", .key = key, .value = value, .flags = flags}});
  wrote(erased_by::somebody);
}

bool modelled_consul::delete_one(const std::string& election) {
  const auto keys = state_.keys_under(election + "/");
  if (!members_.led() || keys.empty()) return false;
  // The lock key is the first one.
  state_.transact(
      {{.verb = "delete", .key = keys[world_.dice.chance(half) ? 0 : keys.size() / 2]}});
  wrote(erased_by::somebody);
  return true;
}

std::optional<std::size_t> modelled_consul::listed(const std::string& election,
                                                   const std::string& identity) const {
  const auto names = state_.keys_under(election + "/.tenure/members/");
  return std::ranges::count_if(names, [&](const std::string& key) {
    const consul_state::entry& one = *state_.find(key);
    return !one.session.empty() && one.value.starts_with(identity + " ");
  });
}

bool modelled_consul::revoke_one(const std::string& election) {
  const auto holders = consul_terms::holders(state_, election);
  return !holders.empty() && destroy(holders.front().session);
}

std::optional<std::string> modelled_consul::release_one(const std::string& election) {
  const auto holders = consul_terms::holders(state_, election);
  if (!members_.led() || holders.empty()) return std::nullopt;
  state_.transact(
      {{.verb = "unlock", .key = holders.front().key, .session = holders.front().session}});
  wrote(erased_by::somebody);
  return holders.front().session;
}

bool modelled_consul::destroy(const std::string& session) {
  if (!members_.led() || state_.find_session(session) == nullptr) return false;
  sessions_.delay_keys_of(session);
  state_.end_session(session);
  wrote(erased_by::somebody);
  return true;
}

void modelled_consul::erase(const std::string& key) {
  state_.transact({{.verb = "delete", .key = key}});
  wrote(erased_by::somebody);
}

void modelled_consul::clean(const std::string& prefix) {
  for (const std::string& key : state_.keys_under(prefix)) {
    if (state_.find(key)->session.empty()) state_.transact({{.verb = "delete", .key = key}});
  }
  wrote(erased_by::somebody);
}

/// Answers all queries that wait, with what was there before, as Consul does.
void modelled_consul::restore(const consul_state& snapshot) {
  if (!members_.led()) return;
  state_.restore(snapshot);
  terms_.restored(state_);
  sessions_.begin_all_anew();
  members_.commit(state_.index());
  for (blocking_query& one : std::exchange(waiting_, {})) answer_keys(one.of, one.at_first);
}

// What is true ------------------------------------------------------------------------------------

std::string modelled_consul::describe() const {
  std::string out = "index " + std::to_string(state_.index()) + ", " + members_.describe() + ", " +
                    std::to_string(state_.sessions().size()) + " sessions, " +
                    std::to_string(waiting_.size()) + " queries wait";
  for (std::size_t s = 0; s < most_servers; ++s) out += "; " + members_.describe(s);
  return out;
}

world_time modelled_consul::promised(std::int64_t lease) const {
  constexpr std::int64_t number_of_session = 0xffffff;
  return sessions_.promised(static_cast<std::uint64_t>(lease & number_of_session));
}

std::vector<std::uint64_t> modelled_consul::contenders(const std::string& election) const {
  std::vector<std::uint64_t> out;
  for (const auto& one : consul_terms::holders(state_, election)) out.push_back(one.version);
  return out;
}

}  // namespace tenure::shell
