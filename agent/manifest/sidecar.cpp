#include "manifest/sidecar.hpp"
#include "base/list_text.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace tenure::manifest {
namespace {

constexpr std::uint32_t default_grace_seconds = 30;
/// The most and the least that the kill and the release of the lease are left.
constexpr std::uint32_t most_rest_seconds = 10;
constexpr std::uint32_t least_rest_seconds = 2;

/// What YAML 1.1, which Kubernetes reads, does not take for text.
constexpr std::array<std::string_view, 9> not_text{"y",   "n",    "yes",   "no",  "on",
                                                   "off", "true", "false", "null"};

bool is_plain(std::string_view text) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_.=:@-";
  if (text.empty() || text.ends_with(':')) return false;
  if (text.find_first_not_of(letters) != std::string_view::npos) return false;
  std::string small(text);
  std::ranges::transform(small, small.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (std::ranges::find(not_text, small) != not_text.end()) return false;
  return text.starts_with("--") || small[0] == '/' || (small[0] >= 'a' && small[0] <= 'z');
}

/// Kubernetes replaces $(NAME) in arguments; "$$(" is how a text has "$(".
std::string without_variables(std::string text) {
  for (std::size_t at = text.find("$("); at != std::string::npos; at = text.find("$(", at + 3)) {
    text.insert(at, "$");
  }
  return text;
}

std::string sequence_text(const std::vector<std::string>& all) {
  return "[" + base::listed(all, scalar_text) + "]";
}

/// Where the agent looks for the guard.
std::string_view guard_folder(const pod_facts& of) {
  return of.user_is_unknown ? "/run/tenure/guard" : "/run/tenure";
}

constexpr std::string_view run_mount = "    - {name: tenure-run, mountPath: /run/tenure}\n";

/// Pod Security "restricted" admits it. Its user is that of the main container, so that the agent
/// and the guard trust each other; where nobody knows that user, it is the one of our image.
std::string security_context(const pod_facts& of) {
  std::string out = "  securityContext:\n";
  if (of.user) {
    out += "    runAsUser: " + std::to_string(*of.user) + "\n";
    if (*of.user != 0) out += "    runAsNonRoot: true\n";
  } else if (!of.is_root) {
    out += "    runAsNonRoot: true\n";
  }
  return out +
         "    readOnlyRootFilesystem: true\n"
         "    allowPrivilegeEscalation: false\n"
         "    capabilities: {drop: [ALL]}\n"
         "    seccompProfile: {type: RuntimeDefault}\n";
}

std::string quantities_text(const quantities& all) {
  const auto one = [](const auto& of) { return of.first + ": " + of.second; };
  return "{" + base::listed(all, one) + "}";
}

std::string resources(const sidecar& what) {
  return "  resources:\n    requests: " + quantities_text(what.requests) +
         "\n    limits: " + quantities_text(what.limits) + "\n";
}

std::string install_container(const sidecar& what, const pod_facts& of) {
  std::vector<std::string> arguments{"install", "/tenure-bin"};
  std::string run;
  if (of.user_is_unknown) {
    arguments.push_back("--guard-dir=" + std::string(guard_folder(of)));
    run = run_mount;
  }
  return "- name: tenure-install\n  image: " + scalar_text(what.image) +
         "\n  args: " + sequence_text(arguments) + "\n" + resources(what) + security_context(of) +
         "  volumeMounts:\n    - {name: tenure-bin, mountPath: /tenure-bin}\n" + run;
}

std::string agent_container(const sidecar& what, const pod_facts& of) {
  std::vector<std::string> arguments{"agent"};
  for (const std::string& one : what.settings) arguments.push_back(without_variables(one));
  for (const std::string& one : of.settings) arguments.push_back(without_variables(one));
  if (of.probe_port != what.probe_port) {
    arguments.push_back("--probe-listen=0.0.0.0:" + std::to_string(of.probe_port));
  }
  arguments.push_back("--guard-dir=" + std::string(guard_folder(of)));
  std::string out =
      "- name: tenure\n  image: " + scalar_text(what.image) +
      "\n  restartPolicy: Always\n  args: " + sequence_text(arguments) +
      "\n  env:\n"
      "    - {name: TENURE_POD_NAME, valueFrom: {fieldRef: {fieldPath: metadata.name}}}\n"
      "    - {name: TENURE_POD_UID, valueFrom: {fieldRef: {fieldPath: metadata.uid}}}\n"
      "    - {name: TENURE_POD_NODE, valueFrom: {fieldRef: {fieldPath: spec.nodeName}}}\n"
      "    - {name: TENURE_POD_ADDRESS, valueFrom: {fieldRef: {fieldPath: status.podIPs}}}\n"
      "    - {name: TENURE_RUNTIME_DIR, value: /run/tenure/agent}\n"
      "  ports:\n    - {name: tenure-probe, containerPort: " +
      std::to_string(of.probe_port) +
      "}\n"
      "  startupProbe:\n"
      "    httpGet: {path: /readyz, port: tenure-probe}\n"
      "    periodSeconds: 1\n"
      "    failureThreshold: 60\n"
      "  livenessProbe:\n"
      "    httpGet: {path: /livez, port: tenure-probe}\n" +
      resources(what) + security_context(of) + "  volumeMounts:\n" + std::string(run_mount);
  for (const agent_mount& one : what.mounts) {
    out += "    - {name: " + scalar_text(one.volume) + ", mountPath: " + scalar_text(one.path) +
           ", readOnly: true}\n";
  }
  return out;
}

std::string rules_text(const rights& needs) {
  std::string out;
  const auto add = [&out](std::string_view group, std::string_view resource,
                          const std::vector<std::string>& names, std::string_view verbs) {
    out.append("  - apiGroups: [").append(group).append("]\n    resources: [").append(resource);
    out += "]\n";
    if (!names.empty()) out += "    resourceNames: " + sequence_text(names) + "\n";
    out.append("    verbs: [").append(verbs).append("]\n");
  };
  if (needs.leases) {
    add("coordination.k8s.io", "leases", {}, "get, list, watch, create, patch, delete");
  }
  if (!needs.slices.empty()) {
    add("discovery.k8s.io", "endpointslices", needs.slices, "get, patch");
    add("discovery.k8s.io", "endpointslices", {}, "list");
  }
  if (needs.labels) add("\"\"", "pods", {}, "get, list, patch");
  if (needs.conditions) {
    add("\"\"", "pods", {}, "get, list");
    add("\"\"", "pods/status", {}, "patch");
  }
  if (needs.events) add("events.k8s.io", "events", {}, "create");
  return out;
}

}  // namespace

std::string scalar_text(const std::string& text) {
  if (is_plain(text)) return text;
  constexpr std::string_view digits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      out += "\\x";
      out += digits[byte >> 4U];
      out += digits[byte & 0xfU];
    } else {
      if (c == '"' || c == '\\') out += '\\';
      out += c;
    }
  }
  return out + "\"";
}

std::string init_containers(const sidecar& what, const pod_facts& of) {
  return install_container(what, of) + agent_container(what, of);
}

std::vector<std::string> drain_words(std::optional<std::uint32_t> grace_seconds) {
  const std::uint32_t grace = grace_seconds.value_or(default_grace_seconds);
  // With no time at all, the kubelet kills everything at once.
  if (grace == default_grace_seconds || grace == 0) return {};
  if (grace < 2 * least_rest_seconds) return {"--drain=" + std::to_string(grace * 500) + "ms"};
  const std::uint32_t rest = std::clamp(grace / 3, least_rest_seconds, most_rest_seconds);
  return {"--drain=" + std::to_string(grace - rest) + "s"};
}

std::vector<std::string> guard_words(const pod_facts& of) {
  std::vector<std::string> out{"/tenure-bin/tenure", "guard",
                               "--dir=" + std::string(guard_folder(of))};
  if (of.user_is_unknown) out.push_back("--agent-uid=" + std::to_string(user_of_image));
  for (std::string& one : drain_words(of.grace)) out.push_back(std::move(one));
  out.emplace_back("--");
  return out;
}

std::vector<std::string> role_objects(const rights& needs, const workload& of,
                                      const std::string& account) {
  const std::string name = scalar_text(of.name + "-tenure");
  const std::string meta =
      "metadata:\n  name: " + name + "\n" +
      (of.name_space.empty() ? "" : "  namespace: " + scalar_text(of.name_space) + "\n");
  const std::string version = "apiVersion: rbac.authorization.k8s.io/v1\n";
  return {version + "kind: Role\n" + meta + "rules:\n" + rules_text(needs),
          version + "kind: RoleBinding\n" + meta +
              "roleRef:\n  apiGroup: rbac.authorization.k8s.io\n  kind: Role\n  name: " + name +
              "\nsubjects:\n  - kind: ServiceAccount\n    name: " + scalar_text(account) + "\n"};
}

}  // namespace tenure::manifest
