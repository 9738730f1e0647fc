#include "manifest/sidecar.hpp"
#include "base/list_text.hpp"

#include <algorithm>
#include <array>

namespace tenure::manifest {
namespace {

constexpr std::uint32_t default_grace_seconds = 30;
constexpr std::uint32_t default_drain_seconds = 20;

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

/// Pod Security "restricted" admits it. Its user is that of the main container, so that the agent
/// and the guard trust each other.
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

std::string install_container(const sidecar& what, const pod_facts& of) {
  return "- name: tenure-install\n  image: " + scalar_text(what.image) +
         "\n  args: [install, /tenure-bin]\n" + security_context(of) +
         "  volumeMounts:\n    - {name: tenure-bin, mountPath: /tenure-bin}\n";
}

std::string agent_container(const sidecar& what, const pod_facts& of) {
  std::vector<std::string> arguments{"agent"};
  for (const std::string& one : what.settings) arguments.push_back(without_variables(one));
  arguments.emplace_back("--guard-dir=/run/tenure");
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
      std::to_string(what.probe_port) +
      "}\n"
      "  startupProbe:\n"
      "    httpGet: {path: /readyz, port: tenure-probe}\n"
      "    periodSeconds: 1\n"
      "    failureThreshold: 60\n"
      "  livenessProbe:\n"
      "    httpGet: {path: /livez, port: tenure-probe}\n"
      "  resources:\n"
      "    requests: {cpu: 10m, memory: 16Mi}\n"
      "    limits: {memory: 32Mi}\n" +
      security_context(of) + "  volumeMounts:\n    - {name: tenure-run, mountPath: /run/tenure}\n";
  for (const agent_mount& one : what.mounts) {
    out += "    - {name: " + scalar_text(one.volume) + ", mountPath: " + scalar_text(one.path) +
           ", readOnly: true}\n";
  }
  return out;
}

/// The drain, the kill and the release of the lease have to fit into what the kubelet waits.
std::uint32_t drain_seconds(std::uint32_t grace) {
  constexpr std::uint32_t most_for_the_rest = 10;
  return grace - std::min(most_for_the_rest, grace / 3);
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

std::vector<std::string> guard_words(const pod_facts& of) {
  std::vector<std::string> out{"/tenure-bin/tenure", "guard", "--dir=/run/tenure"};
  const std::uint32_t drain = drain_seconds(of.grace.value_or(default_grace_seconds));
  // With no time at all, the kubelet kills everything at once.
  if (drain != default_drain_seconds && drain != 0) {
    out.push_back("--drain=" + std::to_string(drain) + "s");
  }
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
