#include "kube/right.hpp"

namespace tenure::kube {
namespace {

using settings::traffic;

std::string resource_of(const right& what) {
  std::string out(what.resource);
  if (!what.sub_resource.empty()) out.append("/").append(what.sub_resource);
  return out;
}

void add_traffic(const settings::kubernetes& its, std::vector<right>& out) {
  const auto pods = [&](std::string_view verb, std::string_view sub = {}) {
    out.push_back({.verb = verb,
                   .group = "",
                   .resource = "pods",
                   .sub_resource = sub,
                   .name_space = its.pod_namespace});
  };
  switch (its.traffic) {
    case traffic::probe:
      return;
    case traffic::gate:
    case traffic::label:
      pods("get");
      pods("list");
      return its.traffic == traffic::label ? pods("patch") : pods("patch", "status");
    case traffic::endpoints:
      for (const std::string_view verb : {"get", "patch"}) {
        for (const std::string& name : its.slices) {
          out.push_back({.verb = verb,
                         .group = "discovery.k8s.io",
                         .resource = "endpointslices",
                         .name_space = its.pod_namespace,
                         .name = name});
        }
      }
  }
}

}  // namespace

std::vector<right> rights_for(const settings::kubernetes& its, std::string_view lease_namespace) {
  std::vector<right> out;
  add_traffic(its, out);
  if (!its.events) return out;
  right events{.verb = "create",
               .group = "events.k8s.io",
               .resource = "events",
               .name_space = its.pod_namespace};
  out.push_back(events);
  if (its.has_leases && lease_namespace != its.pod_namespace) {
    events.name_space = lease_namespace;
    out.push_back(events);
  }
  return out;
}

std::string text(const right& what) {
  std::string out = std::string(what.verb) + " " + resource_of(what);
  if (!what.name.empty()) out.append(" ").append(what.name);
  return out.append(" in namespace ").append(what.name_space);
}

std::string rule_for(const right& what) {
  const std::string group = what.group.empty() ? R"("")" : std::string(what.group);
  std::string out = "{apiGroups: [" + group + "], resources: [" + resource_of(what) + "]";
  if (!what.name.empty()) out.append(", resourceNames: [").append(what.name).append("]");
  return out.append(", verbs: [").append(what.verb).append("]}");
}

}  // namespace tenure::kube
