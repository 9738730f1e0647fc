#include <algorithm>
#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/percent_text.hpp"
#include "kube/codec.hpp"
#include "kube/codec_reader.hpp"
#include "kube/container_end.hpp"
#include "kube/pod_view.hpp"

namespace tenure::kube {
namespace {

using nlohmann::json;

constexpr std::array<std::pair<std::string_view, std::string_view>, 4> resources{
    {{"Deployment", "deployments"},
     {"StatefulSet", "statefulsets"},
     {"DaemonSet", "daemonsets"},
     {"ReplicaSet", "replicasets"}}};

/// The paths and the words by which an agent is asked whether it leads.
constexpr std::array<std::string_view, 2> leading{"leader", "primary"};

std::vector<std::string> texts(const json& from, reader::path at, reader& by) {
  std::vector<std::string> out;
  for (const json& one : by.list(from, at)) {
    by.require(one.is_string(), "something in it is not a text");
    if (one.is_string()) out.push_back(one.get<std::string>());
  }
  return out;
}

bool asks_who_leads(const json& container, reader& by) {
  const std::string path = by.text(container, {"readinessProbe", "httpGet", "path"});
  const auto words = texts(container, {"readinessProbe", "exec", "command"}, by);
  const auto has = [&words](std::string_view one) {
    return std::ranges::find(words, one) != words.end();
  };
  return std::ranges::any_of(leading, [&](std::string_view one) {
    const std::string asked = "/" + std::string(one);
    return path == asked || path.starts_with(asked + "?") || (has("probe") && has(one));
  });
}

container_view container_of(const json& from, reader& by) {
  container_view out{
      .name = by.text(from, {"name"}),
      .words = texts(from, {"command"}, by),
      .asks_who_leads = asks_who_leads(from, by),
      .has_pre_stop = by.find(from, {"lifecycle", "preStop"}) != nullptr,
      .pre_stop_seconds = by.number(from, {"lifecycle", "preStop", "sleep", "seconds"}, 0)};
  for (std::string& one : texts(from, {"args"}, by)) out.words.push_back(std::move(one));
  for (const json& one : by.list(from, {"volumeMounts"})) {
    out.mounts.push_back({.volume = by.text(one, {"name"}), .path = by.text(one, {"mountPath"})});
  }
  return out;
}

std::optional<owner> owner_of(const json& from, reader& by) {
  for (const json& one : by.list(from, {"metadata", "ownerReferences"})) {
    if (!by.is_true(one, {"controller"})) continue;
    const std::string api = by.text(one, {"apiVersion"});
    const std::string kind = by.text(one, {"kind"});
    return owner{.kind = api.starts_with("apps/") ? kind : kind + " of " + api,
                 .name = by.text(one, {"name"})};
  }
  return std::nullopt;
}

/// A number or a share, as text.
std::string amount(const json& from, reader::path at, reader& by) {
  const json* const found = by.find(from, at);
  if (found == nullptr) return {};
  return found->is_number_integer() ? std::to_string(found->get<std::int64_t>())
                                    : by.text(from, at);
}

}  // namespace

api_request pod_request(std::string_view name_space, std::string_view name) {
  return {.path = "/api/v1/namespaces/" + base::percent_encoded(name_space) + "/pods/" +
                  base::percent_encoded(name)};
}

std::expected<pod_view, std::string> read_pod(std::string_view body, std::string_view name) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  reader by;
  by.require(by.text(*document, {"kind"}) == "Pod", "it is not a Pod");
  by.require(by.text(*document, {"metadata", "name"}) == name, "it is about another object");
  pod_view out{.made_by = owner_of(*document, by)};
  out.grace_seconds =
      by.number(*document, {"spec", "terminationGracePeriodSeconds"}, out.grace_seconds);
  out.shares_processes = by.is_true(*document, {"spec", "shareProcessNamespace"});
  for (const json& one : by.list(*document, {"spec", "readinessGates"})) {
    out.has_gate = out.has_gate || by.text(one, {"conditionType"}) == active_condition;
  }
  for (const char* const all : {"initContainers", "containers"}) {
    for (const json& one : by.list(*document, {"spec", all})) {
      out.containers.push_back(container_of(one, by));
    }
  }
  if (!by.why().empty()) return unusable(by.why(), body);
  return out;
}

api_request pod_watch_request(std::string_view name_space, std::string_view name,
                              core::duration lasts) {
  const auto seconds = std::chrono::ceil<std::chrono::seconds>(lasts).count();
  return {.path = "/api/v1/namespaces/" + base::percent_encoded(name_space) + "/pods",
          .query = "watch=true&fieldSelector=metadata.name%3D" + base::percent_encoded(name) +
                   "&timeoutSeconds=" + std::to_string(seconds)};
}

std::expected<std::vector<container_end>, std::string> read_ends(std::string_view document,
                                                                 std::string_view name) {
  const auto event = read_object(document);
  if (!event) return std::unexpected(event.error());
  reader by;
  std::vector<container_end> out;
  if (by.text(*event, {"type"}) == "ERROR") {
    return std::unexpected("it has ended the watch: " + by.text(*event, {"object", "message"}));
  }
  if (by.text(*event, {"object", "kind"}) != "Pod" ||
      by.text(*event, {"object", "metadata", "name"}) != name) {
    return out;
  }
  for (const char* const all : {"initContainerStatuses", "containerStatuses"}) {
    for (const json& one : by.list(*event, {"object", "status", all})) {
      for (const char* const when : {"state", "lastState"}) {
        const json* const end = by.find(one, {when, "terminated"});
        if (end == nullptr) continue;
        by.require(by.find(*end, {"exitCode"}) != nullptr, "an end has no exit code");
        out.push_back({.container = by.text(one, {"name"}),
                       .last_words = by.text(*end, {"message"}),
                       .reason = by.text(*end, {"reason"}),
                       .exit_code = by.number(*end, {"exitCode"}, 0)});
      }
    }
  }
  if (!by.why().empty()) return unusable(by.why(), document);
  return out;
}

std::string_view resource_of(std::string_view kind) {
  const auto* const found =
      std::ranges::find(resources, kind, &std::pair<std::string_view, std::string_view>::first);
  return found == resources.end() ? std::string_view() : found->second;
}

api_request owner_request(std::string_view name_space, const owner& what) {
  return {.path = "/apis/apps/v1/namespaces/" + base::percent_encoded(name_space) + "/" +
                  std::string(resource_of(what.kind)) + "/" + base::percent_encoded(what.name)};
}

std::expected<workload_view, std::string> read_owner(std::string_view body, const owner& what) {
  const auto document = read_object(body);
  if (!document) return std::unexpected(document.error());
  reader by;
  by.require(by.text(*document, {"kind"}) == what.kind, "it is not a " + what.kind);
  by.require(by.text(*document, {"metadata", "name"}) == what.name, "it is about another object");
  const char* const strategy = what.kind == "Deployment" ? "strategy" : "updateStrategy";
  workload_view out{.kind = what.kind,
                    .name = what.name,
                    .replicas = by.number(*document, {"spec", "replicas"}, 1),
                    .strategy = by.text(*document, {"spec", strategy, "type"}),
                    .max_unavailable = amount(
                        *document, {"spec", strategy, "rollingUpdate", "maxUnavailable"}, by),
                    .made_by = owner_of(*document, by)};
  if (!by.why().empty()) return unusable(by.why(), body);
  return out;
}

}  // namespace tenure::kube
