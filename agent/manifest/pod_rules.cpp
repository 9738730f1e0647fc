#include "manifest/pod_rules.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "base/number_text.hpp"
#include "manifest/pod_class.hpp"
#include "manifest/probes.hpp"
#include "settings/mistake.hpp"

namespace tenure::manifest {
namespace {

using config::yaml_kind;
using config::yaml_node;
using settings::quote;

constexpr std::array<std::string_view, 2> our_containers{"tenure-install", "tenure"};
constexpr std::array<std::string_view, 2> our_volumes{"tenure-bin", "tenure-run"};
constexpr std::array<std::string_view, 2> our_places{"/tenure-bin", "/run/tenure"};

/// The kubelet's, where a probe does not say.
constexpr std::uint32_t usual_period = 10;
constexpr std::uint32_t usual_failures = 3;

bool is_true(const yaml_node& of, std::string_view key) {
  const yaml_node* const value = member_of(of, key);
  return value != nullptr && config::truth_of(*value) == true;
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
    check_repeated(pod_);
    check_pod();
    check_containers();
    find_port();
    check_class();
    if (const yaml_node* const main = find_main()) {
      check_main(*main);
      find_user(*main);
    }
    check_traffic();
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

  /// Nothing if there is none. Kubernetes reads 010 as 8 and 0x10 as 16: what is not plainly
  /// decimal is refused.
  std::optional<std::uint32_t> number_of(const yaml_node* of, std::string_view key) {
    const yaml_node* const value = of == nullptr ? nullptr : member_of(*of, key);
    if (value == nullptr || value->kind == yaml_kind::null) return std::nullopt;
    const auto number = base::read_number<std::uint32_t>(value->scalar);
    if (number && std::to_string(*number) == value->scalar) return number;
    refuse(*value, std::string(key) + " is not a plain decimal number",
           "write it as one, such as 1000");
    return std::nullopt;
  }

  /// Kubernetes takes the last of two members of one name, or refuses both.
  void check_repeated(const yaml_node& node) {
    std::set<std::string_view> seen;
    for (const auto& [key, value] : node.members) {
      if (!seen.insert(key->scalar).second) {
        refuse(*key, key->scalar + " is given twice", "remove one");
      }
      if (!value->is_aliased) check_repeated(*value);
    }
    for (const auto& item : node.items) {
      if (!item->is_aliased) check_repeated(*item);
    }
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
             "write it in lines, e.g. by `kubectl patch --local -f FILE -p {} -o yaml`");
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
    check_grace();
  }

  void check_grace() {
    constexpr std::uint32_t short_seconds = 4;
    out_.facts.grace = number_of(&pod_, "terminationGracePeriodSeconds");
    if (!out_.facts.grace || *out_.facts.grace >= short_seconds) return;
    const auto words = drain_words(out_.facts.grace);
    std::string what =
        "with terminationGracePeriodSeconds 0 the kubelet kills all containers at "
        "once: the workload does not end in order, and no lease is released";
    if (!words.empty()) {
      what = "terminationGracePeriodSeconds is " + std::to_string(*out_.facts.grace) +
             ": the workload is killed after half of that (" + words[0] +
             "), and the rest may be too short to release the lease";
    }
    out_.notes.push_back({at(*member_of(pod_, "terminationGracePeriodSeconds")), std::move(what),
                          "give it as long as the workload needs to end, and 10 s more"});
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
      const auto number = number_of(port.get(), "containerPort");
      if (number) taken_ports_.insert(*number);
      if (number != what_.probe_port || !what_.port_is_given) continue;
      refuse(*port,
             "the container listens on port " + std::to_string(what_.probe_port) +
                 ", where the agent would answer probes",
             "give the agent another one with --probe-listen, or leave that out");
    }
  }

  /// The usual port, or the first one behind it that no container names.
  void find_port() {
    std::uint16_t port = what_.probe_port;
    while (!what_.port_is_given && taken_ports_.contains(port)) ++port;
    out_.facts.probe_port = port;
    if (port == what_.probe_port) return;
    out_.notes.push_back({at(pod_),
                          "a container listens on port " + std::to_string(what_.probe_port) +
                              ", so the agent answers probes on " + std::to_string(port),
                          "--probe-listen names another one"});
  }

  void check_class() {
    if (what_.requests == what_.limits || !is_guaranteed(pod_)) return;
    out_.notes.push_back({at(pod_),
                          "the pod is of the class Guaranteed, and becomes Burstable with this "
                          "sidecar",
                          "give the sidecar limits for both: --limits cpu=100m,memory=32Mi"});
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

  /// For a command that people paste.
  static std::string image_of(const yaml_node& main) {
    constexpr std::string_view letters =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/_.:@-";
    const std::string image = text_of(main, "image");
    return image.empty() || image.find_first_not_of(letters) != std::string::npos ? "IMAGE" : image;
  }

  void check_command(const yaml_node& main) {
    const yaml_node* const command = member_of(main, "command");
    if (command == nullptr || command->items.empty()) {
      if (!choices_.command.empty()) {
        out_.facts.command = choices_.command;
        return;
      }
      refuse(
          command == nullptr ? main : *command,
          "the main container has no command, and the entry point of its image is not known here",
          "write it into the manifest as command:, or give it: --command \"WORD...\"; Entrypoint, "
          "and where the manifest has no args Cmd behind it, as `docker image inspect " +
              image_of(main) + "` or `crane config " + image_of(main) + "` shows them");
      return;
    }
    if (!choices_.command.empty()) {
      refuse(*command, "the manifest has a command already, and --command is given",
             "leave --command out");
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
    std::vector<std::string> asked;
    std::vector<std::string> dropped;
    const bool is_wrapped = wrap(main, "livenessProbe");
    for (const std::string_view probe : {"livenessProbe", "startupProbe"}) {
      const yaml_node* const value = member_of(main, probe);
      if (value == nullptr || value->kind == yaml_kind::null) continue;
      if (is_wrapped && probe == "livenessProbe") continue;
      out_.taken.emplace_back(probe);
      // Its time is part of the delay of the one that is wrapped.
      if (!is_wrapped) (url_of(main, *value) ? asked : dropped).emplace_back(probe);
    }
    take_over_probes(main, asked);
    if (!dropped.empty()) {
      out_.notes.push_back(
          {at(*member_of(main, dropped[0])),
           listed(dropped) +
               " of the main container would fail on a standby, where the command does not run, "
               "and is taken out; the agent cannot ask the same",
           is_checked() ? "the settings --health-* are yours"
                        : "let it check the workload while it is active: --health-http "
                          "http://127.0.0.1:PORT/PATH, or another way of docs/health.md"});
    }
    const yaml_node* const hooks = member_of(main, "lifecycle");
    if (hooks != nullptr && member_of(*hooks, "postStart") != nullptr) {
      refuse(*hooks, "postStart would run when the container starts, on a standby too",
             "do what it does in the command");
    }
    check_readiness(main);
  }

  void check_readiness(const yaml_node& main) {
    const yaml_node* const ready = member_of(main, "readinessProbe");
    if (ready == nullptr || ready->kind == yaml_kind::null ||
        !waits_for_two(of_.kind, node_at(*in_.root, of_.item))) {
      return;
    }
    const bool is_wrapped = wrap(main, "readinessProbe");
    if (!is_wrapped) out_.taken.emplace_back("readinessProbe");
    out_.notes.push_back(
        {at(*ready),
         "a standby, where the command does not run, is not Ready by this readinessProbe, and a "
         "roll-out would wait for it for ever: " +
             std::string(is_wrapped ? "it is asked on the active pod only" : "it is taken out") +
             ", and a Service that selects these pods leads to standbys, too",
         "have the Service find the active pod: --traffic endpoints or label (docs/traffic.md)" +
             std::string(of_.kind == "Deployment"
                             ? "; or set strategy to {type: Recreate}, and the probe stays"
                             : "")});
  }

  /// How long after its start a command that a startupProbe waits for may fail its livenessProbe.
  std::uint32_t delay_of(const yaml_node& main) {
    const yaml_node* const liveness = member_of(main, "livenessProbe");
    const yaml_node* const startup = member_of(main, "startupProbe");
    std::uint32_t out = number_of(liveness, "initialDelaySeconds").value_or(0);
    if (startup != nullptr && startup->kind != yaml_kind::null) {
      out += number_of(startup, "initialDelaySeconds").value_or(0) +
             number_of(startup, "periodSeconds").value_or(usual_period) *
                 number_of(startup, "failureThreshold").value_or(usual_failures);
    }
    return out;
  }

  /// False if this is not a program, or cannot be wrapped: the guard is not process 1 where the
  /// pod's processes are shared.
  bool wrap(const yaml_node& main, std::string_view probe) {
    const yaml_node* const value = member_of(main, probe);
    const yaml_node* const exec = value == nullptr ? nullptr : member_of(*value, "exec");
    const yaml_node* const command = exec == nullptr ? nullptr : member_of(*exec, "command");
    if (command == nullptr || command->items.empty() || value->is_aliased || exec->is_aliased ||
        command->is_aliased || is_true(pod_, "shareProcessNamespace")) {
      return false;
    }
    wrapped_probe out{.exec = out_.container};
    out.exec.push_back(place_of(main, probe));
    out.exec.push_back(place_of(*value, "exec"));
    out.words = {"/tenure-bin/tenure", "guard", "--probe"};
    const std::uint32_t delay = probe == "livenessProbe" ? delay_of(main) : 0;
    if (delay != 0) out.words.push_back("--delay=" + std::to_string(delay) + "s");
    out.words.emplace_back("--");
    out_.wrapped.push_back(std::move(out));
    return true;
  }

  static std::string listed(const std::vector<std::string>& all) {
    std::string out;
    for (const std::string& one : all) out += (out.empty() ? "" : " and ") + one;
    return out;
  }

  [[nodiscard]] bool is_checked() const {
    return std::ranges::any_of(what_.settings,
                               [](const std::string& one) { return one.starts_with("--health-"); });
  }

  /// The agent asks while the command runs, as often as the kubelet would have, and gives the lease
  /// up where the kubelet would have started the container again.
  void take_over_probes(const yaml_node& main, const std::vector<std::string>& probes) {
    if (probes.empty()) return;
    const bool is_live = probes[0] == "livenessProbe";
    const yaml_node& asked = *member_of(main, probes[0]);
    if (!is_checked()) {
      const auto period = std::max(1U, number_of(&asked, "periodSeconds").value_or(usual_period));
      const std::uint32_t delay =
          is_live ? delay_of(main) : number_of(&asked, "initialDelaySeconds").value_or(0);
      const auto add = [this](const std::string& name, const std::string& value) {
        out_.facts.settings.push_back("--health-" + name + "=" + value);
      };
      add("http", *url_of(main, asked));
      add("interval", std::to_string(period) + "s");
      add("timeout",
          std::to_string(std::clamp(number_of(&asked, "timeoutSeconds").value_or(1), 1U, period)) +
              "s");
      add("failures",
          std::to_string(std::clamp(number_of(&asked, "failureThreshold").value_or(usual_failures),
                                    1U, 100U)));
      add("delay", std::to_string(delay) + "s");
    }
    out_.notes.push_back({at(asked),
                          listed(probes) +
                              " of the main container would fail on a standby: the agent asks "
                              "instead, at 127.0.0.1 and while the command runs, and gives the "
                              "lease up if it fails",
                          is_checked() ? "the settings --health-* are yours"
                                       : "other checks are in docs/health.md"});
  }

  /// The label by which agents find the pods of their election.
  void check_traffic() {
    if (!what_.needs.labels && !what_.needs.conditions) return;
    node_path path(of_.pod.begin(), of_.pod.end() - 1);
    const yaml_node& object = node_at(*in_.root, path);
    const std::size_t place = place_of(object, "metadata");
    const yaml_node* const meta = member_of(object, "metadata");
    const yaml_node* const labels = meta == nullptr ? nullptr : member_of(*meta, "labels");
    if (labels == nullptr || labels->kind != yaml_kind::mapping || labels->members.empty()) {
      refuse(object, "--traffic needs a label on the pods, and they have no labels",
             "give them one in metadata.labels");
      return;
    }
    const std::string given = text_of(*labels, election_label);
    if (!given.empty() && given != what_.election) {
      refuse(*labels,
             "the pods have the label " + std::string(election_label) + ": " + quote(given) +
                 ", and the election is " + quote(what_.election),
             "leave the label out");
    }
    if (given.empty()) {
      path.push_back(place);
      out_.labelled = std::move(path);
    }
    if (what_.needs.conditions) check_gate();
  }

  void check_gate() {
    const yaml_node* const gates = member_of(pod_, "readinessGates");
    if (gates != nullptr) {
      check_list(*gates, "readinessGates", true);
      for (const auto& one : gates->items) {
        if (text_of(*one, "conditionType") == active_gate) return;
      }
    }
    out_.gets_gate = true;
    if (!waits_for_two(of_.kind, node_at(*in_.root, of_.item))) return;
    refuse(
        pod_, "with --traffic gate a standby is not Ready, and a roll-out waits for it for ever",
        "take another way (docs/traffic.md says how a Service finds the active pod)" +
            std::string(of_.kind == "Deployment" ? ", or set strategy to {type: Recreate}" : ""));
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
      if (is_true(pod_, "shareProcessNamespace")) {
        refuse(*member_of(pod_, "shareProcessNamespace"),
               "with shareProcessNamespace a workload can outlive its guard, and only an agent of "
               "its user can kill it then; the user that the main container runs as is not known "
               "here",
               "leave it out, or set securityContext.runAsUser, or give the user of its image: "
               "--run-as UID (0 for root)");
      }
      out_.facts.user_is_unknown = true;
      return;
    }
    out_.facts.is_root = *user == 0;
    const bool own_says = own != nullptr && member_of(*own, "runAsNonRoot") != nullptr;
    const yaml_node* const who_says = own_says ? own : all;
    if (*user == 0 && who_says != nullptr && is_true(*who_says, "runAsNonRoot")) {
      refuse(*who_says, "user 0 is root, which runAsNonRoot forbids",
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
  std::set<std::uint32_t> taken_ports_;
  pod_report out_;
};

}  // namespace

pod_report examine(const std::string& file_name, const document& in, const workload& of,
                   const sidecar& what, const pod_choices& choices) {
  return examiner(file_name, in, of, what, choices).examine();
}

}  // namespace tenure::manifest
