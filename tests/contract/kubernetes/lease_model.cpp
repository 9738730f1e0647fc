#include "lease_model.hpp"

#include <utility>

#include "base/percent_text.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

constexpr const char* leases_path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
constexpr const char* label = "tenure.dev/election";

/// The name of the Lease in the target of a request; empty if it is about all.
std::string lease_in(const std::string& target) {
  const std::string path = target.substr(0, target.find('?'));
  const std::string folder = std::string(leases_path) + "/";
  return path.starts_with(folder) ? path.substr(folder.size()) : "";
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

lease_model::reply failure(int code, const std::string& reason, const std::string& message) {
  return {.status = code, .body = json::parse(status_json(code, reason, message))};
}

lease_model::reply not_found(const std::string& name) {
  return failure(404, "NotFound", "leases.coordination.k8s.io \"" + name + "\" not found");
}

}  // namespace

json review(bool allowed) {
  return {{"kind", "SelfSubjectAccessReview"},
          {"apiVersion", "authorization.k8s.io/v1"},
          {"status", {{"allowed", allowed}}}};
}

std::string no_namespace_json() {
  json out = json::parse(status_json(404, "NotFound", "namespaces \"default\" not found"));
  out["details"] = {{"name", "default"}, {"kind", "namespaces"}};
  return out.dump();
}

std::string lease_model::name_of(const std::string& method, const std::string& target) {
  if (target == "/version") return "version";
  if (target.ends_with("/selfsubjectaccessreviews")) return "review";
  if (method == "POST" && target.contains("dryRun")) return "try";
  if (method == "POST") return "create";
  if (method == "PATCH") return "write";
  if (method == "DELETE") return "delete";
  if (!lease_in(target).empty()) return "get";
  return target.contains("watch=true") ? "watch" : "list";
}

std::uint64_t lease_model::begin_of(const std::string& target) {
  return std::stoull(parameter(target, "resourceVersion"));
}

std::vector<lease_model::event> lease_model::events_after(std::uint64_t version,
                                                          const std::string& target) const {
  std::vector<event> out;
  for (const event& one : events_) {
    if (one.version > version && is_selected(one.what["object"], target)) out.push_back(one);
  }
  return out;
}

json lease_model::listed(const std::string& target) const {
  json items = json::array();
  for (const auto& [name, lease] : leases_) {
    if (is_selected(lease, target)) items.push_back(lease);
  }
  return {{"kind", "LeaseList"},
          {"apiVersion", "coordination.k8s.io/v1"},
          {"metadata", {{"resourceVersion", std::to_string(version_)}}},
          {"items", std::move(items)}};
}

lease_model::reply lease_model::answer(const std::string& method, const std::string& target,
                                       const std::string& body) {
  const std::string what = name_of(method, target);
  const std::string name = lease_in(target);
  if (what == "version") return {.body = {{"gitVersion", "v1.35.4"}}};
  if (what == "review") return {.status = 201, .body = review(true)};
  if (what == "list") return {.body = listed(target)};
  if (what == "try") return try_to_create(json::parse(body));
  if (what == "create") return create(json::parse(body));
  const auto found = leases_.find(name);
  if (found == leases_.end()) return not_found(name);
  if (what == "get") return {.body = found->second};
  if (what == "write") return patch(name, json::parse(body));
  return erase(name, json::parse(body));
}

/// Gives it the next version, for the watches to show.
void lease_model::keep(json lease, const char* type) {
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
lease_model::reply lease_model::try_to_create(json lease) const {
  const std::string name = lease["metadata"]["name"];
  if (leases_.contains(name)) return failure(409, "AlreadyExists", name + " already exists");
  lease["metadata"]["uid"] = "uid-of-a-try";
  return {.status = 201, .body = std::move(lease)};
}

lease_model::reply lease_model::create(json lease) {
  const std::string name = lease["metadata"]["name"];
  if (leases_.contains(name)) return failure(409, "AlreadyExists", name + " already exists");
  lease["metadata"]["namespace"] = "default";
  lease["metadata"]["uid"] = "uid-" + std::to_string(++made_);
  lease["metadata"]["creationTimestamp"] = "2026-01-31T12:00:00Z";
  keep(std::move(lease), "ADDED");
  return {.status = 201, .body = leases_[name]};
}

lease_model::reply lease_model::patch(const std::string& name, const json& operations) {
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

lease_model::reply lease_model::erase(const std::string& name, const json& options) {
  const json& metadata = leases_[name]["metadata"];
  const json conditions = options.value("preconditions", json::object());
  for (const auto& [key, value] : conditions.items()) {
    if (metadata[key] != value) return failure(409, "Conflict", "Precondition failed");
  }
  keep(json(leases_[name]), "DELETED");
  return {.body = {{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}}};
}

void lease_model::put(const std::string& name, const json& spec) {
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

void lease_model::merge(const std::string& name, const json& metadata) {
  json changed = leases_.at(name);
  changed["metadata"].merge_patch(metadata);
  keep(std::move(changed), "MODIFIED");
}

void lease_model::remove(const std::string& name) {
  if (leases_.contains(name)) keep(json(leases_[name]), "DELETED");
}

json lease_model::lease(const std::string& name) const {
  const auto found = leases_.find(name);
  return found == leases_.end() ? json() : found->second;
}

}  // namespace tenure::tests
