#include "fake_consul.hpp"

#include <cstdio>
#include <utility>

#include "base/base64.hpp"
#include "base/percent_text.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

constexpr std::chrono::milliseconds between_looks_at_keys{2};

std::string consul_name_of(const std::string& request) {
  const std::string target = target_of(request);
  if (target.starts_with("/v1/agent/self")) return "self";
  if (target.starts_with("/v1/txn")) return target.contains("consistent") ? "look" : "write";
  if (target.starts_with("/v1/kv/")) {
    if (target.contains("index=")) return "watch";
    return target.contains("recurse") ? "read" : "lock key";
  }
  for (const char* name : {"create", "renew", "destroy"}) {
    if (target.starts_with("/v1/session/" + std::string(name))) return name;
  }
  return path_of(request);
}

/// The value of `index=` in a blocking query.
std::uint64_t asked_index(const std::string& request) {
  const std::string target = target_of(request);
  return std::stoull(target.substr(target.find("index=") + 6));
}

/// What is behind the last `/v1/kv/` or `/v1/session/NAME/`.
std::string rest_of(const std::string& request, const std::string& begin) {
  return base::percent_decoded(path_of(request).substr(begin.size())).value_or("");
}

}  // namespace

fake_consul::fake_consul()
    : http_([this](peer& to, const std::string& request) { answer_as_consul(to, request); },
            consul_name_of) {}

void fake_consul::change(const std::string& name, std::function<void(reply&)> by) {
  http_.on(name, [this, by = std::move(by)](peer& to, const std::string& request) {
    reply what = truth(request);
    by(what);
    say(to, what);
  });
}

void fake_consul::change_json(const std::string& name, const std::function<void(json&)>& by) {
  change(name, [by](reply& what) {
    if (what.status != 200) return;
    json said = json::parse(what.body);
    by(said);
    what.body = said.dump();
  });
}

void fake_consul::put(const std::string& key, const std::string& value, std::uint64_t flags) {
  const std::lock_guard lock(mutex_);
  ++index_;
  json& kv = keys_[key];
  const std::uint64_t created = kv.is_null() ? index_ : kv["CreateIndex"].get<std::uint64_t>();
  kv = {{"Key", key},     {"Value", base::to_base64(value)}, {"Flags", flags},
        {"LockIndex", 0}, {"CreateIndex", created},          {"ModifyIndex", index_}};
}

void fake_consul::serve_only(const std::string& name_space, const std::string& partition) {
  const std::lock_guard lock(mutex_);
  name_space_ = name_space;
  partition_ = partition;
}

/// Of an operation, Consul does not look at the request's query.
bool fake_consul::is_elsewhere(const std::string& name, const std::string& request) const {
  if (name_space_.empty() || name == "self") return false;
  if (name != "look" && name != "write") {
    const std::string target = target_of(request);
    return !target.contains("ns=" + name_space_) || !target.contains("partition=" + partition_);
  }
  for (const json& one : json::parse(body_in(request))) {
    const json& kv = one["KV"];
    if (kv.value("Namespace", "") != name_space_ || kv.value("Partition", "") != partition_) {
      return true;
    }
  }
  return false;
}

std::uint64_t fake_consul::index() const {
  const std::lock_guard lock(mutex_);
  return index_;
}

void fake_consul::say(peer& to, const reply& what) {
  std::string head = "HTTP/1.1 " + std::to_string(what.status) + " So\r\n";
  if (what.index > 0) head += "X-Consul-Index: " + std::to_string(what.index) + "\r\n";
  to.send(head + "Content-Length: " + std::to_string(what.body.size()) + "\r\n\r\n" + what.body);
}

void fake_consul::answer_as_consul(peer& to, const std::string& request) {
  if (consul_name_of(request) == "watch") {
    const std::uint64_t known = asked_index(request);
    while (index() <= known) {
      if (to.closed_within(between_looks_at_keys)) return;
    }
  }
  say(to, truth(request));
}

fake_consul::reply fake_consul::truth(const std::string& request) {
  const std::lock_guard lock(mutex_);
  const std::string name = consul_name_of(request);
  if (is_elsewhere(name, request)) return {.status = 403, .body = "Permission denied"};
  if (name == "self") return {.body = R"({"Config":{"Datacenter":"dc1","Version":"1.8.7"}})"};
  if (name == "look" || name == "write") return transaction(body_in(request));
  if (target_of(request).starts_with("/v1/kv/")) {
    return shown(rest_of(request, "/v1/kv/"), name != "lock key");
  }
  return session_call(name, request);
}

fake_consul::reply fake_consul::session_call(const std::string& name, const std::string& request) {
  if (name == "create") {
    char id[37];
    std::snprintf(id, sizeof id, "00000000-0000-4000-8000-%012zu", ttl_of_.size() + 1);
    ttl_of_[id] = json::parse(body_in(request)).value("TTL", "");
    return {.body = json{{"ID", id}}.dump()};
  }
  const std::string id = rest_of(request, "/v1/session/" + name + "/");
  if (name == "destroy") {
    ttl_of_.erase(id);
    return {.body = "true"};
  }
  const auto found = ttl_of_.find(id);
  if (found == ttl_of_.end()) return {.status = 404, .body = "Session id '" + id + "' not found"};
  return {.body = json::array({{{"ID", id}, {"TTL", found->second}}}).dump()};
}

fake_consul::reply fake_consul::shown(const std::string& key, bool all) const {
  json out = json::array();
  for (const auto& [name, kv] : keys_) {
    if (all ? name.starts_with(key) : name == key) out.push_back(kv);
  }
  if (out.empty()) return {.status = 404, .index = index_};
  return {.index = index_, .body = out.dump()};
}

fake_consul::reply fake_consul::transaction(const std::string& body) {
  keys on = keys_;
  json results = json::array();
  json errors = json::array();
  ++index_;
  const json all = json::parse(body);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::string why = carry_out(all[i]["KV"], on, results);
    if (!why.empty()) errors.push_back({{"OpIndex", i}, {"What", why}});
  }
  if (!errors.empty()) {
    --index_;
    return {.status = 409, .body = json{{"Results", nullptr}, {"Errors", errors}}.dump()};
  }
  if (on == keys_) --index_;
  keys_ = std::move(on);
  return {.body = json{{"Results", results}, {"Errors", nullptr}}.dump()};
}

/// Returns why the operation fails, in Consul's words.
std::string fake_consul::carry_out(const json& operation, keys& on, json& results) const {
  const std::string verb = operation["Verb"];
  const std::string key = operation["Key"];
  const std::string session = operation.value("Session", "");
  const std::string quoted = '"' + key + '"';
  const auto found = on.find(key);
  const bool exists = found != on.end();
  const std::string holder = exists ? found->second.value("Session", "") : "";
  const std::uint64_t written = exists ? found->second["ModifyIndex"].get<std::uint64_t>() : 0;
  if (verb == "delete") return on.erase(key), "";
  if (verb == "check-not-exists") return exists ? "key " + quoted + " exists" : "";
  if (verb == "delete-cas") {
    if (exists && written != operation["Index"]) {
      return "failed to delete key " + quoted + ", index is stale";
    }
    return on.erase(key), "";
  }
  if (verb == "check-index") {
    if (!exists) return "failed to check index, key " + quoted + " doesn't exist";
    if (written != operation["Index"]) {
      return "failed index check for key " + quoted + ", current modify index is another";
    }
  } else if (verb == "get") {
    if (!exists) return "key " + quoted + " doesn't exist";
  } else {
    if (verb == "cas" && written != operation["Index"]) {
      return "failed to set key " + quoted + ", index is stale";
    }
    if (verb == "lock" && !ttl_of_.contains(session)) return "invalid session \"" + session + '"';
    if (verb == "lock" && !holder.empty() && holder != session) {
      return "failed to lock key " + quoted + ", lock is already held";
    }
    if (verb == "unlock" && holder != session) {
      return "failed to unlock key " + quoted + ", lock isn't held, or is held by another session";
    }
    json kv{{"Key", key},
            {"Value", operation["Value"]},
            {"Flags", operation["Flags"]},
            {"LockIndex", exists ? found->second["LockIndex"].get<std::uint64_t>() : 0},
            {"CreateIndex", exists ? found->second["CreateIndex"].get<std::uint64_t>() : index_},
            {"ModifyIndex", index_}};
    if (verb == "lock") {
      kv["Session"] = session;
      if (holder.empty()) kv["LockIndex"] = kv["LockIndex"].get<std::uint64_t>() + 1;
    } else if (verb != "unlock" && !holder.empty()) {
      kv["Session"] = holder;
    }
    on[key] = std::move(kv);
  }
  json said = on[key];
  if (verb != "get") said["Value"] = nullptr;
  results.push_back({{"KV", std::move(said)}});
  return "";
}

}  // namespace tenure::tests
