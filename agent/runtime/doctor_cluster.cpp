#include <algorithm>
#include <memory>
#include <string_view>
#include <utility>

#include "http/client/http_network.hpp"
#include "kube/codec.hpp"
#include "runtime/doctor_examination.hpp"
#include "runtime/kubernetes_api.hpp"

namespace tenure::runtime {
namespace {

using kube::api_failure;
using kube::api_refusal;
using kube::api_reply;

constexpr const char* of_pod = "the ServiceAccount of this pod";
constexpr const char* of_settings = "the user of these settings";

class cluster_examination {
 public:
  explicit cluster_examination(examination& with) : with_(with) {}

  void run() {
    look_at_rights();
    look_at_slices();
    look_at_pod();
  }

 private:
  [[nodiscard]] std::unique_ptr<kube::api_server> api_of_leases();
  [[nodiscard]] std::unique_ptr<kube::api_server> api_of_pod();
  api_reply ask(kube::api_server& whom, kube::api_request what) {
    return with_.outcome_of<api_reply>([&](auto done) {
      whom.call(std::move(what), with_.loop.now() + doctor_patience, std::move(done));
    });
  }
  [[nodiscard]] std::vector<kube::right> lease_rights() const;
  void look_at_rights();
  void check_rights(kube::api_server& whom, const std::string& who,
                    const std::vector<kube::right>& all);
  void look_at_slices();
  kube::traffic_reply slices(kube::api_server& whom, const kube::traffic_request& what);
  void look_at_pod();
  void look_at_roll_outs(kube::api_server& whom, const kube::pod_view& pod);
  std::expected<std::optional<kube::workload_view>, api_failure> workload_of(
      kube::api_server& whom, const kube::pod_view& pod);
  [[nodiscard]] std::string pod_namespace() const {
    const std::string& own = with_.of.kubernetes.pod_namespace;
    return own.empty() ? lease_namespace() : own;
  }
  [[nodiscard]] std::string lease_namespace() const {
    return with_.of.name_space.empty() ? "default" : with_.of.name_space;
  }
  [[nodiscard]] bool is_in_pod() const { return with_.of.kubernetes.cluster.has_value(); }

  examination& with_;
};

/// Null if the leases are not in Kubernetes, or if it does not answer.
std::unique_ptr<kube::api_server> cluster_examination::api_of_leases() {
  if (with_.of.store != "kubernetes") return nullptr;
  auto made = make_kubernetes_api(with_.loop, http::over_network(with_.io.get_executor()),
                                  with_.of.endpoints, with_.of.secure);
  return made ? std::move(*made) : nullptr;
}

/// The cluster in which the pod runs. Elsewhere, the pod is in the cluster that has the leases.
std::unique_ptr<kube::api_server> cluster_examination::api_of_pod() {
  if (!is_in_pod()) return api_of_leases();
  auto made = make_kubernetes_api(with_.loop, http::over_network(with_.io.get_executor()),
                                  *with_.of.kubernetes.cluster);
  return made ? std::move(*made) : nullptr;
}

std::vector<kube::right> cluster_examination::lease_rights() const {
  std::vector<kube::right> out;
  const auto need = [&](std::string_view verb, std::string name) {
    out.push_back({.verb = verb,
                   .group = "coordination.k8s.io",
                   .resource = "leases",
                   .name_space = lease_namespace(),
                   .name = std::move(name)});
  };
  const std::string& lease = with_.of.elections.front().name;
  for (const std::string_view verb : {"get", "list", "watch"}) need(verb, lease);
  if (!with_.of.observe) need("patch", lease);
  // A user who makes the Leases beforehand leaves these out, and is in no list of members.
  if (!with_.of.observe && !with_.of.unlisted) {
    for (const std::string_view verb : {"create", "delete"}) need(verb, "");
  }
  return out;
}

void cluster_examination::look_at_rights() {
  if (const auto leases = api_of_leases()) {
    check_rights(*leases, with_.of.kubernetes.has_leases ? of_pod : of_settings, lease_rights());
  }
  if (!with_.of.kubernetes.is_used()) return;
  if (!is_in_pod()) {
    return with_.add("rights", verdict::skip,
                     "those for traffic and events are rights of the pod's ServiceAccount",
                     "run this in the pod");
  }
  if (const auto cluster = api_of_pod()) {
    check_rights(*cluster, of_pod, kube::rights_for(with_.of.kubernetes, with_.of.name_space));
  }
}

void cluster_examination::check_rights(kube::api_server& whom, const std::string& who,
                                       const std::vector<kube::right>& all) {
  bool has_all = true;
  for (const kube::right& one : all) {
    const api_reply reply = ask(whom, kube::review_of(one));
    const auto has_it = reply ? kube::read_review(*reply) : std::nullopt;
    if (!has_it) {
      return with_.add("rights", verdict::skip,
                       "the API server does not say what we may do" +
                           (reply ? std::string() : ": " + reply.error().why));
    }
    has_all = has_all && *has_it;
    if (!*has_it) with_.out.push_back(right_finding(one));
  }
  if (!has_all) return;
  with_.add("rights", verdict::ok, who + " may " + kube::text(all));
}

kube::traffic_reply cluster_examination::slices(kube::api_server& whom,
                                                const kube::traffic_request& what) {
  const kube::traffic_terms terms{.its = with_.of.kubernetes,
                                  .election = with_.of.elections.front().name};
  api_reply reply = ask(whom, kube::request_for(what, terms, 0));
  if (!reply) return std::unexpected(std::move(reply.error()));
  auto read = kube::read_reply(what, *reply, terms);
  if (!read) return std::unexpected(api_failure{.why = read.error()});
  return std::move(*read);
}

/// Where do the clients of the Service go?
void cluster_examination::look_at_slices() {
  using kind = kube::traffic_request::kind;
  const settings::kubernetes& its = with_.of.kubernetes;
  if (its.traffic != settings::traffic::endpoints || !is_in_pod()) return;
  const auto cluster = api_of_pod();
  if (!cluster) return;
  std::vector<kube::marked_object> others;
  for (const std::string& name : its.slices) {
    const auto ours = slices(*cluster, {.what = kind::read, .object = name});
    const auto all =
        ours ? slices(*cluster, {.what = kind::list, .object = ours->front().service}) : ours;
    if (!all) {
      return with_.add("traffic", verdict::skip,
                       "where the Service of EndpointSlice " + name +
                           " leads its clients is not known: " + all.error().why);
    }
    if (const std::string& flaw = ours->front().flaw; !flaw.empty()) {
      return with_.add("traffic", verdict::bad, flaw);
    }
    for (const kube::marked_object& one : kube::slices_of_others(*all, its.slices)) {
      if (std::ranges::find(others, one) == others.end()) others.push_back(one);
    }
  }
  with_.add(slice_findings(its, others));
}

/// What only the spec of the pod tells.
constexpr const char* pod_checks =
    "grace period, volumes and roll-outs are not checked: the pod cannot be read: ";

std::string why_not_read(const api_failure& what, const kube::right& needs) {
  if (what.what != api_refusal::forbidden) return what.why;
  return "that needs the right to " + kube::text(needs) + ": " + kube::rule_for(needs);
}

void cluster_examination::look_at_pod() {
  const std::string& name = with_.of.kubernetes.pod_name;
  if (name.empty()) {
    const bool may_be_named = with_.of.store == "kubernetes";
    return with_.add(
        "pod", verdict::skip, "this is not a pod, and no pod is named",
        may_be_named ? "give --pod-name and --pod-namespace, or run this in the pod" : "");
  }
  const auto cluster = api_of_pod();
  if (!cluster) {
    return with_.add("pod", verdict::skip, "its cluster is not known here", "run this in the pod");
  }
  const api_reply reply = ask(*cluster, kube::pod_request(pod_namespace(), name));
  if (!reply) {
    const kube::right get{
        .verb = "get", .group = "", .resource = "pods", .name_space = pod_namespace()};
    return with_.add("pod", verdict::skip, pod_checks + why_not_read(reply.error(), get));
  }
  const auto pod = kube::read_pod(*reply, name);
  if (!pod) return with_.add("pod", verdict::skip, pod_checks + pod.error());
  with_.add(pod_findings(with_.of, *pod));
  if (only_active_is_ready(*pod)) {
    look_at_roll_outs(*cluster, *pod);
  } else {
    with_.add("roll-out", verdict::ok, "a standby is Ready, too, so every roll-out ends");
  }
}

void cluster_examination::look_at_roll_outs(kube::api_server& whom, const kube::pod_view& pod) {
  const auto workload = workload_of(whom, pod);
  if (workload) {
    with_.out.push_back(roll_out_finding(*workload));
  } else {
    with_.add("roll-out", verdict::skip,
              "only the active pod is Ready, and how it is rolled out is not known: " +
                  workload.error().why);
  }
}

/// The pod's owner, or that one's: a ReplicaSet is of a Deployment.
std::expected<std::optional<kube::workload_view>, api_failure> cluster_examination::workload_of(
    kube::api_server& whom, const kube::pod_view& pod) {
  std::optional<kube::workload_view> out;
  std::optional<kube::owner> next = pod.made_by;
  while (next) {
    const std::string_view resource = kube::resource_of(next->kind);
    if (resource.empty()) {
      return std::unexpected(api_failure{.why = "it is of a " + next->kind + ", " + next->name});
    }
    const api_reply reply = ask(whom, kube::owner_request(pod_namespace(), *next));
    if (!reply) {
      const kube::right get{
          .verb = "get", .group = "apps", .resource = resource, .name_space = pod_namespace()};
      return std::unexpected(api_failure{.why = why_not_read(reply.error(), get)});
    }
    auto read = kube::read_owner(*reply, *next);
    if (!read) return std::unexpected(api_failure{.why = read.error()});
    next = read->kind == "ReplicaSet" ? read->made_by : std::nullopt;
    out = std::move(*read);
  }
  return out;
}

}  // namespace

void examine_cluster(examination& in) {
  cluster_examination(in).run();
}

}  // namespace tenure::runtime
