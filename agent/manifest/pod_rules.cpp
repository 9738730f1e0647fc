#include "manifest/pod_rules.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "base/number_text.hpp"
#include "settings/mistake.hpp"

namespace tenure::manifest {
namespace {

using config::yaml_kind;
using config::yaml_node;
using settings::quote;

constexpr std::array<std::string_view, 2> our_containers{"tenure-install", "tenure"};
constexpr std::array<std::string_view, 2> our_volumes{"tenure-bin", "tenure-run"};
constexpr std::array<std::string_view, 2> our_places{"/tenure-bin", "/run/tenure"};

bool is_true(const yaml_node& of, std::string_view key) {
  const yaml_node* const value = member_of(of, key);
  return value != nullptr && config::kind_of_plain(value->scalar) == yaml_kind::boolean &&
         (value->scalar[0] == 't' || value->scalar[0] == 'T');
}

std::optional<std::uint32_t> number_of(const yaml_node* of, std::string_view key) {
  return of == nullptr ? std::nullopt : base::read_number<std::uint32_t>(text_of(*of, key));
}

std::string_view last_name(std::string_view path) {
  return path.substr(path.rfind('/') + 1);
}

/// True for `path` itself, and for what is below it.
bool is_within(std::string_view path, std::string_view place) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  return path == place || (path.starts_with(place) && path[place.size()] == '/');
}

/// Lives for one call of `examine`.
class examiner {
 public:
  examiner(const std::string& name, const document& in, const workload& of, const sidecar& what,
           const pod_choices& choices)
      : name_(name),
        in_(in),
        of_(of),
        what_(what),
        choices_(choices),
        pod_(node_at(*in.root, of.pod)) {}

  pod_report examine() {
    if (!check_path(of_.pod)) return std::move(out_);
    check_pod();
    check_containers();
    if (const yaml_node* const main = find_main()) {
      check_main(*main);
      find_user(*main);
    }
    check_volumes();
    check_account();
    check_replicas();
    return std::move(out_);
  }

 private:
  [[nodiscard]] std::string at(const yaml_node& node) const {
    return config::position(name_, node.line + in_.lines_before, node.column);
  }

  void refuse(const yaml_node& where, std::string what, std::string todo) {
    out_.problems.push_back({at(where), std::move(what), std::move(todo)});
  }

  /// Mappings on the way have to be written out, each in its own lines.
  bool check_path(const node_path& path) {
    const yaml_node* node = in_.root.get();
    bool good = check_written_out(*node);
    for (const std::size_t place : path) {
      if (!good) break;
      node = node->kind == yaml_kind::list ? node->items[place].get()
                                           : node->members[place].second.get();
      good = check_written_out(*node);
    }
    return good;
  }

  bool check_written_out(const yaml_node& node) {
    if (node.is_aliased) {
      refuse(node, "this is repeated elsewhere by an alias, which would repeat the sidecar too",
             "write it out where the alias is");
    } else if (node.is_flow) {
      refuse(node, "this is written in brackets or braces, as JSON",
             "write it in lines, e.g. by `kubectl create --dry-run=client -o yaml -f FILE`");
    } else if (place_of(node, "<<") != no_member) {
      refuse(node, "this takes members of another mapping (\"<<\")", "write them out");
    } else {
      return true;
    }
    return false;
  }

  void check_pod() {
    if (is_true(pod_, "hostPID")) {
      refuse(*member_of(pod_, "hostPID"),
             "with hostPID, what the guard has started would outlive the guard, and be in the view "
             "of every pod of the node",
             "leave hostPID out, or run the agent on the host");
    }
    const yaml_node* const system = member_of(pod_, "os");
    const yaml_node* const selector = member_of(pod_, "nodeSelector");
    if ((system != nullptr && text_of(*system, "name") == "windows") ||
        (selector != nullptr && text_of(*selector, "kubernetes.io/os") == "windows")) {
      refuse(pod_, "this pod is for Windows", "Tenure runs on Linux only");
    }
    if (is_true(pod_, "hostNetwork")) {
      out_.notes.push_back({at(*member_of(pod_, "hostNetwork")),
                            "with hostNetwork, the agent listens on the node's port " +
                                std::to_string(what_.probe_port) +
                                ", so that two such pods cannot be on one node",
                            "leave hostNetwork out if the workload does not need it"});
    }
    out_.facts.grace = number_of(&pod_, "terminationGracePeriodSeconds");
  }

  void check_containers() {
    for (const std::string_view list : {"initContainers", "containers", "ephemeralContainers"}) {
      const yaml_node* const all = member_of(pod_, list);
      if (all == nullptr) continue;
      for (const auto& one : all->items) check_container(*one);
    }
    if (const yaml_node* const all = member_of(pod_, "initContainers")) {
      check_list(*all, "initContainers", false);
    }
  }

  void check_container(const yaml_node& one) {
    const std::string name = text_of(one, "name");
    if (std::ranges::find(our_containers, name) != our_containers.end()) {
      refuse(
          one, "there is a container " + quote(name) + " already, without our marks",
          "take out what was added by hand; if the workload had another name when it was injected, "
          "take it out with --uninject");
    }
    const yaml_node* const ports = member_of(one, "ports");
    if (ports == nullptr) return;
    for (const auto& port : ports->items) {
      if (number_of(port.get(), "containerPort") == what_.probe_port) {
        refuse(*port,
               "the container listens on port " + std::to_string(what_.probe_port) +
                   ", where the agent would answer probes",
               "give the agent another one: --probe-listen 0.0.0.0:" +
                   std::to_string(what_.probe_port == 65535 ? 8081 : what_.probe_port + 1));
      }
    }
  }

  /// The list, if it is not empty, can get more items.
  void check_list(const yaml_node& list, const std::string& key, bool in_brackets) {
    if (list.is_aliased) {
      refuse(list, key + " is repeated elsewhere by an alias", "write it out where the alias is");
    } else if (list.kind == yaml_kind::list && list.is_flow && !list.items.empty() &&
               !in_brackets) {
      refuse(list, key + " is written in brackets", "write each item in lines of its own");
    } else if (list.kind != yaml_kind::list && list.kind != yaml_kind::null) {
      refuse(list, key + " is not a list", "make it one");
    }
  }

  const yaml_node* find_main() {
    const std::size_t place = place_of(pod_, "containers");
    if (place >= pod_.members.size() || pod_.members[place].second->items.empty()) {
      refuse(pod_, "the pod has no list of containers", "give it one");
      return nullptr;
    }
    const yaml_node& all = *pod_.members[place].second;
    std::string names;
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < all.items.size(); ++i) {
      const std::string name = text_of(*all.items[i], "name");
      names += (names.empty() ? "" : ", ") + name;
      if (choices_.container.empty() || choices_.container == name) found.push_back(i);
    }
    if (found.size() != 1) {
      refuse(
          all,
          found.empty() ? "there is no container " + quote(choices_.container)
                        : "there are several containers",
          (found.empty() ? "these are: " : "say which one is to be active: --container one of ") +
              names);
      return nullptr;
    }
    out_.container = of_.pod;
    out_.container.insert(out_.container.end(), {place, found[0]});
    if (!check_path(out_.container)) return nullptr;
    out_.facts.main = text_of(*all.items[found[0]], "name");
    return all.items[found[0]].get();
  }

  void check_main(const yaml_node& main) {
    check_command(main);
    check_probes(main);
    const yaml_node* const mounted = member_of(main, "volumeMounts");
    if (mounted == nullptr) return;
    check_list(*mounted, "volumeMounts", true);
    for (const auto& one : mounted->items) {
      const std::string path = text_of(*one, "mountPath");
      for (const std::string_view place : our_places) {
        if (!is_within(path, place)) continue;
        refuse(*one, "a volume is mounted at " + quote(path) + ", which Tenure uses",
               "mount it elsewhere");
      }
    }
  }

  void check_command(const yaml_node& main) {
    const yaml_node* const command = member_of(main, "command");
    if (command == nullptr || command->items.empty()) {
      refuse(
          command == nullptr ? main : *command,
          "the main container has no command, and the entry point of its image is not known here",
          "write it into the manifest as command: (`docker inspect` of the image shows Entrypoint "
          "and Cmd)");
      return;
    }
    check_list(*command, "command", true);
    if (command->items.size() < 2 || last_name(command->items[0]->scalar) != "tenure") return;
    const std::string& verb = command->items[1]->scalar;
    if (verb == "guard" || verb == "exec") {
      refuse(*command, "the command runs under Tenure already",
             "take out by hand what was added by hand, or keep it and do without `tenure inject`");
    }
  }

  void check_probes(const yaml_node& main) {
    for (const std::string_view probe : {"livenessProbe", "startupProbe"}) {
      const yaml_node* const value = member_of(main, probe);
      if (value == nullptr || value->kind == yaml_kind::null) continue;
      refuse(*value,
             "the command does not run on a standby, so its " + std::string(probe) +
                 " would fail there, and the kubelet would start the container again and again",
             "leave it out, and let the agent check the workload while it is active: --health-http "
             "http://127.0.0.1:PORT/PATH (docs/health.md)");
    }
    const yaml_node* const hooks = member_of(main, "lifecycle");
    if (hooks != nullptr && member_of(*hooks, "postStart") != nullptr) {
      refuse(*hooks, "postStart would run when the container starts, on a standby too",
             "do what it does in the command");
    }
    const yaml_node* const ready = member_of(main, "readinessProbe");
    if (ready != nullptr && ready->kind != yaml_kind::null) check_readiness(*ready);
  }

  /// One pod is ever Ready then, and a roll-out that waits for a second one never ends.
  void check_readiness(const yaml_node& probe) {
    const yaml_node& object = node_at(*in_.root, of_.item);
    const yaml_node* const spec = member_of(object, "spec");
    if (spec == nullptr || of_.kind == "Pod" || of_.kind == "PodTemplate" ||
        of_.kind == "ReplicaSet") {
      return;
    }
    std::string todo = "leave it out (docs/traffic.md says how a Service finds the active pod)";
    if (of_.kind == "Deployment") todo += ", or set strategy to {type: Recreate}";
    if (of_.kind == "Deployment" ? ends_all(*spec) : is_by_hand(*spec)) return;
    refuse(probe,
           "a standby, where the command does not run, is not Ready by this readinessProbe, and a "
           "roll-out waits for it for ever",
           std::move(todo));
  }

  /// A Deployment whose roll-outs end all pods at once.
  static bool ends_all(const yaml_node& spec) {
    const yaml_node* const strategy = member_of(spec, "strategy");
    if (strategy == nullptr) return false;
    const yaml_node* const rolling = member_of(*strategy, "rollingUpdate");
    return text_of(*strategy, "type") == "Recreate" ||
           (rolling != nullptr && text_of(*rolling, "maxSurge") == "0" &&
            text_of(*rolling, "maxUnavailable") == "100%");
  }

  /// A StatefulSet or DaemonSet whose pods are replaced by hand, and do not wait for each other.
  [[nodiscard]] bool is_by_hand(const yaml_node& spec) const {
    const yaml_node* const strategy = member_of(spec, "updateStrategy");
    if (strategy == nullptr || text_of(*strategy, "type") != "OnDelete") return false;
    return of_.kind == "DaemonSet" || text_of(spec, "podManagementPolicy") == "Parallel";
  }

  void find_user(const yaml_node& main) {
    const yaml_node* const own = member_of(main, "securityContext");
    const yaml_node* const all = member_of(pod_, "securityContext");
    const auto of_container = number_of(own, "runAsUser");
    const auto of_pod = number_of(all, "runAsUser");
    const auto said = of_container ? of_container : of_pod;
    if (said && choices_.user && *said != *choices_.user) {
      refuse(of_container ? *own : *all,
             "the manifest says that the main container runs as user " + std::to_string(*said) +
                 ", and --run-as is " + std::to_string(*choices_.user),
             "leave --run-as out");
      return;
    }
    const auto user = said ? said : choices_.user;
    if (!user) {
      refuse(main,
             "the user that the main container runs as is not known here, and the agent has to run "
             "as the same one",
             "set securityContext.runAsUser, or give the user of its image: --run-as UID (0 for "
             "root)");
      return;
    }
    out_.facts.is_root = *user == 0;
    if (*user == 0 && ((own != nullptr && is_true(*own, "runAsNonRoot")) ||
                       (all != nullptr && is_true(*all, "runAsNonRoot")))) {
      refuse(own != nullptr ? *own : *all, "user 0 is root, which runAsNonRoot forbids",
             "give the user that the main container runs as");
      return;
    }
    if (user != of_pod) out_.facts.user = user;
  }

  void check_volumes() {
    const yaml_node* const all = member_of(pod_, "volumes");
    if (all != nullptr) check_list(*all, "volumes", true);
    std::vector<std::string> names;
    if (all != nullptr) {
      for (const auto& one : all->items) {
        names.push_back(text_of(*one, "name"));
        if (std::ranges::find(our_volumes, names.back()) == our_volumes.end()) continue;
        refuse(*one, "there is a volume " + quote(names.back()) + " already, without our marks",
               "take out by hand what was added by hand, or give it another name");
      }
    }
    for (const agent_mount& one : what_.mounts) {
      if (std::ranges::find(names, one.volume) != names.end()) continue;
      refuse(all == nullptr ? pod_ : *all, "the pod has no volume " + quote(one.volume),
             "add it, or leave --mount out");
    }
  }

  void check_account() {
    out_.facts.account = text_of(pod_, "serviceAccountName");
    if (out_.facts.account.empty()) out_.facts.account = text_of(pod_, "serviceAccount");
    if (out_.facts.account.empty()) out_.facts.account = "default";
    const yaml_node* const token = member_of(pod_, "automountServiceAccountToken");
    if (what_.needs.any() && token != nullptr && !is_true(pod_, "automountServiceAccountToken")) {
      refuse(*token,
             "without the token of its ServiceAccount the agent cannot sign in to Kubernetes",
             "set it to true, or take another store");
    }
    if (what_.adds_rights && out_.facts.account == "default") {
      out_.notes.push_back(
          {at(pod_),
           "the rights go to ServiceAccount \"default\"; every pod of the namespace "
           "that names no ServiceAccount gets them, too",
           "name one of its own in serviceAccountName"});
    }
  }

  void check_replicas() {
    const yaml_node* const spec = member_of(node_at(*in_.root, of_.item), "spec");
    if (spec == nullptr || (of_.kind != "Deployment" && of_.kind != "StatefulSet")) return;
    const yaml_node* const replicas = member_of(*spec, "replicas");
    if (replicas != nullptr && replicas->scalar != "1") return;
    out_.notes.push_back({at(replicas == nullptr ? *spec : *replicas),
                          "there is one pod, so nobody stands by", "set replicas to 2"});
  }

  const std::string& name_;
  const document& in_;
  const workload& of_;
  const sidecar& what_;
  const pod_choices& choices_;
  const yaml_node& pod_;
  pod_report out_;
};

}  // namespace

pod_report examine(const std::string& file_name, const document& in, const workload& of,
                   const sidecar& what, const pod_choices& choices) {
  return examiner(file_name, in, of, what, choices).examine();
}

}  // namespace tenure::manifest
