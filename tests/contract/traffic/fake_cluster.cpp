#include "fake_cluster.hpp"

#include <algorithm>
#include <atomic>
#include <memory>
#include <utility>

namespace tenure::tests {
namespace {

using nlohmann::json;

/// "/.../pods/db-0/status" -> "db-0"; empty for a list.
std::string object_in(const std::string& request) {
  const std::string path = path_of(request);
  for (const std::string kind : {"/pods/", "/endpointslices/", "/leases/"}) {
    const std::size_t at = path.find(kind);
    if (at == std::string::npos) continue;
    const std::string rest = path.substr(at + kind.size());
    return rest.substr(0, rest.find('/'));
  }
  return {};
}

std::string name_of(const std::string& request) {
  const std::string path = path_of(request);
  if (path.ends_with("/selfsubjectaccessreviews")) return "review";
  if (path.ends_with("/events")) return "event";
  if (path.contains("/leases/")) return "lease";
  if (method_of(request) == "PATCH") return "write";
  return object_in(request).empty() ? "list" : "get";
}

json refusal(int code, const std::string& reason, const std::string& message) {
  return json::parse(status_json(code, reason, message));
}

/// Conditions are merged by their type.
void merge_conditions(json& object, const json& patch) {
  const json::json_pointer where("/status/conditions");
  if (!patch.contains(where)) return;
  json& all = object[where];
  for (const json& one : patch.at(where)) {
    const auto same = std::ranges::find_if(
        all, [&one](const json& other) { return other["type"] == one["type"]; });
    if (same == all.end()) {
      all.push_back(one);
    } else {
      same->merge_patch(one);
    }
  }
}

}  // namespace

fake_cluster::fake_cluster()
    : http_([this](peer& to, const std::string& request) { answer_truly(to, request); }, name_of) {}

void fake_cluster::repent() {
  for (const char* name : {"list", "get", "write", "review", "event", "lease"}) repent(name);
}

void fake_cluster::on_first(const std::string& name, int times, answer how) {
  const auto left = std::make_shared<std::atomic<int>>(times);
  on(name, [this, left, how](peer& to, const std::string& request) {
    *left > 0 && (*left)-- > 0 ? how(to, request) : answer_truly(to, request);
  });
}

void fake_cluster::answer_truly(peer& to, const std::string& request) {
  int status = 200;
  const std::string text = truth(request, status).dump();
  to.send("HTTP/1.1 " + std::to_string(status) +
          " So\r\nContent-Type: application/json\r\nContent-Length: " +
          std::to_string(text.size()) + "\r\n\r\n" + text);
}

json fake_cluster::truth(const std::string& request, int& status) {
  const std::lock_guard lock(mutex_);
  const std::string what = name_of(request);
  if (what == "review") {
    json out = json::parse(body_in(request));
    const std::string verb = out["spec"]["resourceAttributes"]["verb"];
    out["status"] = {{"allowed", std::ranges::count(forbidden_, verb) == 0}};
    status = 201;
    return out;
  }
  if (what == "event") {
    events_.push_back(json::parse(body_in(request)));
    status = 201;
    return events_.back();
  }
  if (what == "list" && request.contains("/endpointslices?")) {
    json items = json::array();
    for (const auto& [name, one] : objects_) {
      if (one["kind"] == "EndpointSlice") items.push_back(one);
    }
    return {
        {"kind", "EndpointSliceList"}, {"metadata", json::object()}, {"items", std::move(items)}};
  }
  if (what == "list") {
    json items = json::array();
    for (const auto& [name, one] : objects_) {
      if (one["kind"] == "Pod" && one["metadata"]["labels"].contains("tenure.dev/election")) {
        items.push_back(one);
      }
    }
    return {{"kind", "PodList"}, {"metadata", json::object()}, {"items", std::move(items)}};
  }
  const auto found = objects_.find(object_in(request));
  if (found == objects_.end()) {
    status = 404;
    return refusal(404, "NotFound", object_in(request) + " not found");
  }
  return what == "write" ? patched(request, found->second, status) : found->second;
}

json fake_cluster::patched(const std::string& request, json& object, int& status) {
  json patch = json::parse(body_in(request));
  for (const char* key : {"uid", "resourceVersion"}) {
    if (patch["metadata"][key] == object["metadata"][key]) continue;
    status = 409;
    return refusal(409, "Conflict", "the object has been modified");
  }
  json after = object;
  merge_conditions(after, patch);
  if (patch.contains("status")) patch["status"].erase("conditions");
  after.merge_patch(patch);
  if (after != object) keep(std::move(after));
  return objects_[object_in(request)];
}

void fake_cluster::keep(json object) {
  object["metadata"]["resourceVersion"] = std::to_string(++version_);
  const std::string name = object["metadata"]["name"];
  objects_[name] = std::move(object);
}

void fake_cluster::put_pod(const std::string& name, const json& labels) {
  const std::lock_guard lock(mutex_);
  keep({{"kind", "Pod"},
        {"metadata", {{"name", name}, {"uid", "uid-" + name}, {"labels", labels}}},
        {"spec", {{"readinessGates", {{{"conditionType", "tenure.dev/active"}}}}}},
        {"status", {{"phase", "Running"}, {"conditions", json::array()}}}});
}

void fake_cluster::put_slice(const std::string& name, const std::string& type) {
  const std::lock_guard lock(mutex_);
  keep({{"kind", "EndpointSlice"},
        {"metadata",
         {{"name", name},
          {"uid", "uid-" + name},
          {"labels", {{"kubernetes.io/service-name", "db"}}}}},
        {"addressType", type},
        {"ports", {{{"port", 5432}}}}});
}

void fake_cluster::put_lease(const std::string& name) {
  const std::lock_guard lock(mutex_);
  keep({{"kind", "Lease"}, {"metadata", {{"name", name}, {"uid", "uid-of-the-lease"}}}});
}

void fake_cluster::change(const std::string& name, const std::function<void(json&)>& by) {
  const std::lock_guard lock(mutex_);
  json after = objects_.at(name);
  by(after);
  keep(std::move(after));
}

json fake_cluster::object(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  const auto found = objects_.find(name);
  return found == objects_.end() ? json() : found->second;
}

std::vector<json> fake_cluster::events() const {
  const std::lock_guard lock(mutex_);
  return events_;
}

std::string fake_cluster::labelled() const {
  const std::lock_guard lock(mutex_);
  std::string out;
  for (const auto& [name, one] : objects_) {
    if (one["kind"] != "Pod" || !one["metadata"].contains("labels")) continue;
    if (one["metadata"]["labels"].value("tenure.dev/role", "") == "active") {
      out += (out.empty() ? "" : " ") + name;
    }
  }
  return out;
}

std::string fake_cluster::endpoint_of(const std::string& slice) const {
  const json one = object(slice);
  std::string out;
  for (const json& endpoint : one.value("endpoints", json::array())) {
    out += (out.empty() ? "" : " ") + endpoint["targetRef"]["name"].get<std::string>();
  }
  return out;
}

}  // namespace tenure::tests
