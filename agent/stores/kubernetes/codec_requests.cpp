#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "base/time_text.hpp"
#include "stores/json_codec.hpp"
#include "stores/kubernetes/codec.hpp"
#include "stores/kubernetes/layout.hpp"

namespace tenure::stores::kubernetes {
namespace {

using nlohmann::ordered_json;

template <class Json>
void change(Json& spec, const spec_change& what) {
  if (what.holder) spec["holderIdentity"] = *what.holder;
  if (what.duration_s) spec["leaseDurationSeconds"] = *what.duration_s;
  if (what.acquired_ms) spec["acquireTime"] = base::micro_time(*what.acquired_ms);
  if (what.renewed_ms) spec["renewTime"] = base::micro_time(*what.renewed_ms);
  if (what.transitions) spec["leaseTransitions"] = *what.transitions;
  if (what.forget_preferred) spec.erase("preferredHolder");
}

/// A name in a path of RFC 6901.
std::string pointer_to(std::string_view folder, std::string_view name) {
  std::string out = std::string(folder) + "/";
  for (const char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

/// The text of a JSON document with the escapes that Go's encoder makes. An API server compares the
/// texts of JSON strings when it tests what a patch expects (evanphx/json-patch), and its own are
/// Go's. All these characters can only be inside of strings.
std::string as_go_writes(const ordered_json& document) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 5> escapes{
      {{"&", "\\u0026"},
       {"<", "\\u003c"},
       {">", "\\u003e"},
       {"\xe2\x80\xa8", "\\u2028"},
       {"\xe2\x80\xa9", "\\u2029"}}};
  std::string out = written(document);
  for (const auto& [raw, escaped] : escapes) {
    for (std::size_t at = out.find(raw); at != std::string::npos; at = out.find(raw, at)) {
      out.replace(at, raw.size(), escaped);
    }
  }
  return out;
}

ordered_json operation(std::string_view op, std::string path, ordered_json value) {
  return {{"op", op}, {"path", std::move(path)}, {"value", std::move(value)}};
}

/// Adds and removes members of an object of texts that is as `seen`.
void change_texts(ordered_json& operations, std::string_view folder, const annotations& seen,
                  const note_change& what) {
  if (seen.empty()) {
    ordered_json added = ordered_json::object();
    for (const auto& [key, value] : what) {
      if (value) added[key] = *value;
    }
    if (!added.empty()) {
      operations.push_back(operation("add", std::string(folder), std::move(added)));
    }
    return;
  }
  for (const auto& [key, value] : what) {
    if (value) {
      operations.push_back(operation("add", pointer_to(folder, key), *value));
    } else if (seen.contains(key)) {
      operations.push_back({{"op", "remove"}, {"path", pointer_to(folder, key)}});
    }
  }
}

ordered_json tests_of(const lease_object& seen) {
  ordered_json all = ordered_json::array();
  all.push_back(operation("test", "/metadata/uid", seen.uid));
  all.push_back(
      operation("test", "/metadata/resourceVersion", std::to_string(seen.resource_version)));
  return all;
}

}  // namespace

std::string creation(const std::string& name, const annotations& labels, const spec_change& spec,
                     const note_change& notes) {
  ordered_json metadata{{"name", name}};
  for (const auto& [key, value] : labels) metadata["labels"][key] = value;
  for (const auto& [key, value] : notes) {
    if (value) metadata["annotations"][key] = *value;
  }
  ordered_json its = ordered_json::object();
  change(its, spec);
  return written({{"apiVersion", "coordination.k8s.io/v1"},
                  {"kind", "Lease"},
                  {"metadata", std::move(metadata)},
                  {"spec", std::move(its)}});
}

std::string patch(const lease_object& seen, const annotations& labels, const spec_change& spec,
                  const note_change& notes) {
  ordered_json all = tests_of(seen);
  ordered_json its = ordered_json::parse(seen.spec);
  all.push_back(operation("test", "/spec", its));
  change(its, spec);
  all.push_back(operation("replace", "/spec", std::move(its)));
  note_change added_labels;
  for (const auto& [key, value] : labels) {
    if (!seen.labels.contains(key)) added_labels.emplace(key, value);
  }
  change_texts(all, "/metadata/labels", seen.labels, added_labels);
  change_texts(all, "/metadata/annotations", seen.notes, notes);
  return as_go_writes(all);
}

bool is_result(const lease_object& shown, const lease_object* seen, const annotations& labels,
               const spec_change& spec, const note_change& notes) {
  static const lease_object none;
  const lease_object& before = seen == nullptr ? none : *seen;
  if (seen != nullptr && shown.uid != before.uid) return false;
  if (shown.resource_version < before.resource_version) return false;
  const bool has_notes = std::ranges::all_of(notes, [&](const auto& one) {
    const auto found = shown.notes.find(one.first);
    return one.second ? found != shown.notes.end() && found->second == *one.second
                      : found == shown.notes.end();
  });
  const bool has_labels = std::ranges::all_of(
      labels, [&](const auto& one) { return shown.labels.contains(one.first); });
  return has_notes && has_labels && shown.holder == spec.holder.value_or(before.holder) &&
         shown.duration_s == (spec.duration_s ? spec.duration_s : before.duration_s) &&
         shown.transitions == spec.transitions.value_or(before.transitions) &&
         shown.renewed_ms == spec.renewed_ms.value_or(before.renewed_ms);
}

std::string access_review(const std::string& name_space, const std::string& verb,
                          const std::string& lease) {
  ordered_json asked{{"namespace", name_space},
                     {"verb", verb},
                     {"group", "coordination.k8s.io"},
                     {"resource", "leases"}};
  if (!lease.empty()) asked["name"] = lease;
  return written({{"apiVersion", "authorization.k8s.io/v1"},
                  {"kind", "SelfSubjectAccessReview"},
                  {"spec", {{"resourceAttributes", std::move(asked)}}}});
}

std::string deletion(const lease_object& seen) {
  return written(
      {{"apiVersion", "v1"},
       {"kind", "DeleteOptions"},
       {"preconditions",
        {{"uid", seen.uid}, {"resourceVersion", std::to_string(seen.resource_version)}}}});
}

}  // namespace tenure::stores::kubernetes
