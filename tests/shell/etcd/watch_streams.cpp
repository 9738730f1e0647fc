#include "etcd/watch_streams.hpp"

#include <algorithm>
#include <utility>

#include "etcd/gateway_json.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;
using base::to_base64;
using nlohmann::json;

/// A watch that begins in the past is brought up to date ten times a second.
constexpr core::duration sync_interval = 100ms;

std::vector<std::string> lines_of(std::string_view body) {
  std::vector<std::string> out;
  while (!body.empty()) {
    const auto end = std::min(body.find('\n'), body.size());
    if (end > 0) out.emplace_back(body.substr(0, end));
    body.remove_prefix(std::min(end + 1, body.size()));
  }
  return out;
}

json event_of(const std::string& key, const key_space::change& what) {
  json kv{{"key", to_base64(key)}, {"mod_revision", std::to_string(what.mod)}};
  if (what.erased) return {{"type", "DELETE"}, {"kv", std::move(kv)}};
  kv["create_revision"] = std::to_string(what.create);
  kv["value"] = to_base64(what.value);
  if (what.lease != 0) kv["lease"] = std::to_string(what.lease);
  return {{"kv", std::move(kv)}};
}

}  // namespace

void watch_streams::open(std::size_t m, const std::shared_ptr<watch_stream>& what,
                         std::string_view body, std::string token) {
  if (!members_.up(m)) return;
  what->member = m;
  what->token = std::move(token);
  streams_[m].push_back(what);
  more(what, body);
}

void watch_streams::more(const std::shared_ptr<watch_stream>& of, std::string_view body) {
  const std::size_t m = of->member;
  if (of->closed || !members_.up(m)) return;
  if (members_.frozen(m)) {
    members_.when_thawed(m, [this, of, text = std::string(body)] { more(of, text); });
    return;
  }
  const std::uint64_t applied = members_.applied(m);
  for (const std::string& line : lines_of(body)) {
    const json asked = json::parse(line);
    if (asked.contains("progress_request")) {
      feed(of);
      of->data(in_stream({{"header", header(members_, m, applied)}, {"watch_id", "-1"}}));
      continue;
    }
    const json& create = asked.at("create_request");
    watch_stream::watch one{.id = number<std::int64_t>(create, "watch_id"),
                            .begin = bytes(create, "key"),
                            .end = bytes(create, "range_end"),
                            .next = number<std::uint64_t>(create, "start_revision")};
    if (one.next == 0) one.next = applied + 1;
    denial no = users_.check_token(m, of->token);
    if (!no) no = users_.check_access(of->token, one.begin, one.end);
    if (no) {
      of->data(in_stream({{"header", header(members_, m, applied)},
                          {"watch_id", "-1"},
                          {"created", true},
                          {"canceled", true},
                          {"cancel_reason", "rpc error: code = " + std::to_string(no.code) +
                                                " desc = " + no.text}}));
      continue;
    }
    const json about{{"header", header(members_, m, applied)},
                     {"watch_id", std::to_string(one.id)},
                     {"created", true}};
    of->data(in_stream(about));
    if (one.next < keys_.compacted()) {
      of->data(in_stream({{"header", header(members_, m, applied)},
                          {"watch_id", std::to_string(one.id)},
                          {"canceled", true},
                          {"compact_revision", std::to_string(keys_.compacted())}}));
      continue;
    }
    if (one.next <= applied) {
      one.synced = world_.now + world_.dice.between(core::duration{}, sync_interval);
      world_.at(one.synced, [this, to = std::weak_ptr(of)] {
        if (const auto there = to.lock()) feed(there);
      });
    }
    of->watches.push_back(std::move(one));
  }
}

void watch_streams::feed(std::size_t member) {
  for (const auto& one : std::vector(streams_[member])) feed(one);
}

/// Sends what the member has applied and has not sent yet.
void watch_streams::feed(const std::shared_ptr<watch_stream>& to) {
  const std::size_t m = to->member;
  if (to->closed || !members_.up(m) || members_.frozen(m)) return;
  const std::uint64_t applied = members_.applied(m);
  for (watch_stream::watch& one : to->watches) {
    if (one.synced > world_.now) continue;
    json events = json::array();
    keys_.writes(one.next, applied, [&](const std::string& key, const key_space::change& what) {
      if (one.end.empty() ? key != one.begin : (key < one.begin || key >= one.end)) return;
      events.push_back(event_of(key, what));
    });
    one.next = std::max(one.next, applied + 1);
    if (events.empty()) continue;
    to->data(in_stream({{"header", header(members_, m, applied)},
                        {"watch_id", std::to_string(one.id)},
                        {"events", std::move(events)}}));
  }
}

void watch_streams::end_all(std::size_t member, const std::string& last) {
  for (const auto& one : std::exchange(streams_[member], {})) {
    if (one->closed) continue;
    if (!last.empty()) one->data(last);
    one->end();
  }
}

}  // namespace tenure::shell
