#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/number_text.hpp"
#include "placed_members.hpp"
#include "servers/consul_server.hpp"
#include "servers/kubernetes_server.hpp"
#include "servers/tcp_proxy.hpp"

/// `tenure doctor` against real stores, guards and API servers.
namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

finished doctor(const temporary_directory& in, std::vector<std::string> words,
                const std::vector<std::string>& environment = {}) {
  words.insert(words.begin(), {tenure_binary(), "doctor"});
  return run(words, in, environment);
}

/// A line with this word and this check, whose text has this.
auto has_line(const std::string& word, const std::string& check, const std::string& text) {
  return ContainsRegex("(^|\n)" + word + " +" + check + " +[^\n]*" + text);
}

std::vector<place> places_of(const std::string& kind) {
  std::vector<place> out = places();
  std::erase_if(out, [&](const place& one) { return one.kind != kind; });
  return out;
}

class Doctor : public PlacedMembers {
 protected:
  [[nodiscard]] finished examine(std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"--store",    GetParam().kind,    "--election", "test",
                                   "--endpoint", store_->endpoint(), "--identity", "a"};
    words.insert(words.end(), more.begin(), more.end());
    return doctor(in_, words);
  }

  [[nodiscard]] std::unique_ptr<member> holder() {
    auto a = member_of_store({.identity = "a", .ttl = "10m"});
    EXPECT_TRUE(eventually([&] { return a->is_active(); })) << a->process().err();
    return a;
  }
};

TEST_P(Doctor, SaysWhoHoldsAndThatNothingIsWrong) {
  const auto a = holder();
  const finished r = examine();
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_EQ(r.err, "");
  EXPECT_THAT(r.out, Not(HasSubstr("BAD")));
  EXPECT_THAT(r.out, has_line("ok", "settings", "election test"));
  EXPECT_THAT(r.out, has_line("ok", "agent", "a is active in test, and reaches its store"));
  EXPECT_THAT(r.out, has_line("ok", "version", "a runs tenure "));
  EXPECT_THAT(r.out, has_line("ok", "store", "[0-9.]+ at .*, answers in [0-9a-z ]+"));
  EXPECT_THAT(r.out, has_line("ok", "holder", "test: a under version [0-9]+"));
  EXPECT_THAT(r.out, has_line("ok", "budget", "ttl 15 s"));
  EXPECT_THAT(r.out, has_line(GetParam().server ? "ok" : "skip", "clocks", ""));
  EXPECT_THAT(r.out, has_line("skip", "guard", "no --guard-dir"));
}

/// A renewal of the holder is not due while this runs.
TEST_P(Doctor, ChangesNothingAndDisturbsNobody) {
  const auto a = holder();
  const std::string answer = a->get("/v1/elections/test");
  EXPECT_EQ(examine().status, 0);
  // The holder may still be writing its name.
  std::string before;
  std::string after;
  EXPECT_TRUE(eventually([&] {
    before = store_->contents();
    const bool works = examine().status == 0;
    after = store_->contents();
    return works && !before.empty() && before == after;
  })) << before
      << "\n"
      << after;
  EXPECT_THAT(a->get("/v1/elections/test"),
              AllOf(HasSubstr("\"is_self\":true"), Not(HasSubstr("tenure-doctor")),
                    HasSubstr("\"not_campaigning\":null")));
  EXPECT_THAT(a->process().err(), Not(HasSubstr("doctor"))) << answer;
}

TEST_P(Doctor, AMemberWithAnotherNumberOfSlotsWouldWait) {
  const auto a = holder();
  const finished r = examine({"--slots", "2"});
  EXPECT_EQ(r.status, 0) << r.out;
  EXPECT_THAT(r.out, has_line("warn", "slots", "test has 1 in the store and 2 in these settings"));
  EXPECT_THAT(r.out, HasSubstr("restart these with the new number, or set slots to 1 here"));
}

TEST_P(Doctor, TheSameInJson) {
  const auto a = holder();
  const finished r = examine({"--output", "json"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  const auto all = nlohmann::json::parse(r.out, nullptr, false);
  ASSERT_TRUE(all.is_array()) << r.out;
  bool has_holder = false;
  for (const auto& one : all) {
    EXPECT_EQ(one.size(), 4U) << one;
    EXPECT_TRUE(one.at("text").is_string() && one.contains("action")) << one;
    EXPECT_THAT(one.at("result").get<std::string>(), testing::AnyOf("ok", "warn", "skip")) << one;
    has_holder = has_holder || one.at("check") == "holder";
  }
  EXPECT_TRUE(has_holder) << r.out;
}

INSTANTIATE_TEST_SUITE_P(On, Doctor, testing::ValuesIn(places()),
                         [](const auto& instance) { return instance.param.name; });

class DoctorStoreDown : public Doctor {};

TEST_P(DoctorStoreDown, AStoreThatIsGoneIsBad) {
  const auto a = holder();
  store_->server()->kill(0);
  ASSERT_TRUE(eventually([&] {
    return a->get("/v1/elections/test").contains("\"reachable\":false");
  })) << a->process().err();
  const finished r = examine();
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("BAD", "store", "ECONNREFUSED"));
  EXPECT_THAT(r.out, has_line("BAD", "agent", "a is active in test, and does not reach its store"));
  EXPECT_THAT(r.out, has_line("skip", "clocks", ""));
  EXPECT_THAT(r.out, Not(ContainsRegex("(^|\n)ok +(holder|budget|store)")));
}

TEST_P(DoctorStoreDown, AStoreThatSaysNothingIsBad) {
  store_->server()->freeze(0);
  const finished r = examine();
  store_->server()->thaw(0);
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("BAD", "store", ""));
  EXPECT_THAT(r.out, Not(ContainsRegex("(^|\n)ok +(holder|budget|store|clocks)")));
}

TEST_P(DoctorStoreDown, OneOfTwoEndpointsThatIsGoneIsNamed) {
  const finished r = examine({"--endpoint", "http://127.0.0.1:9"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("warn", "endpoint", "http://127.0.0.1:9 does not answer, others do"));
  EXPECT_THAT(r.out, has_line("ok", "holder", "test: nobody holds it"));
}

INSTANTIATE_TEST_SUITE_P(On, DoctorStoreDown, testing::ValuesIn(server_places()),
                         [](const auto& instance) { return instance.param.name; });

class DoctorBehindAProxy : public Doctor {};

/// As behind nginx with its usual settings: reads work, and a watch gets no answer.
TEST_P(DoctorBehindAProxy, ThatPassesNoWatchOnNoMemberWouldCampaign) {
  const std::string direct = store_->endpoint();
  servers::tcp_proxy proxy(*base::read_number<std::uint16_t>(direct.substr(direct.rfind(':') + 1)));
  proxy.lose_pieces("watch_id");
  const finished r = doctor(in_, {"--store", "etcd", "--election", "test", "--endpoint",
                                  proxy.endpoint(), "--identity", "a"});
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("BAD", "store", "can be read and not watched, so no member"));
}

INSTANTIATE_TEST_SUITE_P(On, DoctorBehindAProxy, testing::ValuesIn(places_of("etcd")),
                         [](const auto& instance) { return instance.param.name; });

class DoctorOnConsul : public Doctor {};

TEST_P(DoctorOnConsul, AKeyOfAnotherProgramIsBadAsNobodyWouldHold) {
  auto& consul = dynamic_cast<servers::consul_cluster&>(*store_->server());
  consul.call("PUT", "/v1/kv/test/.lock", "of another program");
  const finished r = examine();
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("BAD", "store", "the key test/.lock is not a lock"));
}

INSTANTIATE_TEST_SUITE_P(On, DoctorOnConsul, testing::ValuesIn(places_of("consul")),
                         [](const auto& instance) { return instance.param.name; });

// --- without a store -----------------------------------------------------------------------------

TEST(DoctorOnAFile, AFileThatIsNotThereYetIsNotMade) {
  const temporary_directory in;
  const std::string file = in / "db";
  const finished r = doctor(in, {"--store", "sqlite", "--endpoint", file, "--election", "test"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("skip", "store", "the first agent makes it"));
  EXPECT_THAT(r.out, has_line("skip", "agent", ""));
  EXPECT_FALSE(std::filesystem::exists(file));

  const finished astray =
      doctor(in, {"--store", "sqlite", "--endpoint", in / "none/db", "--election", "test"});
  EXPECT_EQ(astray.status, 1) << astray.out;
  EXPECT_THAT(astray.out, has_line("BAD", "store", "there is no directory"));
}

TEST(DoctorOnAFile, AFileOfAnotherProgramIsBad) {
  const temporary_directory in;
  const std::string file = in / "db";
  std::ofstream(file) << std::string(4096, 'x');
  const finished r = doctor(in, {"--store", "sqlite", "--endpoint", file, "--election", "test"});
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("BAD", "store", ""));
}

TEST(DoctorSettings, WrongOnesEndBeforeAnythingIsAsked) {
  const temporary_directory in;
  const finished r =
      doctor(in, {"--store", "etcd", "--endpoint", "10.0.0.1", "--election", "test"});
  EXPECT_EQ(r.status, 2);
  EXPECT_EQ(r.out, "");
  EXPECT_THAT(r.err, HasSubstr("endpoint"));
  EXPECT_EQ(doctor(in, {}).status, 2);
}

TEST(DoctorSettings, ThoseOfAPodCanBeGivenOnALaptop) {
  const temporary_directory in;
  const finished r = doctor(in, {"--store", "sqlite", "--endpoint", in / "db", "--election", "test",
                                 "--traffic", "gate", "--pod-name", "db-0"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_THAT(r.out,
              has_line("skip", "rights", "of the pod's ServiceAccount; run this in the pod"));
  EXPECT_THAT(r.out, has_line("skip", "pod", "its cluster is not known here"));
}

TEST(DoctorGuard, IsFoundAndNotDisturbed) {
  const temporary_directory in;
  const std::string shared = in / "shared";
  const std::vector<std::string> settings{"--store",    "sqlite", "--endpoint",  in / "db",
                                          "--election", "test",   "--guard-dir", shared};
  std::vector<std::string> words{tenure_binary(), "agent"};
  words.insert(words.end(), settings.begin(), settings.end());
  words.insert(words.end(), {"--listen", "127.0.0.1:0", "--probe-listen", "off"});

  const finished none = doctor(in, settings);
  EXPECT_EQ(none.status, 1) << none.out;
  EXPECT_THAT(none.out, has_line("BAD", "guard", "no guard is there; start one"));

  auto guard = std::make_unique<program>(
      std::vector<std::string>{tenure_binary(), "guard", "--dir", shared, "--", "sleep", "600"},
      in / "guard");
  const program agent(words, in / "agent");
  ASSERT_TRUE(eventually([&] { return agent.said("active under version"); })) << agent.err();
  const std::string said = guard->err();
  for (int times = 0; times < 3; ++times) {
    const finished r = doctor(in, settings);
    EXPECT_EQ(r.status, 0) << r.out << r.err;
    EXPECT_THAT(r.out, has_line("ok", "guard", "one listens in "));
  }
  EXPECT_EQ(guard->err(), said) << "the guard has noticed something";
  EXPECT_FALSE(agent.said("guard is gone")) << agent.err();

  guard->send(SIGKILL);
  guard->wait();
  // The file of its socket is left.
  EXPECT_THAT(doctor(in, settings).out, has_line("BAD", "guard", "no guard is there"));
  EXPECT_TRUE(eventually([&] {
    return doctor(in, settings)
        .out.contains("is standby in test, and does not campaign: it has no");
  })) << agent.err();
}

// --- Kubernetes ----------------------------------------------------------------------------------

class DoctorOnKubernetes : public testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override {
    if (!GetParam().why.empty()) GTEST_SKIP() << GetParam().why;
    server_ = &servers::shared_kubernetes_server(GetParam());
    name_space_ = server_->add_name_space("doctor");
  }

  [[nodiscard]] finished examine(const servers::kubernetes_user& as,
                                 std::vector<std::string> more = {}) const {
    std::vector<std::string> words{"--store",   "kubernetes",       "--election",
                                   "test",      "--endpoint",       server_->endpoint(),
                                   "--ca-file", server_->ca_file(), "--namespace",
                                   name_space_, "--token-file",     as.token_file};
    words.insert(words.end(), more.begin(), more.end());
    return doctor(in_, words);
  }

  /// There are no controllers, so it belongs to what we say.
  void make(const std::string& resource, const nlohmann::json& what) const {
    const bool is_pod = resource == "pods";
    const auto done = server_->call(
        "POST",
        (is_pod ? "/api/v1" : "/apis/apps/v1") + ("/namespaces/" + name_space_) + "/" + resource,
        what.dump());
    EXPECT_EQ(done.status, 201) << done.body;
  }

  static nlohmann::json controller(const std::string& kind, const std::string& name) {
    return nlohmann::json::array({{{"apiVersion", "apps/v1"},
                                   {"kind", kind},
                                   {"name", name},
                                   {"uid", "6f1d9c1e-0000-4000-8000-000000000000"},
                                   {"controller", true}}});
  }

  /// A pod of a Deployment of which only the active pod is Ready.
  void make_pod(const nlohmann::json& strategy) const {
    // No controller makes it, and each pod needs it.
    server_->call("POST", "/api/v1/namespaces/" + name_space_ + "/serviceaccounts",
                  R"({"apiVersion":"v1","kind":"ServiceAccount","metadata":{"name":"default"}})");
    const nlohmann::json label{{"app", "db"}};
    const nlohmann::json spec{
        {"terminationGracePeriodSeconds", 12},
        {"automountServiceAccountToken", false},
        {"containers",
         {{{"name", "main"},
           {"image", "main"},
           {"readinessProbe", {{"httpGet", {{"path", "/leader"}, {"port", 8081}}}}}}}}};
    const nlohmann::json pods{{"metadata", {{"labels", label}}}, {"spec", spec}};
    make("deployments", {{"apiVersion", "apps/v1"},
                         {"kind", "Deployment"},
                         {"metadata", {{"name", "db"}}},
                         {"spec",
                          {{"replicas", 2},
                           {"strategy", strategy},
                           {"selector", {{"matchLabels", label}}},
                           {"template", pods}}}});
    make("replicasets",
         {{"apiVersion", "apps/v1"},
          {"kind", "ReplicaSet"},
          {"metadata", {{"name", "db-1"}, {"ownerReferences", controller("Deployment", "db")}}},
          {"spec", {{"selector", {{"matchLabels", label}}}, {"template", pods}}}});
    make("pods",
         {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", "db-1-x"}, {"ownerReferences", controller("ReplicaSet", "db-1")}}},
          {"spec", spec}});
  }

  temporary_directory in_;
  servers::kubernetes_server* server_ = nullptr;
  std::string name_space_;
};

INSTANTIATE_TEST_SUITE_P(Servers, DoctorOnKubernetes,
                         testing::ValuesIn(servers::kubernetes_releases()),
                         [](const auto& one) { return "kubernetes_" + one.param.name; });

TEST_P(DoctorOnKubernetes, EachMissingVerbIsBadWithTheRuleThatGivesIt) {
  const auto user = server_->add_user(
      "less", {.verbs = {"get", "list", "watch", "create"}, .name_space = name_space_},
      name_space_);
  const finished r = examine(user);
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("ok", "store", "Kubernetes v1\\.[0-9.]+ at https://"));
  EXPECT_THAT(r.out,
              has_line("BAD", "rights", "lacks the right to patch leases test in namespace"));
  EXPECT_THAT(r.out, has_line("BAD", "rights", "lacks the right to delete leases in namespace"));
  EXPECT_THAT(r.out, HasSubstr("add to its Role: {apiGroups: [coordination.k8s.io], resources: "
                               "[leases], resourceNames: [test], verbs: [patch]}"));
  EXPECT_THAT(r.out, Not(HasSubstr("lacks verbs"))) << "it would be said twice";
  EXPECT_THAT(r.out, Not(HasSubstr("right to create")));
  EXPECT_THAT(r.out,
              has_line("skip", "pod", "this is not a pod, and no pod is named; give --pod-name"));
}

TEST_P(DoctorOnKubernetes, AWholeRoleIsFineAndNothingIsWritten) {
  const auto user = server_->add_user("whole", {.name_space = name_space_}, name_space_);
  const finished r = examine(user);
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("ok", "rights",
                              "the user of these settings may get, list, watch, patch, create, "
                              "delete leases in namespace"));
  EXPECT_THAT(r.out, has_line("ok", "clocks", "less than 1 s|by "));
  const auto leases =
      server_->call("GET", "/apis/coordination.k8s.io/v1/namespaces/" + name_space_ + "/leases");
  EXPECT_THAT(leases.body, HasSubstr("\"items\":[]"));
}

TEST_P(DoctorOnKubernetes, APodThatCannotBeReadIsNotCalledFine) {
  make_pod({{"type", "Recreate"}});
  const auto user = server_->add_user("blind", {.name_space = name_space_}, name_space_);
  const finished r = examine(user, {"--pod-name", "db-1-x"});
  EXPECT_EQ(r.status, 0) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("skip", "pod", "needs the right to get pods in namespace"));
  EXPECT_THAT(r.out, Not(HasSubstr("roll-out  ")));
}

TEST_P(DoctorOnKubernetes, ARollOutThatNeverEndsIsFoundByTheOwners) {
  make_pod({{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxUnavailable", 1}}}});
  const auto& all = server_->operator_user();
  const finished r = examine(all, {"--pod-name", "db-1-x"});
  EXPECT_EQ(r.status, 1) << r.out << r.err;
  EXPECT_THAT(r.out, has_line("BAD", "roll-out", "a roll-out of Deployment db never ends"));
  EXPECT_THAT(r.out, has_line("warn", "grace",
                              "terminationGracePeriodSeconds 12 is less than drain "
                              "20 s"));
  const finished fit = examine(all, {"--pod-name", "db-1-x", "--drain", "7s"});
  EXPECT_THAT(fit.out, has_line("ok", "grace", "12 has room for drain 7 s"));

  const auto user = server_->add_user("pods", {.name_space = name_space_}, name_space_);
  server_->allow(user,
                 {.verbs = {"get"}, .group = "", .resource = "pods", .name_space = name_space_});
  const finished half = examine(user, {"--pod-name", "db-1-x"});
  EXPECT_THAT(half.out, has_line("skip", "roll-out", "needs the right to get replicasets"));
}

}  // namespace
}  // namespace tenure::tests
