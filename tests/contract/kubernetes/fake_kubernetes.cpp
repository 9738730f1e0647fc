#include "fake_kubernetes.hpp"

#include <utility>

#include "base/percent_text.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

constexpr const char* leases_path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
constexpr const char* label = "tenure.dev/election";
constexpr std::chrono::milliseconds between_looks{2};

std::string body_in(const std::string& request) {
  return request.substr(request.find("\r\n\r\n") + 4);
}

std::string method_of(const std::string& request) {
  return request.substr(0, request.find(' '));
}

/// The name of the Lease in the path of a request; empty if it is about all.
std::string lease_in(const std::string& request) {
  const std::string path = path_of(request);
  const std::string folder = std::string(leases_path) + "/";
  return path.starts_with(folder) ? path.substr(folder.size()) : "";
}

std::string kubernetes_name_of(const std::string& request) {
  const std::string method = method_of(request);
  if (path_of(request) == "/version") return "version";
  if (method == "POST" && target_of(request).contains("dryRun")) return "try";
  if (method == "POST") return "create";
  if (method == "PATCH") return "write";
  if (method == "DELETE") return "delete";
  if (!lease_in(request).empty()) return "get";
  return target_of(request).contains("watch=true") ? "watch" : "list";
}

/// The value of a parameter of the query; empty if there is none.
std::string parameter(const std::string& target, const std::string& name) {
  std::size_t at = target.find('?');
  while (at != std::string::npos) {
    const std::size_t next = target.find('&', at + 1);
    const std::string one = target.substr(at + 1, next == std::string::npos ? next : next - at - 1);
    if (one.starts_with(name + "=")) {
      return base::percent_decoded(one.substr(name.size() + 1)).value_or("");
    }
    at = next;
  }
  return {};
}

/// Selectors are of one name, or of one election or a set of them.
bool is_selected(const json& lease, const std::string& target) {
  const json& metadata = lease["metadata"];
  const std::string field = parameter(target, "fieldSelector");
  if (!field.empty()) return field == "metadata.name=" + metadata["name"].get<std::string>();
  const std::string labels = parameter(target, "labelSelector");
  if (labels.empty()) return true;
  if (!metadata.contains("labels") || !metadata["labels"].contains(label)) return false;
  const std::string election = metadata["labels"][label];
  return labels == std::string(label) + "=" + election || labels.contains("(" + election + ")") ||
         labels.contains("(" + election + ",") || labels.contains("," + election + ")") ||
         labels.contains("," + election + ",");
}

fake_kubernetes::reply failure(int code, const std::string& reason, const std::string& message) {
  return {.status = code, .body = json::parse(status_json(code, reason, message))};
}

fake_kubernetes::reply not_found(const std::string& name) {
  return failure(404, "NotFound", "leases.coordination.k8s.io \"" + name + "\" not found");
}

}  // namespace

std::string status_json(int code, const std::string& reason, const std::string& message) {
  return json{{"kind", "Status"},    {"apiVersion", "v1"}, {"metadata", json::object()},
              {"status", "Failure"}, {"message", message}, {"reason", reason},
              {"code", code}}
      .dump();
}

std::string no_namespace_json() {
  json out = json::parse(status_json(404, "NotFound", "namespaces \"default\" not found"));
  out["details"] = {{"name", "default"}, {"kind", "namespaces"}};
  return out.dump();
}

fake_kubernetes::fake_kubernetes()
    : http_([this](peer& to, const std::string& request) { answer_as_kubernetes(to, request); },
            kubernetes_name_of) {}

void fake_kubernetes::change(const std::string& name, const std::function<void(json&)>& by) {
  http_.on(name, [this, by](peer& to, const std::string& request) {
    reply what = truth(request);
    if (what.status == 200 || what.status == 201) by(what.body);
    say(to, what);
  });
}

void fake_kubernetes::repent() {
  for (const char* name : {"version", "try", "list", "watch", "get", "create", "write", "delete"}) {
    repent(name);
  }
}

void fake_kubernetes::say(peer& to, const reply& what) {
  const std::string text = what.body.dump();
  to.send("HTTP/1.1 " + std::to_string(what.status) +
          " So\r\nContent-Type: application/json\r\nContent-Length: " +
          std::to_string(text.size()) + "\r\n\r\n" + text);
}

void fake_kubernetes::begin_watch(peer& to) {
  to.send(
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n");
}

bool fake_kubernetes::show(peer& to, const std::string& text) {
  std::string size(16, '\0');
  size.resize(
      static_cast<std::size_t>(std::snprintf(size.data(), size.size(), "%zx", text.size())));
  return to.send(size + "\r\n" + text + "\r\n");
}

void fake_kubernetes::answer_as_kubernetes(peer& to, const std::string& request) {
  kubernetes_name_of(request) == "watch" ? watch(to, request) : say(to, truth(request));
}

void fake_kubernetes::watch(peer& to, const std::string& request) {
  begin_watch(to);
  watch_on(to, request);
}

void fake_kubernetes::watch_on(peer& to, const std::string& request) {
  const std::string target = target_of(request);
  std::uint64_t known = std::stoull(parameter(target, "resourceVersion"));
  const int ends = ends_;
  while (ends == ends_) {
    for (const event& one : events_after(known, target)) {
      if (!show(to, one.what.dump() + "\n")) return;
      known = one.version;
    }
    if (to.closed_within(between_looks)) return;
  }
  to.reset();
}

std::vector<fake_kubernetes::event> fake_kubernetes::events_after(std::uint64_t version,
                                                                  const std::string& target) const {
  const std::lock_guard lock(mutex_);
  std::vector<event> out;
  for (const event& one : events_) {
    if (one.version > version && is_selected(one.what["object"], target)) out.push_back(one);
  }
  return out;
}

json fake_kubernetes::listed(const std::string& target) const {
  json items = json::array();
  for (const auto& [name, lease] : leases_) {
    if (is_selected(lease, target)) items.push_back(lease);
  }
  return {{"kind", "LeaseList"},
          {"apiVersion", "coordination.k8s.io/v1"},
          {"metadata", {{"resourceVersion", std::to_string(version_)}}},
          {"items", std::move(items)}};
}

fake_kubernetes::reply fake_kubernetes::truth(const std::string& request) {
  const std::lock_guard lock(mutex_);
  const std::string what = kubernetes_name_of(request);
  const std::string name = lease_in(request);
  if (what == "version") return {.body = {{"gitVersion", "v1.35.4"}}};
  if (what == "try") return try_to_create(json::parse(body_in(request)));
  if (what == "list") return {.body = listed(target_of(request))};
  if (what == "create") return create(json::parse(body_in(request)));
  const auto found = leases_.find(name);
  if (found == leases_.end()) return not_found(name);
  if (what == "get") return {.body = found->second};
  if (what == "write") return patch(name, json::parse(body_in(request)));
  return erase(name, json::parse(body_in(request)));
}

/// Gives it the next version, and shows it to the watches.
void fake_kubernetes::keep(json lease, const char* type) {
  lease["metadata"]["resourceVersion"] = std::to_string(++version_);
  events_.push_back({.version = version_, .what = {{"type", type}, {"object", lease}}});
  const std::string name = lease["metadata"]["name"];
  if (type == std::string("DELETED")) {
    leases_.erase(name);
  } else {
    leases_[name] = std::move(lease);
  }
}

/// What `create` would answer.
fake_kubernetes::reply fake_kubernetes::try_to_create(json lease) const {
  const std::string name = lease["metadata"]["name"];
  if (leases_.contains(name)) return failure(409, "AlreadyExists", name + " already exists");
  lease["metadata"]["uid"] = "uid-of-a-try";
  return {.status = 201, .body = std::move(lease)};
}

fake_kubernetes::reply fake_kubernetes::create(json lease) {
  const std::string name = lease["metadata"]["name"];
  if (leases_.contains(name)) return failure(409, "AlreadyExists", name + " already exists");
  lease["metadata"]["namespace"] = "default";
  lease["metadata"]["uid"] = "uid-" + std::to_string(++made_);
  lease["metadata"]["creationTimestamp"] = "2026-01-31T12:00:00Z";
  keep(std::move(lease), "ADDED");
  return {.status = 201, .body = leases_[name]};
}

fake_kubernetes::reply fake_kubernetes::patch(const std::string& name, const json& operations) {
  const json& before = leases_[name];
  json after;
  try {
    after = before.patch(operations);
  } catch (const json::exception&) {
    return failure(422, "Invalid",
                   "the server rejected our request due to an error in our request");
  }
  if (after != before) keep(std::move(after), "MODIFIED");
  return {.body = leases_[name]};
}

fake_kubernetes::reply fake_kubernetes::erase(const std::string& name, const json& options) {
  const json& metadata = leases_[name]["metadata"];
  const json conditions = options.value("preconditions", json::object());
  for (const auto& [key, value] : conditions.items()) {
    if (metadata[key] != value) return failure(409, "Conflict", "Precondition failed");
  }
  keep(json(leases_[name]), "DELETED");
  return {.body = {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}}};
}

void fake_kubernetes::put(const std::string& name, const json& spec) {
  const std::lock_guard lock(mutex_);
  if (const auto found = leases_.find(name); found != leases_.end()) {
    json changed = found->second;
    changed["spec"] = spec;
    return keep(std::move(changed), "MODIFIED");
  }
  create({{"kind", "Lease"},
          {"apiVersion", "coordination.k8s.io/v1"},
          {"metadata", {{"name", name}}},
          {"spec", spec}});
}

void fake_kubernetes::annotate(const std::string& name, const std::string& key,
                               const std::string& value) {
  const std::lock_guard lock(mutex_);
  json changed = leases_.at(name);
  changed["metadata"]["annotations"][key] = value;
  keep(std::move(changed), "MODIFIED");
}

void fake_kubernetes::remove(const std::string& name) {
  const std::lock_guard lock(mutex_);
  if (leases_.contains(name)) keep(json(leases_[name]), "DELETED");
}

json fake_kubernetes::lease(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = leases_.find(name);
  return found == leases_.end() ? json() : found->second;
}

std::uint64_t fake_kubernetes::version() const {
  const std::lock_guard lock(mutex_);
  return version_;
}

}  // namespace tenure::tests
