// A real API server, and ServiceAccounts that may do exactly what the settings need.

#include <nlohmann/json.hpp>

#include "kube/codec.hpp"
#include "kube/right.hpp"
#include "servers/kubernetes_scene.hpp"
#include "traffic_scene.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using servers::etcd_releases;
using servers::kubernetes_reply;
using servers::kubernetes_rights;
using servers::kubernetes_user;
using settings::traffic;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string pods = "/api/v1/namespaces/default/pods";
const std::string slices = "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices";
const std::string events = "/apis/events.k8s.io/v1/namespaces/default/events";

class RealTraffic : public servers::KubernetesScene {
 protected:
  void SetUp() override {
    KubernetesScene::SetUp();
    if (IsSkipped()) return;
    // No controller makes it, and each pod needs it.
    call("POST", "/api/v1/namespaces/default/serviceaccounts",
         {{"apiVersion", "v1"}, {"kind", "ServiceAccount"}, {"metadata", {{"name", "default"}}}});
  }

  /// The name of pod `number` of this test's election.
  [[nodiscard]] std::string pod(int number) const { return name_ + "-" + std::to_string(number); }

  void put_pod(int number, const json& labels) {
    const kubernetes_reply made =
        call("POST", pods,
             {{"apiVersion", "v1"},
              {"kind", "Pod"},
              {"metadata", {{"name", pod(number)}, {"labels", labels}}},
              {"spec",
               {{"readinessGates", {{{"conditionType", "tenure.dev/active"}}}},
                {"containers", {{{"name", "main"}, {"image", "none"}}}}}}});
    ASSERT_EQ(made.status, 201) << testing::PrintToString(made);
  }
  void put_slice(const std::string& name, const std::string& type) {
    const kubernetes_reply made =
        call("POST", slices,
             {{"apiVersion", "discovery.k8s.io/v1"},
              {"kind", "EndpointSlice"},
              {"metadata", {{"name", name}, {"labels", {{"kubernetes.io/service-name", name_}}}}},
              {"addressType", type},
              {"ports", {{{"name", "main"}, {"port", 5432}}}}});
    ASSERT_EQ(made.status, 201) << testing::PrintToString(made);
  }
  kubernetes_reply read_pod(int number) { return call("GET", pods + "/" + pod(number)); }
  std::string label_of(int number) {
    const json labels = read_pod(number).at("/metadata/labels");
    return labels.is_object() ? labels.value("tenure.dev/role", "") : "";
  }
  std::string condition_of(int number, const std::string& type = "tenure.dev/active") {
    for (const json& one : read_pod(number).at("/status/conditions")) {
      if (one["type"] == type) return one["status"];
    }
    return "";
  }
  std::string endpoints_of(const std::string& slice) {
    const json all = call("GET", slices + "/" + slice).at("/endpoints");
    std::string out;
    for (const json& one : all.is_array() ? all : json::array()) {
      out += (out.empty() ? "" : " ") + one["targetRef"]["name"].get<std::string>() + ":" +
             one["addresses"][0].get<std::string>();
    }
    return out;
  }

  [[nodiscard]] settings::agent settings(int number, traffic way) const {
    settings::agent out = pod_settings(
        pod(number), way,
        {.endpoint = server_->endpoint(), .ca_file = server_->ca_file(), .token_file = {}},
        "default");
    out.elections.front().name = name_;
    if (way == traffic::endpoints) out.kubernetes.slices = {name_};
    return out;
  }

  /// A ServiceAccount that may do what these settings need, and nothing else but for `less`.
  kubernetes_user user_for(const settings::agent& with, const std::string& less = {}) {
    static int made = 0;
    const kubernetes_user out =
        server_->add_user("pod-" + std::to_string(++made), {.verbs = {}}, "default");
    std::map<std::string, kubernetes_rights> all;
    for (const kube::right& one : kube::rights_for(with.kubernetes, "default")) {
      std::string resource(one.resource);
      if (!one.sub_resource.empty()) resource.append("/").append(one.sub_resource);
      // Of each resource one rule is given here, which names the slice. What the list is for is
      // tried with the operator's rights.
      if (one.resource == "endpointslices" && one.verb == "list") continue;
      kubernetes_rights& to = all[resource];
      if (to.resource != resource) to = {.verbs = {}, .resource = resource};
      to.group = one.group;
      if (!one.name.empty()) to.names = {one.name};
      if (one.verb != less) to.verbs.emplace_back(one.verb);
    }
    for (const auto& [resource, rights] : all) server_->allow(out, rights);
    return out;
  }

  std::unique_ptr<announcing_pod> join(settings::agent with, const std::string& less = {}) {
    with.kubernetes.cluster->token_file = user_for(with, less).token_file;
    return std::make_unique<announcing_pod>(loop_, std::move(with));
  }
  std::unique_ptr<announcing_pod> join(int number, traffic way) {
    return join(settings(number, way));
  }

  loop loop_;
};

INSTANTIATE_TEST_SUITE_P(OverEtcd, RealTraffic, testing::Values(etcd_releases().front()),
                         [](const auto& info) { return info.param.name; });

TEST_P(RealTraffic, ALabelMovesToTheNextHolder) {
  put_pod(0, {{"app", "db"}});
  put_pod(1, {{"app", "db"}});
  auto a = join(0, traffic::label);
  auto b = join(1, traffic::label);
  a->show(standby());
  b->show(standby());
  EXPECT_EQ(label_of(0) + " " + label_of(1), "standby standby");
  a->show(active(7));
  EXPECT_EQ(label_of(0) + " " + label_of(1), "active standby");
  b->show(active(9));
  EXPECT_EQ(label_of(0) + " " + label_of(1), "standby active");
  const json metadata = read_pod(0).at("/metadata");
  EXPECT_EQ(metadata["annotations"]["tenure.dev/version"], "9");
  EXPECT_EQ(metadata["labels"]["app"], "db");
  EXPECT_EQ(metadata["labels"]["tenure.dev/election"], name_);
  EXPECT_EQ(metadata["managedFields"].back()["manager"], "tenure");
  a->show(standby());
  EXPECT_EQ(label_of(1), "active");
  b->show(standby());
  EXPECT_EQ(label_of(1), "standby");
  EXPECT_EQ(a->failures() + b->failures(), 0) << a->said() << b->said();
}

TEST_P(RealTraffic, AConditionMovesToTheNextHolder) {
  put_pod(0, {{"tenure.dev/election", name_}});
  put_pod(1, {{"tenure.dev/election", name_}});
  auto a = join(0, traffic::gate);
  auto b = join(1, traffic::gate);
  a->show(standby());
  EXPECT_EQ(condition_of(0), "False");
  const std::string before = read_pod(0).at("/status/conditions/0/lastTransitionTime");
  a->show(active(7));
  EXPECT_EQ(condition_of(0), "True");
  // As its kubelet, which dies then.
  call("PATCH", pods + "/" + pod(0) + "/status",
       {{"status", {{"conditions", {{{"type", "Ready"}, {"status", "True"}}}}}}},
       {.content_type = "application/strategic-merge-patch+json"});
  b->show(active(9));
  EXPECT_EQ(condition_of(0), "False");
  EXPECT_EQ(condition_of(0, "Ready"), "False");
  EXPECT_EQ(condition_of(1), "True");
  EXPECT_EQ(a->failures() + b->failures(), 0) << a->said() << b->said();
}

TEST_P(RealTraffic, ASliceMovesToTheNextHolder) {
  put_slice(name_, "IPv4");
  auto a = join(0, traffic::endpoints);
  auto b = join(1, traffic::endpoints);
  a->show(standby());
  a->show(active(7));
  EXPECT_EQ(endpoints_of(name_), pod(0) + ":10.0.0.0");
  b->show(active(9));
  EXPECT_EQ(endpoints_of(name_), pod(1) + ":10.0.0.1");
  EXPECT_EQ(call("GET", slices + "/" + name_).at("/ports/0/port"), 5432);
  a->show(standby());
  EXPECT_EQ(endpoints_of(name_), pod(1) + ":10.0.0.1");
  b->show(standby());
  EXPECT_EQ(endpoints_of(name_), "");
  EXPECT_EQ(a->failures() + b->failures(), 0) << a->said() << b->said();
}

TEST_P(RealTraffic, BothAddressFamiliesMove) {
  const auto two = [this](int number) {
    settings::agent out = settings(number, traffic::endpoints);
    out.kubernetes.slices = {name_ + "-v4", name_ + "-v6"};
    out.kubernetes.pod_addresses.push_back("fd00::" + std::to_string(number + 1));
    out.kubernetes.cluster->token_file = server_->operator_user().token_file;
    return out;
  };
  put_slice(name_ + "-v4", "IPv4");
  put_slice(name_ + "-v6", "IPv6");
  announcing_pod a(loop_, two(0));
  announcing_pod b(loop_, two(1));
  a.show(active(7));
  EXPECT_EQ(endpoints_of(name_ + "-v4"), pod(0) + ":10.0.0.0");
  EXPECT_EQ(endpoints_of(name_ + "-v6"), pod(0) + ":fd00::1");
  b.show(active(9));
  EXPECT_EQ(endpoints_of(name_ + "-v4"), pod(1) + ":10.0.0.1");
  EXPECT_EQ(endpoints_of(name_ + "-v6"), pod(1) + ":fd00::2");
  EXPECT_EQ(a.failures() + b.failures(), 0) << a.said() << b.said();
}

TEST_P(RealTraffic, SlicesOfOthersThatLeadElsewhereAreSaid) {
  put_slice(name_, "IPv4");
  put_slice(name_ + "-empty", "IPv4");
  put_slice(name_ + "-x7k2p", "IPv4");
  call("PATCH", slices + "/" + name_ + "-x7k2p",
       {{"metadata",
         {{"labels",
           {{"endpointslice.kubernetes.io/managed-by", "endpointslice-controller.k8s.io"}}}}},
        {"endpoints", {{{"addresses", {"10.0.0.99"}}}}}},
       servers::merge_patch);
  settings::agent with = settings(0, traffic::endpoints);
  with.kubernetes.cluster->token_file = server_->operator_user().token_file;
  announcing_pod a(loop_, with);
  a.show(active(7));
  ASSERT_TRUE(loop_.run_until([&] { return a.lines_with("level=error") > 0; })) << a.said();
  EXPECT_THAT(a.said(), HasSubstr("EndpointSlice " + name_ +
                                  "-x7k2p (endpointslice-controller.k8s.io) leads clients of "
                                  "Service " +
                                  name_ + " to 10.0.0.99, and not to the active pod alone"));
  EXPECT_EQ(a.lines_with("level=error"), 1);
  EXPECT_EQ(endpoints_of(name_), pod(0) + ":10.0.0.0") << "ours is served all the same";
}

TEST_P(RealTraffic, APodThatWasMadeAgainUnderItsNameIsAnother) {
  put_pod(0, {{"tenure.dev/election", name_}});
  put_pod(1, {{"tenure.dev/election", name_}});
  auto a = join(0, traffic::label);
  a->show(active(7));
  call("DELETE", pods + "/" + pod(0), {{"gracePeriodSeconds", 0}});
  put_pod(0, {{"tenure.dev/election", name_}});
  EXPECT_EQ(label_of(0), "") << "a dead pod's label is not inherited";
  auto again = join(0, traffic::label);
  again->show(active(9));
  EXPECT_EQ(label_of(0), "active");
}

TEST_P(RealTraffic, AStartNamesWhatTheServiceAccountMayNotDo) {
  put_pod(0, {{"tenure.dev/election", name_}});
  auto a = join(settings(0, traffic::gate), "patch");
  a->operator->()->begin();
  ASSERT_TRUE(loop_.run_until([&] { return a->lines_with("level=error") >= 2; })) << a->said();
  EXPECT_THAT(
      a->said(),
      AllOf(HasSubstr("the ServiceAccount of this pod may not patch pods/status in namespace "
                      "default, so traffic will not find the active pod; add to its Role: "),
            HasSubstr("cannot patch resource"), HasSubstr("pods/status"),
            Not(HasSubstr("leases"))));
  EXPECT_EQ(a->lines_with("may not"), 1);
}

TEST_P(RealTraffic, ARightThatComesLaterIsUsedWithoutAnotherStart) {
  put_slice(name_, "IPv4");
  settings::agent with = settings(0, traffic::endpoints);
  const kubernetes_user user = user_for(with, "patch");
  with.kubernetes.cluster->token_file = user.token_file;
  announcing_pod a(loop_, with);
  a.want(active(7));
  ASSERT_TRUE(loop_.run_until([&] { return a.failures() > 0; }));
  EXPECT_THAT(a.said(), HasSubstr("add to the Role of its ServiceAccount: {apiGroups: "
                                  "[discovery.k8s.io], resources: [endpointslices], "
                                  "resourceNames: [" +
                                  name_ + "], verbs: [patch]}"));
  server_->allow(user, {.verbs = {"get", "patch"},
                        .group = "discovery.k8s.io",
                        .resource = "endpointslices",
                        .names = {name_}});
  EXPECT_TRUE(loop_.run_until([&] { return a.is_named(); })) << a.said();
  EXPECT_EQ(endpoints_of(name_), pod(0) + ":10.0.0.0");
}

TEST_P(RealTraffic, EventsAreOnThePodAndOnTheLease) {
  const kubernetes_reply lease_made = create();
  put_pod(0, {});
  settings::agent with = settings(0, traffic::probe);
  with.name_space = "default";
  with.kubernetes.events = true;
  with.kubernetes.has_leases = true;
  with.kubernetes.pod_uid = read_pod(0).uid();
  with.kubernetes.cluster->token_file = user_for(with).token_file;
  kube::event_note gain = kube::gain_of(name_, core::version{7}, false);
  auto api = runtime::make_kubernetes_api(
      loop_.events(), http::over_network(loop_.events().executor()), *with.kubernetes.cluster);
  ASSERT_TRUE(api);
  std::string said;
  log::logger to(log::log_form::logfmt, log::log_level::debug,
                 [&said](const std::string& line) { said += line; });
  kube::event_recorder recorder({.loop = loop_.events(),
                                 .through = **api,
                                 .its = with.kubernetes,
                                 .lease_namespace = "default",
                                 .identity = pod(0),
                                 .to = to,
                                 .unix_ms = base::wall_now_ms,
                                 .patience = patience});
  recorder.record(gain, name_);
  ASSERT_TRUE(loop_.run_until([&] { return recorder.is_settled(); }));
  EXPECT_THAT(said, IsEmpty());
  std::map<std::string, json> by_kind;
  for (const json& one : call("GET", events).at("/items")) {
    if (one["reportingInstance"] == pod(0)) by_kind[one["regarding"]["kind"]] = one;
  }
  ASSERT_TRUE(by_kind.contains("Pod"));
  EXPECT_EQ(by_kind["Pod"]["regarding"]["uid"], with.kubernetes.pod_uid);
  EXPECT_EQ(by_kind["Pod"]["note"], "active: holds the lease of " + name_ + ", version 7");
  ASSERT_TRUE(by_kind.contains("Lease"));
  EXPECT_EQ(by_kind["Lease"]["regarding"]["name"], name_);
  EXPECT_EQ(by_kind["Lease"]["regarding"].value("uid", ""), "")
      << "this ServiceAccount may not read Leases; those of agents that keep leases may";
  EXPECT_NE(lease_made.uid(), "");
}

TEST_P(RealTraffic, AnUidOfALeaseIsGivenWhereItMayBeRead) {
  const std::string uid = create().uid();
  const settings::pod_cluster here{.endpoint = server_->endpoint(),
                                   .ca_file = server_->ca_file(),
                                   .token_file = server_->operator_user().token_file};
  auto api = runtime::make_kubernetes_api(loop_.events(),
                                          http::over_network(loop_.events().executor()), here);
  ASSERT_TRUE(api);
  std::string found;
  (*api)->call(kube::lease_request("default", name_), soon(), [&](const kube::api_reply& what) {
    found = what ? kube::read_uid(*what, name_) : what.error().why;
  });
  ASSERT_TRUE(loop_.run_until([&] { return !found.empty(); }));
  EXPECT_EQ(found, uid);
}

}  // namespace
}  // namespace tenure::tests
