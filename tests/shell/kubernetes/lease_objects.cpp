#include "kubernetes/lease_objects.hpp"

#include <algorithm>
#include <utility>

#include "base/time_text.hpp"
#include "core/check.hpp"
#include "core/sometimes.hpp"

namespace tenure::shell {
namespace {

using nlohmann::json;

constexpr const char* election_label = "tenure.dev/election";
constexpr std::string_view api_version = "coordination.k8s.io/v1";
/// "2026-01-31T12:00:00"
constexpr std::size_t whole_seconds_bytes = 19;

lease_state stored(json object, std::uint64_t revision) {
  json& metadata = object["metadata"];
  metadata["resourceVersion"] = std::to_string(revision);
  auto made = std::make_shared<stored_lease>();
  made->name = metadata.at("name");
  made->revision = revision;
  const auto labels = metadata.find("labels");
  if (labels != metadata.end()) made->election = labels->value(election_label, "");
  made->text = object.dump();
  made->object = std::move(object);
  return made;
}

api_answer failed(unsigned code, const std::string& reason, const std::string& message) {
  return {.status = code, .body = api_failure(code, reason, message)};
}

api_answer not_found(const std::string& name) {
  return failed(404, "NotFound", "leases.coordination.k8s.io \"" + name + "\" not found");
}

}  // namespace

std::string api_failure(unsigned code, const std::string& reason, const std::string& message,
                        const std::string& kind) {
  return json{{"kind", "Status"},
              {"apiVersion", "v1"},
              {"metadata", json::object()},
              {"status", "Failure"},
              {"message", message},
              {"reason", reason},
              {"details", {{"kind", kind}}},
              {"code", code}}
      .dump();
}

// Selecting ---------------------------------------------------------------------------------------

lease_selector::lease_selector(const http::request_target& of) {
  constexpr std::string_view by_name = "metadata.name=";
  for (const auto& [key, value] : of.query) {
    if (key == "fieldSelector") name_ = value.substr(by_name.size());
    if (key != "labelSelector") continue;
    // "tenure.dev/election=db0" or "tenure.dev/election in (db0,db1)"
    const std::size_t begin = value.find_first_of("=(");
    std::string names = value.substr(begin + 1);
    if (names.ends_with(')')) names.pop_back();
    for (std::size_t at = 0; at <= names.size();) {
      const std::size_t end = std::min(names.find(',', at), names.size());
      elections_.push_back(names.substr(at, end - at));
      at = end + 1;
    }
  }
  all_ = name_.empty() && elections_.empty();
}

bool lease_selector::selects(const lease_state& one) const {
  if (one == nullptr) return false;
  if (all_) return true;
  if (!name_.empty()) return one->name == name_;
  return std::ranges::find(elections_, one->election) != elections_.end();
}

// Reading -----------------------------------------------------------------------------------------

lease_state lease_objects::find(const std::string& name) const {
  const auto found = leases_.find(name);
  return found == leases_.end() ? nullptr : found->second;
}

std::string lease_objects::listed(const std::vector<lease_state>& what,
                                  std::uint64_t revision) const {
  // Names of JSON are in their order, and what an item of a list does not say comes first.
  static const std::string of_one =
      R"({"apiVersion":")" + std::string(api_version) + R"(","kind":"Lease",)";
  std::string items;
  for (const lease_state& one : what) {
    TENURE_CHECK(one->text.starts_with(of_one));
    items += (items.empty() ? "{" : ",{") + one->text.substr(of_one.size());
  }
  return R"({"kind":"LeaseList","apiVersion":")" + std::string(api_version) +
         R"(","metadata":{"resourceVersion":")" + std::to_string(revision) + R"("},"items":[)" +
         items + "]}";
}

std::string lease_objects::list(const lease_selector& of) const {
  std::vector<lease_state> out;
  for (const auto& [name, one] : leases_) {
    if (of.selects(one)) out.push_back(one);
  }
  return listed(out, revision_);
}

std::string lease_objects::list_as_of(const lease_selector& of, std::uint64_t revision) const {
  auto then = leases_;
  for (auto one = changes_.rbegin(); one != changes_.rend() && one->revision > revision; ++one) {
    then[one->name] = one->before;
  }
  std::vector<lease_state> out;
  for (const auto& [name, one] : then) {
    if (of.selects(one)) out.push_back(one);
  }
  return listed(out, std::min(revision, revision_));
}

// Writing -----------------------------------------------------------------------------------------

void lease_objects::keep(json object) {
  const lease_state after = stored(std::move(object), ++revision_);
  lease_state& there = leases_[after->name];
  changes_.push_back({.revision = revision_, .name = after->name, .before = there, .after = after});
  there = after;
}

void lease_objects::drop(const std::string& name) {
  const auto found = leases_.find(name);
  changes_.push_back(
      {.revision = ++revision_, .name = name, .before = found->second, .after = nullptr});
  leases_.erase(found);
}

api_answer lease_objects::create(const std::string& body, std::int64_t now_ms, bool dry_run) {
  json object = json::parse(body);
  const std::string name = object.at("metadata").at("name");
  if (leases_.contains(name)) {
    return failed(409, "AlreadyExists",
                  "leases.coordination.k8s.io \"" + name + "\" already exists");
  }
  json& metadata = object["metadata"];
  metadata["namespace"] = "default";
  const base::time_text now(now_ms);
  metadata["creationTimestamp"] =
      std::string(now.date_and_time().substr(0, whole_seconds_bytes)) + "Z";
  metadata["uid"] = "uid-" + std::to_string(made_ + 1);
  if (dry_run) return {.status = 201, .body = object.dump()};
  ++made_;
  keep(std::move(object));
  return {.status = 201, .body = leases_[name]->text};
}

api_answer lease_objects::patch(const std::string& name, const std::string& body) {
  const lease_state before = find(name);
  if (before == nullptr) return not_found(name);
  json after;
  try {
    after = before->object.patch(json::parse(body));
  } catch (const json::exception&) {
    return {
        .status = 422,
        .body = api_failure(422, "Invalid",
                            "the server rejected our request due to an error in our request", "")};
  }
  if (after != before->object) keep(std::move(after));
  return {.body = leases_[name]->text};
}

api_answer lease_objects::put(const std::string& name, const std::string& body) {
  const lease_state before = find(name);
  if (before == nullptr) return not_found(name);
  const json wanted = json::parse(body);
  const json& metadata = wanted.at("metadata");
  const std::string relies_on = metadata.value("resourceVersion", "");
  if (!relies_on.empty() && relies_on != std::to_string(before->revision)) {
    TENURE_SOMETIMES(model_write_overtaken);
    return failed(409, "Conflict", "the object has been modified");
  }
  json after = before->object;
  for (const char* part : {"labels", "annotations"}) {
    after["metadata"].erase(part);
    if (metadata.contains(part)) after["metadata"][part] = metadata.at(part);
  }
  after["spec"] = wanted.at("spec");
  if (after != before->object) keep(std::move(after));
  return {.body = leases_[name]->text};
}

api_answer lease_objects::erase(const std::string& name, const std::string& body) {
  const lease_state before = find(name);
  if (before == nullptr) return not_found(name);
  if (!body.empty()) {
    const json conditions = json::parse(body).value("preconditions", json::object());
    for (const auto& [key, value] : conditions.items()) {
      if (before->object.at("metadata").at(key) != value) {
        return failed(409, "Conflict", "the preconditions do not hold");
      }
    }
  }
  drop(name);
  return {.body = json{{"kind", "Status"}, {"apiVersion", "v1"}, {"status", "Success"}}.dump()};
}

bool lease_objects::edit(const std::string& name, const std::function<void(json&)>& by) {
  const lease_state before = find(name);
  if (before == nullptr) return false;
  json after = before->object;
  by(after);
  if (after == before->object) return false;
  keep(std::move(after));
  return true;
}

bool lease_objects::remove(const std::string& name) {
  if (!leases_.contains(name)) return false;
  drop(name);
  return true;
}

void lease_objects::restore(const lease_objects& backup, std::uint64_t raised_by) {
  leases_ = backup.leases_;
  revision_ = backup.revision_ + raised_by;
  changes_.clear();
}

}  // namespace tenure::shell
