#include <algorithm>
#include <array>
#include <set>
#include <string>
#include <string_view>

#include "config/provenance.hpp"
#include "settings/kubernetes_names.hpp"
#include "settings/listen_address.hpp"

namespace tenure::config {
namespace {

using settings::traffic;

constexpr std::size_t most_slices = 2;
constexpr std::size_t most_addresses = 8;

constexpr const char* downward = "give it from the downward API (fieldRef), as k8s/ does";

bool is_object_name(std::string_view text) {
  return text.size() <= max_name_bytes && settings::is_object_name(text);
}

/// What a label may have as its value. Precondition: it is the name of an election.
bool is_label_value(std::string_view election) {
  const char last = election.back();
  const bool ends_well = last != '.' && last != '-' && last != '_';
  return election.size() <= settings::max_lease_name_bytes && !election.contains('/') && ends_well;
}

/// Lives for one call of `check_kubernetes`.
class kubernetes_check {
 public:
  kubernetes_check(configuration& s, const inputs& in, provenance& known)
      : s_(s), its_(s.kubernetes), in_(in), known_(known) {}

  void run() {
    take_pod();
    check_names();
    if (!its_.writes_traffic()) {
      if (known_.is_given(setting::traffic_slice)) refuse_slices();
    } else {
      check_traffic();
    }
    if (its_.has_witness()) check_witness();
    if (!its_.is_used() || is_read_elsewhere()) return;
    if (!its_.cluster) return refuse_outside_of_a_pod();
    need(setting::pod_name, its_.pod_name);
    need(setting::pod_namespace, its_.pod_namespace);
  }

 private:
  /// A file that is checked by itself may be for another machine.
  [[nodiscard]] bool is_read_elsewhere() const {
    return in_.file_alone || in_.partial || in_.for_elsewhere;
  }

  void take_pod() {
    if (!in_.in_pod) return;
    const pod& here = *in_.in_pod;
    its_.cluster = settings::pod_cluster{
        .endpoint = here.endpoint, .ca_file = here.ca_file(), .token_file = here.token_file()};
    if (its_.pod_name.empty()) its_.pod_name = here.host_name;
    if (its_.pod_namespace.empty()) its_.pod_namespace = here.name_space;
    const bool here_only = s_.endpoints.size() == 1 && s_.endpoints.front() == here.endpoint;
    its_.has_leases = s_.store == "kubernetes" && here_only;
  }

  void need(setting which, const std::string& what) {
    if (what.empty() && known_.is_missing(which)) known_.reject_missing(which, downward);
  }

  void check_names() {
    const std::array<std::pair<setting, const std::string&>, 3> names{
        {{setting::pod_name, its_.pod_name},
         {setting::pod_namespace, its_.pod_namespace},
         {setting::pod_node, its_.pod_node}}};
    for (const auto& [which, name] : names) {
      if (name.empty() || is_object_name(name)) continue;
      // The host name of another machine is not used.
      if (!known_.is_given(which) && !its_.is_used()) continue;
      known_.reject(which, key_of(which) + " " + quote(name) + " is not a name in Kubernetes",
                    downward);
    }
    check_addresses();
  }

  void check_addresses() {
    constexpr setting which = setting::pod_address;
    if (its_.pod_addresses.size() > most_addresses) {
      known_.reject(which,
                    "pod_address has " + std::to_string(its_.pod_addresses.size()) + " values",
                    "give no more than " + std::to_string(most_addresses));
    }
    for (const std::string& one : its_.pod_addresses) {
      if (settings::is_ip_literal(one)) continue;
      known_.reject(which, "pod_address " + quote(one) + " is not an IP address", downward);
    }
  }

  [[nodiscard]] std::string way() const {
    return "traffic is " +
           std::string(field_of(setting::traffic).words[static_cast<std::size_t>(its_.traffic)]);
  }

  void refuse(const std::string& why, std::string suggestion) {
    known_.reject(setting::traffic, way() + ", and " + why, std::move(suggestion));
  }

  /// What is not in the guard's container may outlive it.
  void check_witness() {
    const std::string here = known_.written(setting::witness, "none");
    if (s_.observe) {
      refuse_witness("observe is true: an observer never holds", "remove one of them");
    }
    if (s_.target.given()) {
      refuse_witness("the workload is started by somebody else: it is not in the guard's container",
                     "give " + here + ", or let the guard start it");
    } else if (s_.hooks.any()) {
      refuse_witness("hooks are given: what they start is not in the guard's container",
                     "give " + here + ", or let the guard start the workload without them");
    }
    if (!its_.pod_name.empty() && s_.identity != its_.pod_name && !is_read_elsewhere()) {
      refuse_witness("identity is " + quote(s_.identity) + ", not " + quote(its_.pod_name) +
                         ", the name of the pod: a holder's pod is found by its identity",
                     "remove identity, or give the name of the pod");
    }
  }

  void refuse_witness(const std::string& why, std::string suggestion) {
    known_.reject(setting::witness, "witness is kubelet, and " + why, std::move(suggestion));
  }

  void refuse_outside_of_a_pod() {
    const setting which = its_.writes_traffic() ? setting::traffic
                          : its_.events         ? setting::events
                                                : setting::witness;
    known_.reject(which,
                  (its_.writes_traffic() ? way()
                   : its_.events         ? std::string("events is true")
                                         : std::string("witness is kubelet")) +
                      ", and this is not a pod with a token for its API server",
                  "remove it, or let the pod have the token of its ServiceAccount "
                  "(automountServiceAccountToken)");
  }

  void refuse_slices() {
    known_.reject(setting::traffic_slice, "traffic_slice is given, and " + way(),
                  "give " + known_.written(setting::traffic, "endpoints") + ", or remove it");
  }

  void check_traffic() {
    if (s_.observe) refuse("observe is true: an observer is never active", "remove one of them");
    check_election();
    if (its_.traffic == traffic::endpoints) return check_slices();
    if (known_.is_given(setting::traffic_slice)) refuse_slices();
    if (s_.elections.size() == 1 && !is_label_value(s_.elections.front().name)) {
      refuse("election " + quote(s_.elections.front().name) +
                 " cannot be the value of a label, by which its pods are found",
             "give the election a name of up to 63 letters, digits, '-', '_' and '.', that ends "
             "with a letter or a digit");
    }
  }

  void check_election() {
    if (s_.elections.size() > 1) {
      refuse("there are " + std::to_string(s_.elections.size()) +
                 " elections: a pod is shown as active for one",
             "give one election to this agent");
    } else if (s_.elections.size() == 1 && s_.elections.front().slots > 1) {
      refuse("slots is " + std::to_string(s_.elections.front().slots) +
                 ": one pod is shown as active, not several",
             "give " + known_.written(setting::slots, "1") + ", or " +
                 known_.written(setting::traffic, "probe"));
    }
  }

  void check_slices() {
    if (its_.slices.empty() && s_.elections.size() == 1) {
      its_.slices = {s_.elections.front().name};
    }
    if (its_.slices.size() > most_slices) {
      known_.reject(setting::traffic_slice,
                    "traffic_slice has " + std::to_string(its_.slices.size()) + " values",
                    "give one name for each address family of the Service");
    }
    std::set<std::string_view> seen;
    for (const std::string& one : its_.slices) {
      if (!is_object_name(one)) refuse_slice_name(one);
      if (!seen.insert(one).second) {
        known_.reject(setting::traffic_slice, "traffic_slice " + quote(one) + " is given twice",
                      "remove one");
      }
    }
    if (its_.pod_addresses.empty() && known_.is_missing(setting::pod_address) &&
        !is_read_elsewhere()) {
      known_.reject_missing(setting::pod_address,
                            "give it from the downward API: the variable " +
                                std::string(field_of(setting::pod_address).environment) +
                                " with fieldPath status.podIPs");
    }
  }

  void refuse_slice_name(const std::string& name) {
    if (known_.is_given(setting::traffic_slice)) {
      known_.reject(setting::traffic_slice,
                    "traffic_slice " + quote(name) + " is not a name in Kubernetes",
                    "give small letters, digits, '-' and '.'");
    } else {
      refuse("no EndpointSlice can be called " + quote(name) + ", as the election is",
             "give " + known_.written(setting::traffic_slice, "NAME"));
    }
  }

  configuration& s_;
  settings::kubernetes& its_;
  const inputs& in_;
  provenance& known_;
};

}  // namespace

void check_kubernetes(configuration& s, const inputs& in, provenance& known) {
  kubernetes_check(s, in, known).run();
}

}  // namespace tenure::config
