#include "stores/consul/requests.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "base/percent_text.hpp"
#include "stores/consul/layout.hpp"

namespace tenure::stores::consul {
namespace {

/// With more elections than that, those in one folder are watched together.
constexpr std::size_t most_watched_alone = 16;

std::string kv_path(std::string_view key) {
  return "/v1/kv/" + base::percent_encoded(key, "/");
}

operation unchanged(const std::string& key, const basis& on) {
  if (on.index == 0) return check_absent{key};
  return check_index{.key = key, .index = on.index};
}

/// What the key of a term says when the term moves to another key or session.
std::string text_of_moved(const slot_holder& one) {
  return signature_text(
      {.identity = one.identity, .mark = one.mark, .version = one.version, .slot = one.slot});
}

/// The lock key of a semaphore with other holders, if it is as `on` says.
operation rewritten(const std::string& key, const basis& on, semaphore body) {
  body.changes = on.body.changes.value_or(0) + 1;
  return write{.key = key, .value = semaphore_text(body), .flags = on.flags, .index = on.index};
}

}  // namespace

request create_session_request(const session_wish& what) {
  return {.method = "PUT", .path = "/v1/session/create", .body = session_request(what)};
}

request renew_session_request(std::string_view id) {
  return {.method = "PUT", .path = "/v1/session/renew/" + std::string(id)};
}

request destroy_session_request(std::string_view id) {
  return {.method = "PUT", .path = "/v1/session/destroy/" + std::string(id)};
}

request read_request(std::string_view prefix) {
  return {.path = kv_path(prefix), .query = "consistent&recurse"};
}

request watch_request(std::string_view prefix, std::uint64_t index, core::duration wait) {
  const auto ms = std::chrono::floor<std::chrono::milliseconds>(wait).count();
  return {.path = kv_path(prefix),
          .query = "consistent&recurse&index=" + std::to_string(index) +
                   "&wait=" + std::to_string(ms) + "ms"};
}

parsed<std::string> session_in(const reply& answer) {
  if (answer.status == 200) return parse_session(answer.body);
  return std::unexpected(
      malformed{"the creation of a session was answered " + std::to_string(answer.status)});
}

bool says_gone(const reply& answer, std::string_view id) {
  return answer.status == 404 && answer.body.contains(id) &&
         read_error(404, answer.body).meaning == error_meaning::session_gone;
}

parsed<std::vector<key_value>> keys_in(const reply& answer, std::string_view prefix) {
  // Consul alone writes this header; anything may answer 404.
  if (answer.index == 0)
    return std::unexpected(malformed{"a read of keys was answered without X-Consul-Index"});
  if (answer.status == 404) return std::vector<key_value>();
  if (answer.status != 200) return std::unexpected(malformed{"a read of keys was answered 409"});
  auto keys = parse_keys(answer.body);
  const auto is_other = [&](const key_value& one) { return !one.key.starts_with(prefix); };
  if (keys && std::ranges::any_of(*keys, is_other)) {
    return std::unexpected(malformed{"a read of keys was answered with those of another folder"});
  }
  return keys;
}

std::vector<folder> folders_of(const std::vector<settings::election>& elections) {
  std::map<std::string, folder> all;
  for (std::uint32_t i = 0; i < elections.size(); ++i) {
    const std::string& name = elections[i].name;
    const std::size_t slash = name.rfind('/');
    const bool alone = elections.size() <= most_watched_alone || slash == std::string::npos;
    const std::string prefix = alone ? prefix_of(name) : name.substr(0, slash + 1);
    folder& its = all[prefix];
    its.prefix = prefix;
    its.elections.push_back(core::election_index{i});
  }
  std::vector<folder> out;
  for (auto& [prefix, one] : all) out.push_back(std::move(one));
  return out;
}

std::string sequencer_of(const slot_holder& one) {
  return one.key + "@" + std::to_string(one.lock_index) + "@" + one.session;
}

std::string text_of(const slot_holder& one) {
  const bool has_moved = core::number(one.version) != one.index;
  return signature_text({.identity = one.identity,
                         .mark = one.mark,
                         .version = has_moved ? one.version : core::no_version,
                         .slot = one.slot});
}

std::vector<operation> campaign_transaction(const settings::election& election, const basis& on,
                                            const std::string& session, const std::string& text) {
  const std::string key = lock_key(election.name);
  const bool is_shared_as = on.shape == lock_shape::semaphore && on.body.limit == election.slots;
  if (election.slots == 1 && !is_shared_as) {
    std::vector<operation> out{
        unchanged(key, on),
        lock{.key = key, .value = text, .flags = lock_flags, .session = session}};
    out.insert(out.end(), on.dead.begin(), on.dead.end());
    return out;
  }
  semaphore body = on.body;
  body.limit = election.slots;
  body.holders.push_back(session);
  const std::string own = contender_key(election.name, session);
  std::vector<operation> out;
  if (on.shape == lock_shape::single) {
    // Who has lost the lock may rely on its lock-delay, which only a lock respects.
    body.changes = 1;
    out = {
        unchanged(key, on), lock{.key = key, .value = "", .flags = on.flags, .session = session},
        unlock{.key = key, .value = semaphore_text(body), .flags = on.flags, .session = session}};
  } else {
    out = {rewritten(key, on, std::move(body))};
  }
  // If a session locks its key again with the same value, Consul leaves the key as it is, and shows
  // the version of the earlier term.
  if (std::ranges::find(on.ousted, session) != on.ousted.end()) {
    out.emplace_back(unlock{.key = own, .value = "", .flags = on.flags, .session = session});
  }
  out.emplace_back(lock{.key = own, .value = text, .flags = on.flags, .session = session});
  out.insert(out.end(), on.dead.begin(), on.dead.end());
  return out;
}

std::vector<operation> move_transaction(std::string_view election, const basis& on,
                                        const slot_holder& own, const std::string& session) {
  const std::string text = text_of_moved(own);
  if (own.key == lock_key(election)) {
    return {check_index{.key = own.key, .index = own.index},
            unlock{.key = own.key, .value = text, .flags = lock_flags, .session = own.session},
            lock{.key = own.key, .value = text, .flags = lock_flags, .session = session}};
  }
  semaphore body = on.body;
  std::ranges::replace(body.holders, own.session, session);
  return {check_index{.key = own.key, .index = own.index},
          rewritten(lock_key(election), on, std::move(body)),
          erase{.key = own.key, .index = own.index},
          lock{.key = contender_key(election, session),
               .value = text,
               .flags = on.flags,
               .session = session}};
}

std::vector<operation> release_transaction(std::string_view election, const basis& on,
                                           const std::string& key, std::uint64_t index,
                                           const std::string& session, const std::string& note,
                                           const std::optional<place_offer>& next) {
  std::vector<operation> out;
  if (key == lock_key(election)) {
    out = {check_index{.key = key, .index = index},
           unlock{.key = key, .value = "", .flags = lock_flags, .session = session}};
    if (next) {
      const std::string text = signature_text({.identity = next->identity, .mark = next->mark});
      out.emplace_back(
          lock{.key = key, .value = text, .flags = lock_flags, .session = next->session});
    }
  } else {
    semaphore body = on.body;
    std::erase(body.holders, session);
    out = {check_index{.key = key, .index = index},
           rewritten(lock_key(election), on, std::move(body)), erase{.key = key, .index = index}};
  }
  if (!note.empty()) out.emplace_back(write{.key = release_key(election), .value = note});
  return out;
}

}  // namespace tenure::stores::consul
