#include "modelled_etcd.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "base/number_text.hpp"
#include "stores/etcd/base64.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using nlohmann::json;
using stores::etcd::from_base64;
using stores::etcd::to_base64;

constexpr std::uint64_t cluster_id = 0xc1;
/// etcd looks for leases that have run out twice a second.
constexpr core::duration expiry_interval = 500ms;
/// A leader without a quorum steps down, and the others elect another, after about a second each.
constexpr core::duration least_election = 900ms;
constexpr core::duration most_election = 2500ms;
/// A server that cannot do what it is asked says so at last.
constexpr core::duration longest_request = 7s;
/// A watch that begins in the past is brought up to date ten times a second.
constexpr core::duration sync_interval = 100ms;
/// After so long without a leader a watch that wants one is ended.
constexpr core::duration leaderless_patience = 3s;

std::string bytes(const json& of, const char* field) {
  return of.contains(field) ? from_base64(of.at(field).get<std::string>()).value_or("") : "";
}

template <class Number>
Number number(const json& of, const char* field) {
  if (!of.contains(field)) return 0;
  const json& found = of.at(field);
  if (found.is_number()) return found.get<Number>();
  return base::read_number<Number>(found.get<std::string>()).value_or(0);
}

std::string refusal(int code, const std::string& text) {
  return json{{"code", code}, {"message", text}}.dump();
}

std::string in_stream(json what) {
  return json{{"result", std::move(what)}}.dump() + "\n";
}

std::vector<std::string> lines_of(std::string_view body) {
  std::vector<std::string> out;
  while (!body.empty()) {
    const auto end = std::min(body.find('\n'), body.size());
    if (end > 0) out.emplace_back(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return out;
}

}  // namespace

modelled_etcd::modelled_etcd(world& in, etcd_witness& seen_by) : world_(in), witness_(seen_by) {
  world_.after(expiry_interval, [this] { expire(); });
}

// What clients do --------------------------------------------------------------------------------

void modelled_etcd::handle(std::size_t s, const std::string& path, const std::string& body,
                           reply done) {
  server& at = servers_[s];
  if (!at.up) return;
  if (!at.frozen) return take(s, path, body, std::move(done));
  at.inbox.emplace_back([this, s, path, body, done = std::move(done)]() mutable {
    take(s, path, body, std::move(done));
  });
}

void modelled_etcd::take(std::size_t s, const std::string& path, const std::string& body,
                         reply done) {
  if (path == "/version") {
    return done(200, json{{"etcdserver", "3.6.5"}, {"etcdcluster", "3.6.0"}}.dump());
  }
  if (path == "/v3/kv/txn") return transact(s, body, std::move(done));
  const json asked = json::parse(body);
  const auto id = number<std::int64_t>(asked, "ID");
  if (path == "/v3/lease/keepalive") return keep_alive(s, id, std::move(done));
  if (path == "/v3/lease/grant") {
    const core::duration ttl = std::chrono::seconds(number<std::int64_t>(asked, "TTL"));
    const auto exists = std::make_shared<bool>(false);
    return through_quorum(
        s,
        [this, id, ttl, exists] {
          *exists = leases_.contains(id);
          if (!*exists) {
            leases_[id] = {.ttl = ttl, .expires = world_.now + ttl, .keys = {}};
            lives_[id] = {.ttl = ttl, .since = world_.now, .promised = world_.now + ttl};
          }
          return revision_;
        },
        [this, s, id, ttl, exists](reply& to) {
          if (*exists) return to(400, refusal(9, "etcdserver: lease already exists"));
          to(200, json{{"header", header(s, servers_[s].applied)},
                       {"ID", std::to_string(id)},
                       {"TTL", std::to_string(ttl / 1s)}}
                      .dump());
        },
        std::move(done));
  }
  if (path == "/v3/lease/revoke") {
    const auto known = std::make_shared<bool>(false);
    return through_quorum(
        s,
        [this, id, known] {
          *known = leases_.contains(id);
          if (*known) end_lease(id, erased_by::transaction);
          return revision_;
        },
        [this, s, known](reply& to) {
          if (!*known) return to(404, refusal(5, "etcdserver: requested lease not found"));
          to(200, json{{"header", header(s, servers_[s].applied)}}.dump());
        },
        std::move(done));
  }
  done(404, refusal(5, "Not Found"));
}

/// The leader alone counts leases, and asks nobody. One that was cut off or stopped goes on to
/// answer until it notices.
void modelled_etcd::keep_alive(std::size_t s, std::int64_t lease, reply done) {
  const auto answer = [this, s, lease](reply& to, std::optional<core::duration> ttl) {
    json out{{"header", header(s, servers_[s].applied)}, {"ID", std::to_string(lease)}};
    if (ttl) out["TTL"] = std::to_string(*ttl / 1s);
    to(200, in_stream(std::move(out)));
  };
  if (believes_to_lead(s)) {
    const auto known = lives_.find(lease);
    const world_time alone = servers_[s].alone_since;
    const bool was_there =
        known != lives_.end() && known->second.since < alone && known->second.ended > alone;
    if (!was_there) return answer(done, std::nullopt);
    // As long as there is no other, its word counts: one that comes later gives them all more.
    const auto here = leases_.find(lease);
    if (static_cast<int>(s) == leader_ && here != leases_.end()) {
      here->second.expires = world_.now + here->second.ttl;
      known->second.promised = here->second.expires;
    }
    return answer(done, known->second.ttl);
  }
  if (!led() || !well(s)) return fail_later(std::move(done));
  world_.after(world_.dice.between(core::duration(20us), 1ms),
               [this, s, lease, answer, to = std::move(done)]() mutable {
                 if (!led() || !well(s)) return fail_later(std::move(to));
                 const auto found = leases_.find(lease);
                 if (found == leases_.end() || found->second.expires <= world_.now) {
                   return answer(to, std::nullopt);
                 }
                 found->second.expires = world_.now + found->second.ttl;
                 lives_[lease].promised = found->second.expires;
                 answer(to, found->second.ttl);
               });
}

void modelled_etcd::transact(std::size_t s, const std::string& body, reply done) {
  const auto asked = std::make_shared<json>(json::parse(body));
  const auto is_read = [](const json& operations) {
    return std::ranges::all_of(operations,
                               [](const json& one) { return one.contains("request_range"); });
  };
  const bool only_reads = is_read(asked->at("success")) && asked->at("compare").empty();
  const auto is_local = [](const json& one) {
    return one.contains("request_range") && one.at("request_range").value("serializable", false);
  };
  if (only_reads && std::ranges::all_of(asked->at("success"), is_local)) {
    return answer_reads(s, *asked, done);
  }
  struct outcome {
    json body;
    std::string error;
  };
  const auto made = std::make_shared<outcome>();
  through_quorum(
      s,
      [this, asked, made, only_reads] {
        if (only_reads) return revision_;
        const bool good = std::ranges::all_of(asked->at("compare"),
                                              [this](const json& one) { return holds(one); });
        const json& operations = asked->at(good ? "success" : "failure");
        // Checked before anything is written, as etcd does.
        for (const json& one : operations) {
          if (!one.contains("request_put")) continue;
          const auto lease = number<std::int64_t>(one.at("request_put"), "lease");
          if (lease != 0 && !leases_.contains(lease)) {
            made->error = refusal(5, "etcdserver: requested lease not found");
            return revision_;
          }
        }
        bool wrote = false;
        json parts = json::array();
        ++revision_;
        for (const json& one : operations) parts.push_back(carry_out(one, wrote, made->error));
        if (wrote) {
          committed();
        } else {
          --revision_;
        }
        made->body = {{"succeeded", good}, {"responses", std::move(parts)}};
        made->body["revision"] = revision_;
        return revision_;
      },
      [this, s, asked, made, only_reads](reply& to) {
        if (!made->error.empty()) return to(404, made->error);
        if (only_reads) return answer_reads(s, *asked, to);
        const auto at = made->body.at("revision").get<std::uint64_t>();
        made->body.erase("revision");
        made->body["header"] = header(s, at);
        to(200, made->body.dump());
      },
      std::move(done));
}

/// As far as this server is.
void modelled_etcd::answer_reads(std::size_t s, const json& asked, reply& to) const {
  const std::uint64_t at = servers_[s].applied;
  json parts = json::array();
  for (const json& one : asked.at("success")) {
    parts.push_back({{"response_range", read(one.at("request_range"), at)}});
  }
  to(200,
     json{{"header", header(s, at)}, {"succeeded", true}, {"responses", std::move(parts)}}.dump());
}

void modelled_etcd::through_quorum(std::size_t s, std::move_only_function<std::uint64_t()> work,
                                   std::move_only_function<void(reply&)> answer, reply done) {
  if (!led() || !well(s)) return fail_later(std::move(done));
  world_.after(world_.dice.spread(50us, 4ms), [this, s, work = std::move(work),
                                               answer = std::move(answer),
                                               to = std::move(done)]() mutable {
    if (!led() || !well(s)) return fail_later(std::move(to));
    const std::uint64_t at = work();
    when_applied(s, at, [answer = std::move(answer), to = std::move(to)]() mutable { answer(to); });
  });
}

void modelled_etcd::fail_later(reply done) {
  world_.after(world_.dice.spread(5ms, longest_request), [this, to = std::move(done)]() mutable {
    to(503, refusal(14, world_.dice.chance(500'000) ? "etcdserver: no leader"
                                                    : "etcdserver: request timed out"));
  });
}

void modelled_etcd::when_applied(std::size_t s, std::uint64_t revision, world::task what) {
  server& at = servers_[s];
  if (at.applied >= revision) return what();
  at.waiting.emplace(revision, std::move(what));
}

// The history ------------------------------------------------------------------------------------

const modelled_etcd::change* modelled_etcd::find(const std::string& key, std::uint64_t at) const {
  const auto found = keys_.find(key);
  if (found == keys_.end()) return nullptr;
  const auto& all = found->second;
  const auto after = std::ranges::upper_bound(all, at, {}, &change::mod);
  if (after == all.begin()) return nullptr;
  const change& newest = *std::prev(after);
  return newest.erased ? nullptr : &newest;
}

/// Of a range, every key has to fulfil it; of none that is there, one that does not exist.
bool modelled_etcd::holds(const json& condition) const {
  const std::string begin = bytes(condition, "key");
  const std::string end = bytes(condition, "range_end");
  const auto target = condition.at("target").get<std::string>();
  const auto wanted = condition.at("result").get<std::string>();
  const auto judged = [&](const change* at) {
    const auto compared = [&](const auto& is, const auto& to) {
      if (wanted == "EQUAL") return is == to;
      if (wanted == "NOT_EQUAL") return is != to;
      return wanted == "LESS" ? is < to : is > to;
    };
    if (target == "VALUE") {
      return at != nullptr && compared(at->value, bytes(condition, "value"));
    }
    if (target == "LEASE") {
      return compared(at == nullptr ? 0 : at->lease, number<std::int64_t>(condition, "lease"));
    }
    if (target == "CREATE") {
      return compared(at == nullptr ? 0 : at->create,
                      number<std::uint64_t>(condition, "create_revision"));
    }
    return compared(at == nullptr ? 0 : at->mod, number<std::uint64_t>(condition, "mod_revision"));
  };
  if (end.empty()) return judged(find(begin, revision_));
  bool any = false;
  for (auto one = keys_.lower_bound(begin); one != keys_.end() && one->first < end; ++one) {
    const change* const at = find(one->first, revision_);
    if (at == nullptr) continue;
    any = true;
    if (!judged(at)) return false;
  }
  return any || judged(nullptr);
}

json modelled_etcd::carry_out(const json& operation, bool& wrote, std::string& error) {
  if (operation.contains("request_range")) {
    return {{"response_range", read(operation.at("request_range"), revision_)}};
  }
  if (operation.contains("request_put")) {
    const json& what = operation.at("request_put");
    put(bytes(what, "key"), bytes(what, "value"), number<std::int64_t>(what, "lease"));
    wrote = true;
    return {{"response_put", {{"header", {{"revision", std::to_string(revision_)}}}}}};
  }
  if (!operation.contains("request_delete_range")) {
    error = refusal(3, "etcdserver: key is not provided");
    return {};
  }
  const bool there =
      erase(bytes(operation.at("request_delete_range"), "key"), erased_by::transaction);
  wrote = wrote || there;
  json done{{"header", {{"revision", std::to_string(revision_)}}}};
  if (there) done["deleted"] = "1";
  return {{"response_delete_range", std::move(done)}};
}

json modelled_etcd::read(const json& range, std::uint64_t at) const {
  const std::string begin = bytes(range, "key");
  const std::string end = bytes(range, "range_end");
  std::vector<std::pair<std::string, const change*>> found;
  for (auto one = keys_.lower_bound(begin); one != keys_.end(); ++one) {
    if (end.empty() ? one->first != begin : one->first >= end) break;
    if (const change* const there = find(one->first, at)) found.emplace_back(one->first, there);
  }
  if (range.contains("sort_order")) {
    std::ranges::sort(found, {}, [](const auto& one) {
      return std::pair(one.second->create, std::string_view(one.first));
    });
  }
  json keys = json::array();
  for (const auto& [key, kv] : found) {
    json one{{"key", to_base64(key)},
             {"create_revision", std::to_string(kv->create)},
             {"mod_revision", std::to_string(kv->mod)},
             {"version", "1"},
             {"value", to_base64(kv->value)}};
    if (kv->lease != 0) one["lease"] = std::to_string(kv->lease);
    keys.push_back(std::move(one));
  }
  json out{{"header", {{"revision", std::to_string(at)}}}};
  if (!keys.empty()) out["count"] = std::to_string(keys.size());
  if (!keys.empty()) out["kvs"] = std::move(keys);
  return out;
}

json modelled_etcd::header(std::size_t s, std::uint64_t revision) const {
  return {{"cluster_id", std::to_string(cluster_id)},
          {"member_id", std::to_string(s + 1)},
          {"revision", std::to_string(revision)},
          {"raft_term", std::to_string(servers_[s].term)}};
}

void modelled_etcd::put(const std::string& key, const std::string& value, std::int64_t lease) {
  auto& all = keys_[key];
  const bool there = !all.empty() && !all.back().erased;
  const std::uint64_t create = there ? all.back().create : revision_;
  if (there && all.back().lease != 0) leases_[all.back().lease].keys.erase(key);
  all.push_back({.mod = revision_, .create = create, .value = value, .lease = lease});
  log_.emplace_back(revision_, key);
  if (lease != 0) leases_[lease].keys.insert(key);
  if (!there) witness_.created(key, revision_, lease);
}

bool modelled_etcd::erase(const std::string& key, erased_by how) {
  auto found = keys_.find(key);
  if (found == keys_.end() || found->second.empty() || found->second.back().erased) return false;
  const change last = found->second.back();
  if (const auto lease = leases_.find(last.lease); lease != leases_.end()) {
    lease->second.keys.erase(key);
  }
  found->second.push_back({.mod = revision_, .create = 0, .value = {}, .lease = 0, .erased = true});
  log_.emplace_back(revision_, key);
  witness_.erased(key, last.create, how);
  return true;
}

void modelled_etcd::end_lease(std::int64_t id, erased_by how) {
  const auto found = leases_.find(id);
  if (found == leases_.end()) return;
  const std::set<std::string> keys = found->second.keys;
  if (!keys.empty()) ++revision_;
  for (const std::string& key : keys) erase(key, how);
  leases_.erase(id);
  lives_[id].ended = world_.now;
  if (!keys.empty()) committed();
}

void modelled_etcd::committed() {
  for (std::size_t s = 0; s < most_servers; ++s) {
    if (well(s)) apply_later(s);
  }
}

void modelled_etcd::apply_later(std::size_t s) {
  server& at = servers_[s];
  const bool leads = static_cast<int>(s) == leader_;
  const core::duration takes =
      leads ? core::duration(1us)
            : world_.dice.spread(50us, 3ms) + world_.dice.between(core::duration{}, at.lag);
  at.applies_at = std::max(at.applies_at, world_.now + takes);
  world_.at(at.applies_at, [this, s, to = revision_] {
    if (well(s)) applied(s, to);
  });
}

void modelled_etcd::applied(std::size_t s, std::uint64_t revision) {
  server& at = servers_[s];
  if (revision <= at.applied) return;
  at.applied = revision;
  for (const auto& one : std::vector(at.streams)) feed(one);
  while (!at.waiting.empty() && at.waiting.begin()->first <= at.applied) {
    auto next = std::move(at.waiting.extract(at.waiting.begin()).mapped());
    next();
  }
}

// Watches ----------------------------------------------------------------------------------------

void modelled_etcd::open(std::size_t s, const std::shared_ptr<stream>& what,
                         std::string_view body) {
  server& at = servers_[s];
  if (!at.up) return;
  what->server = s;
  at.streams.push_back(what);
  more(what, body);
}

void modelled_etcd::more(const std::shared_ptr<stream>& of, std::string_view body) {
  server& at = servers_[of->server];
  if (of->closed || !at.up) return;
  if (at.frozen) {
    at.inbox.emplace_back([this, of, text = std::string(body)] { more(of, text); });
    return;
  }
  for (const std::string& line : lines_of(body)) {
    const json asked = json::parse(line);
    if (asked.contains("progress_request")) {
      feed(of);
      of->data(in_stream({{"header", header(of->server, at.applied)}, {"watch_id", "-1"}}));
      continue;
    }
    const json& create = asked.at("create_request");
    stream::watch one{.id = number<std::int64_t>(create, "watch_id"),
                      .begin = bytes(create, "key"),
                      .end = bytes(create, "range_end"),
                      .next = number<std::uint64_t>(create, "start_revision")};
    if (one.next == 0) one.next = at.applied + 1;
    const json about{{"header", header(of->server, at.applied)},
                     {"watch_id", std::to_string(one.id)},
                     {"created", true}};
    of->data(in_stream(about));
    if (one.next < compacted_) {
      of->data(in_stream({{"header", header(of->server, at.applied)},
                          {"watch_id", std::to_string(one.id)},
                          {"canceled", true},
                          {"compact_revision", std::to_string(compacted_)}}));
      continue;
    }
    if (one.next <= at.applied) {
      one.synced = world_.now + world_.dice.between(core::duration{}, sync_interval);
      world_.at(one.synced, [this, to = std::weak_ptr(of)] {
        if (const auto there = to.lock()) feed(there);
      });
    }
    of->watches.push_back(std::move(one));
  }
}

/// Sends what the server has applied and has not sent yet.
void modelled_etcd::feed(const std::shared_ptr<stream>& to) {
  server& at = servers_[to->server];
  if (to->closed || !at.up || at.frozen) return;
  for (stream::watch& one : to->watches) {
    if (one.synced > world_.now) continue;
    json events = json::array();
    for (auto next =
             std::ranges::lower_bound(log_, one.next, {}, [](const auto& l) { return l.first; });
         next != log_.end() && next->first <= at.applied; ++next) {
      const auto& [revision, key] = *next;
      if (one.end.empty() ? key != one.begin : (key < one.begin || key >= one.end)) continue;
      const auto& all = keys_.at(key);
      const auto here = std::ranges::lower_bound(all, revision, {}, &change::mod);
      json kv{{"key", to_base64(key)}, {"mod_revision", std::to_string(revision)}};
      if (here->erased) {
        events.push_back({{"type", "DELETE"}, {"kv", std::move(kv)}});
        continue;
      }
      kv["create_revision"] = std::to_string(here->create);
      kv["version"] = "1";
      kv["value"] = to_base64(here->value);
      if (here->lease != 0) kv["lease"] = std::to_string(here->lease);
      events.push_back({{"kv", std::move(kv)}});
    }
    one.next = std::max(one.next, at.applied + 1);
    if (events.empty()) continue;
    to->data(in_stream({{"header", header(to->server, at.applied)},
                        {"watch_id", std::to_string(one.id)},
                        {"events", std::move(events)}}));
  }
}

void modelled_etcd::break_streams(std::size_t s, const std::string& last) {
  for (const auto& one : std::exchange(servers_[s].streams, {})) {
    if (one->closed) continue;
    if (!last.empty()) one->data(last);
    one->end();
  }
}

// The cluster ------------------------------------------------------------------------------------

bool modelled_etcd::has_quorum() const {
  std::size_t there = 0;
  for (std::size_t s = 0; s < most_servers; ++s) there += well(s) ? 1 : 0;
  return there > most_servers / 2;
}

bool modelled_etcd::believes_to_lead(std::size_t s) const {
  return servers_[s].up && world_.now < servers_[s].leads_until &&
         (static_cast<int>(s) != leader_ || !led());
}

/// `s` is not among the others any more. A leader goes on for a moment.
void modelled_etcd::lost_quorum(std::size_t s) {
  server& at = servers_[s];
  at.alone_since = world_.now;
  if (static_cast<int>(s) == leader_) {
    at.leads_until = world_.now + world_.dice.between(least_election, most_election);
    elect_later();
  } else if (!has_quorum() && leader_ >= 0) {
    const auto leads = static_cast<std::size_t>(leader_);
    servers_[leads].alone_since = world_.now;
    servers_[leads].leads_until = world_.now + world_.dice.between(least_election, most_election);
    elect_later();
  }
  world_.after(leaderless_patience, [this, s, since = at.alone_since] {
    const server& still = servers_[s];
    if (still.up && !still.frozen && !still.linked && still.alone_since == since) {
      break_streams(
          s,
          json{{"error", {{"grpc_code", 14}, {"message", "etcdserver: no leader"}}}}.dump() + "\n");
    }
  });
}

void modelled_etcd::elect_later() {
  world_.after(world_.dice.between(least_election, most_election), [this] {
    if (led()) return;
    std::vector<std::size_t> able;
    for (std::size_t s = 0; s < most_servers; ++s) {
      if (well(s)) able.push_back(s);
    }
    if (able.size() <= most_servers / 2) return elect_later();
    elect(able[world_.dice.below(able.size())]);
  });
}

/// A new leader does not know who has renewed when: every lease gets all of its time.
void modelled_etcd::elect(std::size_t s) {
  leader_ = static_cast<int>(s);
  ++term_;
  for (auto& [id, one] : leases_) {
    one.expires = world_.now + one.ttl;
    lives_[id].promised = std::max(lives_[id].promised, one.expires);
  }
  for (std::size_t i = 0; i < most_servers; ++i) {
    if (!well(i)) continue;
    servers_[i].term = term_;
    servers_[i].leads_until = {};
    apply_later(i);
  }
}

void modelled_etcd::expire() {
  if (led()) {
    std::vector<std::int64_t> over;
    for (const auto& [id, one] : leases_) {
      if (one.expires <= world_.now) over.push_back(id);
    }
    for (const std::int64_t id : over) end_lease(id, erased_by::expiry);
  }
  world_.after(expiry_interval, [this] { expire(); });
}

void modelled_etcd::kill(std::size_t s) {
  server& at = servers_[s];
  if (!at.up) return;
  break_streams(s, "");
  at.waiting.clear();
  at.inbox.clear();
  at.frozen = false;
  at.up = false;
  lost_quorum(s);
  at.leads_until = {};
}

void modelled_etcd::start(std::size_t s) {
  servers_[s].up = true;
  join(s);
}

void modelled_etcd::freeze(std::size_t s) {
  server& at = servers_[s];
  if (!at.up || at.frozen) return;
  at.frozen = true;
  lost_quorum(s);
}

/// What has come meanwhile is done first, by the belief of before.
void modelled_etcd::thaw(std::size_t s) {
  server& at = servers_[s];
  if (!at.frozen) return;
  const bool replaced = static_cast<int>(s) != leader_;
  if (at.leads_until != world_time{}) {
    at.leads_until = world_.now + world_.dice.spread(1ms, least_election);
  }
  at.frozen = false;
  // Until it has heard of the others again.
  const bool was_linked = std::exchange(at.linked, !replaced && at.linked);
  for (auto& one : std::exchange(at.inbox, {})) one();
  if (!was_linked || at.linked) {
    if (at.linked) join(s);
    return;
  }
  world_.after(world_.dice.spread(1ms, least_election), [this, s] {
    if (servers_[s].up) join(s);
  });
}

void modelled_etcd::cut_off(std::size_t s) {
  server& at = servers_[s];
  if (!at.linked) return;
  at.linked = false;
  lost_quorum(s);
}

void modelled_etcd::join(std::size_t s) {
  server& at = servers_[s];
  at.linked = true;
  if (!well(s)) return;
  if (led()) {
    if (static_cast<int>(s) != leader_) at.leads_until = {};
    at.term = term_;
    for (std::size_t i = 0; i < most_servers; ++i) {
      if (well(i)) apply_later(i);
    }
  } else {
    elect_later();
  }
}

void modelled_etcd::change_leader() {
  if (!led()) return;
  std::vector<std::size_t> others;
  for (std::size_t s = 0; s < most_servers; ++s) {
    if (well(s) && static_cast<int>(s) != leader_) others.push_back(s);
  }
  if (!others.empty()) elect(others[world_.dice.below(others.size())]);
}

void modelled_etcd::compact() {
  std::uint64_t least = revision_;
  for (const server& one : servers_) least = std::min(least, one.applied);
  compacted_ = std::max(compacted_, least);
}

bool modelled_etcd::delete_one(const std::string& prefix) {
  if (!led()) return false;
  for (auto one = keys_.lower_bound(prefix); one != keys_.end() && one->first.starts_with(prefix);
       ++one) {
    if (find(one->first, revision_) == nullptr) continue;
    ++revision_;
    erase(one->first, erased_by::somebody);
    committed();
    return true;
  }
  return false;
}

bool modelled_etcd::revoke_one(const std::string& prefix) {
  if (!led()) return false;
  for (auto one = keys_.lower_bound(prefix); one != keys_.end() && one->first.starts_with(prefix);
       ++one) {
    const change* const there = find(one->first, revision_);
    if (there == nullptr || there->lease == 0) continue;
    end_lease(there->lease, erased_by::somebody);
    return true;
  }
  return false;
}

std::string modelled_etcd::describe() const {
  std::string out = "revision " + std::to_string(revision_) + ", raft term " +
                    std::to_string(term_) + (led() ? ", led by " : ", was led by ") +
                    std::to_string(leader_);
  for (const server& one : servers_) {
    out += std::string("; ") + (one.up ? "" : "down ") + (one.linked ? "" : "alone ") +
           (one.frozen ? "frozen " : "") + "at " + std::to_string(one.applied) + " with " +
           std::to_string(one.streams.size()) + " streams, " + std::to_string(one.waiting.size()) +
           " waiting";
  }
  return out;
}

world_time modelled_etcd::promised(std::int64_t lease) const {
  const auto found = lives_.find(lease);
  return found == lives_.end() ? world_time{} : found->second.promised;
}

std::vector<std::uint64_t> modelled_etcd::contenders(const std::string& prefix) const {
  std::vector<std::uint64_t> out;
  for (auto one = keys_.lower_bound(prefix); one != keys_.end() && one->first.starts_with(prefix);
       ++one) {
    if (const change* const there = find(one->first, revision_)) out.push_back(there->create);
  }
  std::ranges::sort(out);
  return out;
}

}  // namespace tenure::shell
