#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/number_text.hpp"
#include "kube/codec.hpp"
#include "kube/codec_reader.hpp"
#include "settings/kubernetes_names.hpp"

namespace tenure::kube {
namespace {

using nlohmann::json;
using settings::election_label;
using settings::traffic;

constexpr std::string_view version_words = "version ";

core::version version_in(std::string_view digits) {
  return core::version{base::read_number<std::uint64_t>(digits).value_or(0)};
}

marked_object base_of(const json& from, reader& by) {
  marked_object out{.name = by.text(from, {"metadata", "name"}),
                    .uid = by.text(from, {"metadata", "uid"}),
                    .resource_version = by.text(from, {"metadata", "resourceVersion"})};
  by.require(!out.name.empty(), "it has no name");
  by.require(!out.uid.empty(), "it has no uid");
  by.require(!out.resource_version.empty(), "it has no resourceVersion");
  return out;
}

// --- pods ------------------------------------------------------------------------------------

const json* condition_of(const json& pod, std::string_view type, reader& by) {
  for (const json& one : by.list(pod, {"status", "conditions"})) {
    if (by.text(one, {"type"}) == type) return &one;
  }
  return nullptr;
}

/// "version 7: this pod is active in the election db"
core::version version_of_message(std::string_view message) {
  if (!message.starts_with(version_words)) return core::no_version;
  message.remove_prefix(version_words.size());
  return version_in(message.substr(0, message.find(':')));
}

bool awaits_the_condition(const json& pod, reader& by) {
  return std::ranges::any_of(by.list(pod, {"spec", "readinessGates"}), [&by](const json& one) {
    return by.text(one, {"conditionType"}) == active_condition;
  });
}

bool has_label(const json& pod, const traffic_terms& of, reader& by) {
  return by.text(pod, {"metadata", "labels", election_label}) == of.election;
}

void read_gate(const json& pod, const traffic_terms& of, marked_object& out, reader& by) {
  const json* const found = condition_of(pod, active_condition, by);
  const named if_true = out.name == of.its.pod_name ? named::us : named::other;
  if (found != nullptr) {
    out.version = version_of_message(by.text(*found, {"message"}));
    if (by.text(*found, {"status"}) == "True") out.who = if_true;
  }
  out.is_complete = found != nullptr;
  const json* const ready = condition_of(pod, "Ready", by);
  out.is_ready = ready != nullptr && by.text(*ready, {"status"}) == "True";
  if (if_true != named::us) return;
  if (!has_label(pod, of, by)) {
    out.flaw = "the pod has no label " + std::string(election_label) + ": " +
               std::string(of.election) +
               ", so that other pods of the election cannot be found; add it to the pod template";
  } else if (!awaits_the_condition(pod, by)) {
    out.flaw = "nothing awaits the condition; add `readinessGates: [{conditionType: " +
               std::string(active_condition) + "}]` to the pod template";
  }
}

void read_label(const json& pod, const traffic_terms& of, marked_object& out, reader& by) {
  const std::string role = by.text(pod, {"metadata", "labels", role_label});
  out.version = version_in(by.text(pod, {"metadata", "annotations", version_annotation}));
  if (role == "active") out.who = out.name == of.its.pod_name ? named::us : named::other;
  out.is_listed = has_label(pod, of, by);
  out.is_complete = out.is_listed && (role == "active" || role == "standby");
}

marked_object pod_of(const json& from, const traffic_terms& of, reader& by) {
  marked_object out = base_of(from, by);
  const std::string phase = by.text(from, {"status", "phase"});
  out.is_over = phase == "Succeeded" || phase == "Failed";
  if (of.its.traffic == traffic::gate) {
    read_gate(from, of, out, by);
  } else {
    read_label(from, of, out, by);
  }
  return out;
}

// --- slices ----------------------------------------------------------------------------------

std::vector<std::string> addresses_for(const std::string& type, const settings::kubernetes& its) {
  std::vector<std::string> out;
  std::ranges::copy_if(its.pod_addresses, std::back_inserter(out), [&](const std::string& one) {
    return type == (one.contains(':') ? "IPv6" : "IPv4");
  });
  return out;
}

/// One endpoint that is exactly what we would write.
bool is_our_endpoint(const json& one, const marked_object& slice, const settings::kubernetes& its,
                     reader& by) {
  const json* const ready = by.find(one, {"conditions", "ready"});
  const json* const addresses = by.find(one, {"addresses"});
  return addresses != nullptr && *addresses == json(slice.addresses) && ready != nullptr &&
         *ready == true && by.text(one, {"targetRef", "uid"}) == its.pod_uid &&
         by.text(one, {"nodeName"}) == its.pod_node;
}

bool names_pod(const json& endpoint, const settings::kubernetes& its, reader& by) {
  return by.text(endpoint, {"targetRef", "kind"}) == "Pod" &&
         by.text(endpoint, {"targetRef", "name"}) == its.pod_name;
}

std::string flaw_of(const json& from, const marked_object& slice, reader& by) {
  const std::string type = by.text(from, {"addressType"});
  if (slice.keeper == slice_controller || slice.keeper == mirror_controller) {
    return "EndpointSlice " + slice.name +
           " belongs to Kubernetes' own controller; make one for the Service as docs/traffic.md "
           "has it";
  }
  if (slice.service.empty()) {
    return "EndpointSlice " + slice.name + " has no label " + std::string(service_label) +
           ", so that no Service uses it; add it";
  }
  if (!slice.addresses.empty()) return {};
  return "EndpointSlice " + slice.name + " is for " + type +
         ", and pod_address has no such address; remove the slice from traffic_slice, or give the "
         "pod one";
}

bool is_served(const json& endpoint, reader& by) {
  const json* const ready = by.find(endpoint, {"conditions", "ready"});
  return ready == nullptr || *ready != false;
}

/// One of a Service's slices, which may be anybody's. Who gets traffic by it is not nobody.
marked_object any_slice_of(const json& from, reader& by) {
  marked_object out = base_of(from, by);
  out.service = by.text(from, {"metadata", "labels", service_label});
  out.keeper = by.text(from, {"metadata", "labels", keeper_label});
  for (const json& one : by.list(from, {"endpoints"})) {
    if (!is_served(one, by)) continue;
    out.who = named::other;
    for (const json& address : by.list(one, {"addresses"})) {
      if (address.is_string()) out.addresses.push_back(address.get<std::string>());
    }
  }
  return out;
}

marked_object slice_of(const json& from, const settings::kubernetes& its, reader& by) {
  marked_object out = base_of(from, by);
  out.service = by.text(from, {"metadata", "labels", service_label});
  out.keeper = by.text(from, {"metadata", "labels", keeper_label});
  out.version = version_in(by.text(from, {"metadata", "annotations", version_annotation}));
  out.addresses = addresses_for(by.text(from, {"addressType"}), its);
  out.flaw = flaw_of(from, out, by);
  const json& all = by.list(from, {"endpoints"});
  if (all.empty()) return out;
  const bool ours =
      std::ranges::all_of(all, [&](const json& one) { return names_pod(one, its, by); });
  out.who = ours ? named::us : named::other;
  out.is_complete = all.size() == 1 && is_our_endpoint(all.front(), out, its, by) &&
                    by.text(from, {"metadata", "annotations", holder_annotation}) == its.pod_name;
  return out;
}

}  // namespace

std::expected<std::vector<marked_object>, std::string> read_reply(const traffic_request& asked,
                                                                  std::string_view body,
                                                                  const traffic_terms& of) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  reader by;
  const bool is_list = asked.what == traffic_request::kind::list;
  const bool in_slices = of.its.traffic == traffic::endpoints;
  const std::string kind =
      std::string(in_slices ? "EndpointSlice" : "Pod").append(is_list ? "List" : "");
  by.require(by.text(*document, {"kind"}) == kind, "it is not a " + kind);
  std::vector<marked_object> out;
  if (is_list) {
    for (const json& one : by.list(*document, {"items"})) {
      out.push_back(in_slices ? any_slice_of(one, by) : pod_of(one, of, by));
      by.require(in_slices ? out.back().service == asked.object : has_label(one, of, by),
                 in_slices ? "it has a slice that was not asked for"
                           : "it has a pod that was not asked for");
    }
    by.require(by.text(*document, {"metadata", "continue"}).empty(), "it is not the whole list");
  } else {
    out.push_back(in_slices ? slice_of(*document, of.its, by) : pod_of(*document, of, by));
    by.require(out.back().name == asked.object, "it is about another object");
  }
  if (!by.why().empty()) return unusable(by.why(), body);
  return out;
}

std::optional<bool> read_review(std::string_view body) {
  const auto document = read_object(body);
  if (!document) return std::nullopt;
  reader by;
  const json* const allowed = by.find(*document, {"status", "allowed"});
  if (allowed == nullptr || !allowed->is_boolean()) return std::nullopt;
  return allowed->get<bool>();
}

std::string read_uid(std::string_view body, std::string_view name) {
  const auto document = read_object(body);
  if (!document) return {};
  reader by;
  const bool is_it = by.text(*document, {"metadata", "name"}) == name;
  return is_it ? by.text(*document, {"metadata", "uid"}) : std::string();
}

}  // namespace tenure::kube
