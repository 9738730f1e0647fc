#include <algorithm>
#include <array>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "base/number_text.hpp"
#include "stores/json_codec.hpp"
#include "stores/kubernetes/codec.hpp"
#include "stores/kubernetes/layout.hpp"
#include "stores/server_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

using nlohmann::json;

/// No etcd ever reaches a larger revision, and many programs that compare versions could not read
/// it.
constexpr std::uint64_t last_version = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t most_uid_bytes = 128;

/// 0 if it is not one: older than 1.35 Kubernetes does not promise that it is a number, and etcd,
/// behind every real API server, makes one.
std::uint64_t resource_version_of(const fields& metadata) {
  const std::string text = metadata.text("resourceVersion");
  const auto number = base::read_number<std::uint64_t>(text);
  const bool fits = number && *number > 0 && *number <= last_version;
  metadata.require(fits, "resourceVersion", "is not a number of a version");
  return fits ? *number : 0;
}

annotations texts_of(const fields& from, std::string_view name) {
  annotations out;
  const json* const found = from.find(name);
  if (found == nullptr) return out;
  from.require(found->is_object(), name, "is not an object");
  if (!found->is_object()) return out;
  for (const auto& [key, value] : found->items()) {
    from.require(value.is_string(), name, "has something that is not a text");
    if (value.is_string()) out.emplace(key, value.get<std::string>());
  }
  return out;
}

/// A whole number that is not negative; nothing if absent.
std::optional<std::int64_t> count_of(const fields& from, std::string_view name) {
  const json* const found = from.find(name);
  if (found == nullptr) return std::nullopt;
  from.require(found->is_number_integer(), name, "is not a whole number");
  if (!found->is_number_integer()) return std::nullopt;
  const auto value = from.number<std::int32_t>(name);
  from.require(value >= 0, name, "is negative");
  return value;
}

std::int64_t time_of(const fields& from, std::string_view name) {
  return read_micro_time(from.text(name)).value_or(0);
}

lease_object lease_of(const json& from, verdict& by) {
  const fields all(from, by);
  const fields metadata = all.object("metadata");
  lease_object out{.name = metadata.ascii("name"),
                   .uid = metadata.ascii("uid"),
                   .resource_version = resource_version_of(metadata),
                   .notes = texts_of(metadata, "annotations"),
                   .labels = texts_of(metadata, "labels")};
  metadata.require(!out.name.empty(), "name", "is missing");
  metadata.require(!out.uid.empty() && out.uid.size() <= most_uid_bytes, "uid", "is not an id");
  // A Lease that was made with `kubectl create -f` and without a spec has none.
  static const json nothing = json::object();
  const json* const found = all.find("spec");
  const json& spec_json = found == nullptr ? nothing : *found;
  const fields spec(spec_json, by);
  out.spec = spec_json.dump();
  out.holder = spec.text("holderIdentity");
  out.duration_s = count_of(spec, "leaseDurationSeconds");
  out.transitions = count_of(spec, "leaseTransitions").value_or(0);
  out.renewed_ms = time_of(spec, "renewTime");
  out.strategy = spec.text("strategy");
  out.preferred = spec.text("preferredHolder");
  return out;
}

void require_kind(const fields& from, std::string_view kind) {
  from.require(from.text("kind") == kind, "kind", "is another one");
  from.require(from.text("apiVersion") == "coordination.k8s.io/v1", "apiVersion", "is another one");
}

status status_of(const fields& from) {
  const json* const details = from.find("details");
  const bool has_details = details != nullptr && details->is_object();
  const bool named = has_details && details->contains("causes") && !details->at("causes").empty();
  return {.code = from.number<int>("code"),
          .reason = from.ascii("reason"),
          .message = server_text(from.text("message")),
          .has_causes = named,
          .kind = has_details ? fields(*details, from.judged()).ascii("kind") : ""};
}

std::optional<watch_event::type> type_named(std::string_view name) {
  using enum watch_event::type;
  constexpr std::array<std::pair<std::string_view, watch_event::type>, 5> all{{
      {"ADDED", added},
      {"MODIFIED", modified},
      {"DELETED", deleted},
      {"BOOKMARK", bookmark},
      {"ERROR", error},
  }};
  const auto* const found =
      std::ranges::find(all, name, &std::pair<std::string_view, watch_event::type>::first);
  return found == all.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace

std::string_view lease_object::note(std::string_view key) const {
  const auto found = notes.find(key);
  return found == notes.end() ? std::string_view() : std::string_view(found->second);
}

parsed<lease_object> parse_lease(std::string_view body, std::string_view name) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  verdict by;
  const fields all(*document, by);
  require_kind(all, "Lease");
  lease_object out = lease_of(*document, by);
  all.require(out.name == name, "name", "is that of another Lease");
  return unless_refused(std::move(out), by, body);
}

parsed<lease_list> parse_list(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  verdict by;
  const fields all(*document, by);
  require_kind(all, "LeaseList");
  const fields metadata = all.object("metadata");
  lease_list out{.items = {}, .resource_version = resource_version_of(metadata)};
  metadata.require(metadata.text("continue").empty(), "continue", "says that the list is a part");
  std::set<std::string> names;
  for (const json& one : all.list("items")) {
    const lease_object& item = out.items.emplace_back(lease_of(one, by));
    all.require(names.insert(item.name).second, "items", "have a name twice");
    all.require(item.resource_version <= out.resource_version, "items", "are of a later version");
  }
  return unless_refused(std::move(out), by, body);
}

std::optional<status> parse_status(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::nullopt;
  verdict by;
  const fields all(*document, by);
  if (all.text("kind") != "Status") return std::nullopt;
  status out = status_of(all);
  return by.why.empty() ? std::optional(std::move(out)) : std::nullopt;
}

bool is_deletion(std::string_view body, std::string_view name) {
  const auto document = read_object(body);
  if (!document) return false;
  verdict by;
  const fields all(*document, by);
  if (all.text("kind") == "Status") return all.text("status") == "Success";
  return parse_lease(body, name).has_value();
}

std::optional<bool> parse_access(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::nullopt;
  verdict by;
  const fields all(*document, by);
  if (all.text("kind") != "SelfSubjectAccessReview") return std::nullopt;
  const bool allowed = all.object("status").flag("allowed");
  return by.why.empty() ? std::optional(allowed) : std::nullopt;
}

parsed<watch_event> parse_event(std::string_view text) {
  const auto document = read_object(text);
  if (!document) return std::unexpected(document.error());
  verdict by;
  const fields all(*document, by);
  const auto type = type_named(all.text("type"));
  all.require(type.has_value(), "type", "is unknown");
  const fields object = all.object("object");
  watch_event out{.what = type.value_or(watch_event::type::error)};
  if (out.what == watch_event::type::error) {
    out.error = status_of(object);
  } else {
    require_kind(object, "Lease");
  }
  if (out.what == watch_event::type::bookmark) {
    out.resource_version = resource_version_of(object.object("metadata"));
  } else if (out.what != watch_event::type::error && by.why.empty()) {
    out.object = lease_of(*all.find("object"), by);
    out.resource_version = out.object.resource_version;
  }
  return unless_refused(std::move(out), by, text);
}

parsed<std::string> parse_version(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  verdict by;
  const fields all(*document, by);
  std::string out = all.ascii("gitVersion");
  all.require(!out.empty(), "gitVersion", "is missing");
  return unless_refused(std::move(out), by, body);
}

}  // namespace tenure::stores::kubernetes
