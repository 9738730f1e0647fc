#include <nlohmann/json.hpp>
#include <utility>

#include "base/percent_text.hpp"
#include "base/time_text.hpp"
#include "kube/codec.hpp"
#include "settings/kubernetes_names.hpp"

namespace tenure::kube {
namespace {

using nlohmann::ordered_json;
using settings::election_label;
using settings::traffic;

constexpr std::string_view merge_patch = "application/merge-patch+json";
/// Members of a list of conditions are merged by their type.
constexpr std::string_view strategic_patch = "application/strategic-merge-patch+json";
/// Whom the API server notes as the writer of a field.
constexpr std::string_view as_tenure = "fieldManager=tenure";

std::string written(const ordered_json& body) {
  return body.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string in_namespace(std::string_view api, std::string_view name_space,
                         std::string_view resource, std::string_view name = {}) {
  std::string out = std::string(api) + "/namespaces/" + base::percent_encoded(name_space) + "/" +
                    std::string(resource);
  if (!name.empty()) out += "/" + base::percent_encoded(name);
  return out;
}

std::string pods(const traffic_terms& of, std::string_view name = {}) {
  return in_namespace("/api/v1", of.its.pod_namespace, "pods", name);
}

std::string number_text(core::version version) {
  return std::to_string(core::number(version));
}

/// "2026-01-31T12:00:00Z", as Kubernetes writes times.
std::string whole_seconds(std::int64_t unix_ms) {
  const base::time_text at(unix_ms);
  constexpr std::size_t up_to_seconds = 19;
  return std::string(at.date_and_time().substr(0, up_to_seconds)) + "Z";
}

/// The object that the write relies on: it is refused if somebody has written since.
ordered_json relied_on(const marked_object& seen) {
  return {{"uid", seen.uid}, {"resourceVersion", seen.resource_version}};
}

// --- a label ---------------------------------------------------------------------------------

std::string label_body(const traffic_request& what, const traffic_terms& of) {
  ordered_json metadata = relied_on(what.seen);
  metadata["labels"] = {{role_label, what.names_us ? "active" : "standby"},
                        {election_label, of.election}};
  if (what.version != core::no_version) {
    metadata["annotations"] = {{version_annotation, number_text(what.version)}};
  }
  return written({{"metadata", std::move(metadata)}});
}

// --- a condition -----------------------------------------------------------------------------

std::string message_of(const traffic_request& what, const traffic_terms& of) {
  std::string out;
  if (what.version != core::no_version) out = "version " + number_text(what.version) + ": ";
  const bool is_ours = what.object == of.its.pod_name;
  out += is_ours ? "this pod" : of.its.pod_name;
  out += is_ours && !what.names_us ? " is not active" : " is active";
  return out.append(" in the election ").append(of.election);
}

ordered_json condition(std::string_view type, bool status, std::string_view reason,
                       const std::string& message) {
  return {{"type", type},
          {"status", status ? "True" : "False"},
          {"reason", reason},
          {"message", message}};
}

std::string gate_body(const traffic_request& what, const traffic_terms& of, std::int64_t unix_ms) {
  const std::string now = whole_seconds(unix_ms);
  ordered_json active = condition(active_condition, what.names_us,
                                  what.names_us ? "Active" : "Standby", message_of(what, of));
  const bool was_active = what.seen.who != named::nobody;
  if (!what.seen.is_complete || was_active != what.names_us) active["lastTransitionTime"] = now;
  ordered_json conditions = ordered_json::array({std::move(active)});
  // The kubelet of a pod that it runs does the same. But that of a dead node does not, and until
  // the node is given up, that pod would stay Ready.
  if (what.seen.who == named::other && what.seen.is_ready) {
    ordered_json ready = condition("Ready", false, "ReadinessGatesNotReady",
                                   "the condition tenure.dev/active is not True");
    ready["lastTransitionTime"] = now;
    conditions.push_back(std::move(ready));
  }
  return written(
      {{"metadata", relied_on(what.seen)}, {"status", {{"conditions", std::move(conditions)}}}});
}

// --- a slice ---------------------------------------------------------------------------------

ordered_json endpoint_of(const marked_object& seen, const settings::kubernetes& its) {
  ordered_json target{{"kind", "Pod"}, {"namespace", its.pod_namespace}, {"name", its.pod_name}};
  if (!its.pod_uid.empty()) target["uid"] = its.pod_uid;
  ordered_json out{{"addresses", seen.addresses},
                   {"conditions", {{"ready", true}, {"serving", true}, {"terminating", false}}},
                   {"targetRef", std::move(target)}};
  if (!its.pod_node.empty()) out["nodeName"] = its.pod_node;
  return out;
}

std::string slice_body(const traffic_request& what, const traffic_terms& of) {
  ordered_json metadata = relied_on(what.seen);
  ordered_json notes{{holder_annotation, nullptr}};
  if (what.names_us) notes[holder_annotation] = of.its.pod_name;
  if (what.version != core::no_version) notes[version_annotation] = number_text(what.version);
  metadata["annotations"] = std::move(notes);
  ordered_json endpoints = ordered_json::array();
  if (what.names_us) endpoints.push_back(endpoint_of(what.seen, of.its));
  return written({{"metadata", std::move(metadata)}, {"endpoints", std::move(endpoints)}});
}

api_request list(std::string path, std::string_view label, std::string_view value) {
  return {.path = std::move(path),
          .query = "labelSelector=" +
                   base::percent_encoded(std::string(label).append("=").append(value))};
}

api_request patch(std::string path, std::string_view type, std::string body) {
  return {.method = "PATCH",
          .path = std::move(path),
          .query = std::string(as_tenure),
          .body = std::move(body),
          .content_type = std::string(type)};
}

}  // namespace

api_request request_for(const traffic_request& what, const traffic_terms& of,
                        std::int64_t unix_ms) {
  using kind = traffic_request::kind;
  const bool is_list = what.what == kind::list;
  const bool is_write = what.what == kind::write;
  if (of.its.traffic == traffic::endpoints) {
    std::string path = in_namespace("/apis/discovery.k8s.io/v1", of.its.pod_namespace,
                                    "endpointslices", is_list ? std::string_view() : what.object);
    if (is_list) return list(std::move(path), service_label, what.object);
    if (!is_write) return {.path = std::move(path)};
    return patch(std::move(path), merge_patch, slice_body(what, of));
  }
  if (is_list) return list(pods(of), election_label, of.election);
  if (!is_write) return {.path = pods(of, what.object)};
  if (of.its.traffic == traffic::label) {
    return patch(pods(of, what.object), merge_patch, label_body(what, of));
  }
  return patch(pods(of, what.object) + "/status", strategic_patch, gate_body(what, of, unix_ms));
}

api_request review_of(const right& what) {
  ordered_json asked{{"namespace", what.name_space},
                     {"verb", what.verb},
                     {"group", what.group},
                     {"resource", what.resource}};
  if (!what.sub_resource.empty()) asked["subresource"] = what.sub_resource;
  if (!what.name.empty()) asked["name"] = what.name;
  return {.method = "POST",
          .path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
          .body = written({{"apiVersion", "authorization.k8s.io/v1"},
                           {"kind", "SelfSubjectAccessReview"},
                           {"spec", {{"resourceAttributes", std::move(asked)}}}})};
}

api_request lease_request(std::string_view name_space, std::string_view name) {
  return {.path = in_namespace("/apis/coordination.k8s.io/v1", name_space, "leases", name)};
}

api_request event_request(const event_note& what, const event_subject& about, std::string_view pod,
                          std::int64_t unix_ms) {
  ordered_json regarding{{"apiVersion", about.api_version},
                         {"kind", about.kind},
                         {"namespace", about.name_space},
                         {"name", about.name}};
  if (!about.uid.empty()) regarding["uid"] = about.uid;
  return {.method = "POST",
          .path = in_namespace("/apis/events.k8s.io/v1", about.name_space, "events"),
          .body = written(
              {{"apiVersion", "events.k8s.io/v1"},
               {"kind", "Event"},
               {"metadata", {{"generateName", about.name + "-"}, {"namespace", about.name_space}}},
               {"eventTime", base::micro_time(unix_ms)},
               {"reportingController", "tenure.dev/agent"},
               {"reportingInstance", pod},
               {"action", what.action},
               {"reason", what.reason},
               {"type", what.is_warning ? "Warning" : "Normal"},
               {"regarding", std::move(regarding)},
               {"note", what.note}})};
}

}  // namespace tenure::kube
