#include "manifest/probes.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "base/number_text.hpp"
#include "manifest/documents.hpp"

namespace tenure::manifest {
namespace {

using config::yaml_node;

/// The kubelet asks at the pod's address, and the agent at this one.
bool is_of_the_pod(const std::string& host) {
  constexpr std::array<std::string_view, 3> known{"", "localhost", "127.0.0.1"};
  return std::ranges::find(known, host) != known.end();
}

/// A Deployment whose roll-outs end all pods at once.
bool ends_all(const yaml_node& spec) {
  const yaml_node* const strategy = member_of(spec, "strategy");
  if (strategy == nullptr) return false;
  const yaml_node* const rolling = member_of(*strategy, "rollingUpdate");
  return text_of(*strategy, "type") == "Recreate" ||
         (rolling != nullptr && text_of(*rolling, "maxSurge") == "0" &&
          text_of(*rolling, "maxUnavailable") == "100%");
}

/// A StatefulSet or DaemonSet whose pods are replaced by hand, and do not wait for each other.
bool is_by_hand(const std::string& kind, const yaml_node& spec) {
  const yaml_node* const strategy = member_of(spec, "updateStrategy");
  if (strategy == nullptr || text_of(*strategy, "type") != "OnDelete") return false;
  return kind == "DaemonSet" || text_of(spec, "podManagementPolicy") == "Parallel";
}

}  // namespace

std::optional<std::string> url_of(const yaml_node& main, const yaml_node& probe) {
  const yaml_node* const get = member_of(probe, "httpGet");
  if (get == nullptr || !is_of_the_pod(text_of(*get, "host")) ||
      member_of(*get, "httpHeaders") != nullptr || text_of(*get, "scheme") == "HTTPS") {
    return std::nullopt;
  }
  // A number, or the name of a port.
  auto port = base::read_number<std::uint32_t>(text_of(*get, "port"));
  const yaml_node* const ports = member_of(main, "ports");
  if (!port && ports != nullptr) {
    for (const auto& one : ports->items) {
      if (text_of(*one, "name") == text_of(*get, "port")) {
        port = base::read_number<std::uint32_t>(text_of(*one, "containerPort"));
      }
    }
  }
  std::string path = text_of(*get, "path");
  if (!path.starts_with('/')) path.insert(0, "/");
  const auto is_odd = [](char c) { return c <= ' ' || c > '~' || c == '#' || c == '@'; };
  if (!port || std::ranges::any_of(path, is_odd)) return std::nullopt;
  return "http://127.0.0.1:" + std::to_string(*port) + path;
}

bool waits_for_two(const std::string& kind, const yaml_node& object) {
  const yaml_node* const spec = member_of(object, "spec");
  if (spec == nullptr || kind == "Pod" || kind == "PodTemplate" || kind == "ReplicaSet") {
    return false;
  }
  return !(kind == "Deployment" ? ends_all(*spec) : is_by_hand(kind, *spec));
}

}  // namespace tenure::manifest
