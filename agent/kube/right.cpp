#include "kube/right.hpp"

#include <utility>

namespace tenure::kube {
namespace {

using settings::traffic;

std::string resource_of(const right& what) {
  std::string out(what.resource);
  if (!what.sub_resource.empty()) out.append("/").append(what.sub_resource);
  return out;
}

void add_traffic(const settings::kubernetes& its, std::vector<right>& out) {
  switch (its.traffic) {
    case traffic::probe:
      return;
    case traffic::gate:
    case traffic::label:
      for (const std::string_view verb : {"get", "list", "patch"}) {
        out.push_back(traffic_right(its, verb));
      }
      return;
    case traffic::endpoints:
      for (const std::string_view verb : {"get", "patch"}) {
        for (const std::string& name : its.slices) out.push_back(traffic_right(its, verb, name));
      }
      // Those of others: a list cannot be limited to names.
      out.push_back(traffic_right(its, "list"));
  }
}

}  // namespace

right traffic_right(const settings::kubernetes& its, std::string_view verb, std::string slice) {
  if (its.traffic == traffic::endpoints) {
    return {.verb = verb,
            .group = "discovery.k8s.io",
            .resource = "endpointslices",
            .name_space = its.pod_namespace,
            .name = std::move(slice),
            .use = verb == "list" ? right_use::other_slices : right_use::traffic};
  }
  const bool is_condition = its.traffic == traffic::gate && verb == "patch";
  return {.verb = verb,
          .group = "",
          .resource = "pods",
          .sub_resource = is_condition ? "status" : "",
          .name_space = its.pod_namespace,
          .use = right_use::traffic};
}

right event_right(std::string name_space) {
  return {.verb = "create",
          .group = "events.k8s.io",
          .resource = "events",
          .name_space = std::move(name_space),
          .use = right_use::events};
}

right witness_right(const settings::kubernetes& its) {
  return {.verb = "watch",
          .group = "",
          .resource = "pods",
          .name_space = its.pod_namespace,
          .use = right_use::witness};
}

std::vector<right> rights_for(const settings::kubernetes& its, std::string_view lease_namespace) {
  std::vector<right> out;
  add_traffic(its, out);
  if (its.has_witness()) out.push_back(witness_right(its));
  if (!its.events) return out;
  out.push_back(event_right(its.pod_namespace));
  if (its.has_leases && lease_namespace != its.pod_namespace) {
    out.push_back(event_right(std::string(lease_namespace)));
  }
  return out;
}

std::string text(const right& what) {
  std::string out = std::string(what.verb) + " " + resource_of(what);
  if (!what.name.empty()) out.append(" ").append(what.name);
  return out.append(" in namespace ").append(what.name_space);
}

std::string text(const std::vector<right>& all) {
  std::string out;
  const right* before = nullptr;
  for (const right& one : all) {
    const bool is_same = before != nullptr && resource_of(*before) == resource_of(one) &&
                         before->name_space == one.name_space;
    // The same verb on another object.
    if (is_same && before->verb == one.verb) continue;
    if (before != nullptr) {
      out += is_same ? ","
                     : " " + resource_of(*before) + " in namespace " + before->name_space + "; and";
    }
    out.append(out.empty() ? "" : " ").append(one.verb);
    before = &one;
  }
  if (before != nullptr) out += " " + resource_of(*before) + " in namespace " + before->name_space;
  return out;
}

std::string rule_for(const right& what) {
  const std::string group = what.group.empty() ? R"("")" : std::string(what.group);
  std::string out = "{apiGroups: [" + group + "], resources: [" + resource_of(what) + "]";
  if (!what.name.empty()) out.append(", resourceNames: [").append(what.name).append("]");
  return out.append(", verbs: [").append(what.verb).append("]}");
}

}  // namespace tenure::kube
