// Answers that an API server gives when it is overloaded, misconfigured or not one at all, from a
// fake: the active pod is named in the end, and what went wrong is said once.

#include <atomic>

#include "fake_cluster.hpp"
#include "traffic_scene.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using settings::traffic;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr core::duration short_time = std::chrono::milliseconds(300);

class HostileCluster : public testing::Test {
 protected:
  HostileCluster() {
    for (const char* name : {"db-0", "db-1"}) fake_.put_pod(name, labels);
    fake_.put_slice("db");
  }

  [[nodiscard]] settings::agent settings(const std::string& pod, traffic way) const {
    return pod_settings(pod, way, {.endpoint = fake_.endpoint(), .ca_file = {}, .token_file = {}});
  }
  std::unique_ptr<announcing_pod> join(const std::string& pod, traffic way = traffic::label,
                                       core::duration patience = tests::patience) {
    return std::make_unique<announcing_pod>(loop_, settings(pod, way), patience);
  }
  std::string condition_of(const std::string& pod) {
    for (const json& one : fake_.object(pod)["status"]["conditions"]) {
      if (one["type"] == "tenure.dev/active") return one["status"];
    }
    return "";
  }
  /// Polls, while the loop runs: the fake is on other threads.
  bool eventually(const std::function<bool()>& what) {
    base::timer poll(loop_.events());
    std::function<void()> again = [&] {
      poll.after(std::chrono::milliseconds(2), [&] { again(); });
    };
    again();
    return loop_.run_until(what);
  }

  const json labels{{"tenure.dev/election", "db"}};
  fake_cluster fake_;
  loop loop_;
};

TEST_F(HostileCluster, TheFakeIsTakenForAnApiServerAsLongAsItDoesNotLie) {
  auto a = join("db-0");
  auto b = join("db-1");
  a->show(standby());
  b->show(standby());
  EXPECT_EQ(fake_.object("db-1")["metadata"]["labels"]["tenure.dev/role"], "standby");
  a->show(active(7));
  EXPECT_EQ(fake_.labelled(), "db-0");
  // Its node is dead: it takes nothing back.
  b->show(active(9));
  EXPECT_EQ(fake_.labelled(), "db-1");
  EXPECT_EQ(fake_.object("db-0")["metadata"]["annotations"]["tenure.dev/version"], "9");
  b->show(standby());
  EXPECT_EQ(fake_.labelled(), "");
  EXPECT_THAT(b->said(), AllOf(HasSubstr("named as the active pod, by the pod's label "
                                         "tenure.dev/role (version 9)"),
                               HasSubstr("no longer named as the active pod")));
}

TEST_F(HostileCluster, AConditionMovesInTheSameWay) {
  auto a = join("db-0", traffic::gate);
  auto b = join("db-1", traffic::gate);
  a->show(standby());
  EXPECT_EQ(condition_of("db-0"), "False");
  a->show(active(7));
  EXPECT_EQ(condition_of("db-0"), "True");
  fake_.change("db-0", [](json& pod) {
    pod["status"]["conditions"].push_back({{"type", "Ready"}, {"status", "True"}});
  });
  b->show(active(9));
  EXPECT_EQ(condition_of("db-0"), "False");
  EXPECT_EQ(condition_of("db-1"), "True");
  EXPECT_EQ(fake_.object("db-0")["status"]["conditions"].back()["status"], "False")
      << "its kubelet may be dead";
}

TEST_F(HostileCluster, ASliceMovesWithOneWrite) {
  auto a = join("db-0", traffic::endpoints);
  auto b = join("db-1", traffic::endpoints);
  a->show(active(7));
  EXPECT_EQ(fake_.endpoint_of("db"), "db-0");
  const int before = fake_.count("write");
  b->show(active(9));
  EXPECT_EQ(fake_.endpoint_of("db"), "db-1");
  EXPECT_EQ(fake_.count("write"), before + 1);
  EXPECT_EQ(fake_.object("db")["endpoints"][0]["addresses"], json::array({"10.0.0.1"}));
  EXPECT_EQ(fake_.object("db")["ports"], json::array({{{"port", 5432}}}));
  a->show(standby());
  EXPECT_EQ(fake_.endpoint_of("db"), "db-1") << "the next holder has it";
}

TEST_F(HostileCluster, AWriteOfAnEarlierTermThatArrivesLateChangesNothing) {
  auto a = join("db-0");
  const auto is_held = std::make_shared<std::atomic<bool>>(false);
  const auto let_go = std::make_shared<std::atomic<bool>>(false);
  fake_.on("write", [this, is_held, let_go](peer& to, const std::string& request) {
    if (request.contains("\"active\"") && !is_held->exchange(true)) {
      while (!*let_go && !to.closed_within(std::chrono::milliseconds(5))) {
      }
    }
    fake_.answer_truly(to, request);
  });
  a->want(active(7));
  ASSERT_TRUE(eventually([&] { return is_held->load(); }));
  auto b = join("db-1");
  b->show(active(9));
  *let_go = true;
  ASSERT_TRUE(eventually([&] { return a->lines_with("has version 9, later than ours, 7") == 1; }))
      << a->said();
  EXPECT_EQ(fake_.labelled(), "db-1");
  EXPECT_EQ(a->failures(), 0);
}

TEST_F(HostileCluster, AConflictIsReadAgain) {
  fake_.on_first("write", 3, status("409 Conflict", status_json(409, "Conflict", "was modified")));
  auto a = join("db-0");
  a->show(active(7));
  EXPECT_EQ(fake_.labelled(), "db-0");
  EXPECT_EQ(a->failures(), 0);
}

TEST_F(HostileCluster, WhatIsForbiddenIsSaidOnceWithTheRuleToAddAndDoneOnceItIsAllowed) {
  fake_.on("list", status("403 Forbidden",
                          status_json(403, "Forbidden",
                                      "pods is forbidden: User \"u\" cannot list resource "
                                      "\"pods\" in API group \"\" in the namespace \"team\"")));
  auto a = join("db-0");
  a->want(active(7));
  ASSERT_TRUE(eventually([&] { return a->failures() >= 3; }));
  EXPECT_EQ(a->lines_with("level=error"), 1) << a->said();
  EXPECT_THAT(
      a->said(),
      AllOf(HasSubstr("this pod is active and is not named as the active one, so no traffic "
                      "comes to it"),
            HasSubstr("cannot list resource"), HasSubstr("add to the Role of its "),
            HasSubstr("resources: [pods], verbs: [list]}"), Not(HasSubstr("coordination.k8s.io"))));
  fake_.repent("list");
  ASSERT_TRUE(eventually([&] { return a->is_named(); }));
  EXPECT_EQ(a->lines_with("Kubernetes shows again which pod is active"), 1);
}

TEST_F(HostileCluster, ARefusalWithoutWordsAsksForNoRightToLeases) {
  fake_.on("list", status("403 Forbidden", status_json(403, "Forbidden", "")));
  auto a = join("db-0");
  a->want(active(7));
  ASSERT_TRUE(eventually([&] { return a->failures() >= 1; }));
  EXPECT_THAT(a->said(), AllOf(HasSubstr("answered 403; add to the Role of its ServiceAccount"),
                               Not(HasSubstr("coordination.k8s.io"))));
}

TEST_F(HostileCluster, ATokenThatIsNotAcceptedIsSaid) {
  fake_.on("list", status("401 Unauthorized", status_json(401, "Unauthorized", "Unauthorized")));
  auto a = join("db-0");
  a->want(active(7));
  ASSERT_TRUE(eventually([&] { return a->failures() >= 2; }));
  EXPECT_THAT(a->said(), AllOf(HasSubstr("answered 401: Unauthorized"),
                               HasSubstr("; check the ServiceAccount of the pod, and its token")));
  EXPECT_EQ(a->lines_with("level=error"), 1) << a->said();
}

TEST_F(HostileCluster, AStartNamesTheVerbThatIsMissing) {
  fake_.forbid("patch");
  auto a = join("db-0", traffic::gate);
  a->operator->()->begin();
  ASSERT_TRUE(
      eventually([&] { return fake_.count("review") == 3 && a->lines_with("may not") > 0; }));
  EXPECT_THAT(a->said(), HasSubstr("the ServiceAccount of this pod may not patch pods/status in "
                                   "namespace team, so traffic will not find the active pod; add "
                                   "to its Role: {apiGroups"));
  EXPECT_EQ(a->lines_with("may not"), 1);
}

TEST_F(HostileCluster, APodThatDoesNotExistIsSaid) {
  auto a = join("db-7");
  a->want(standby());
  ASSERT_TRUE(eventually([&] { return a->failures() >= 2; }));
  EXPECT_THAT(a->said(), HasSubstr("check pod_name and pod_namespace"));
  EXPECT_EQ(a->lines_with("level=error"), 1);
}

TEST_F(HostileCluster, ASliceThatDoesNotExistIsSaidByAStandbyAlreadyAndUsedOnceItIsThere) {
  settings::agent with = settings("db-0", traffic::endpoints);
  with.kubernetes.slices = {"other"};
  announcing_pod a(loop_, with);
  a.want(standby());
  ASSERT_TRUE(eventually([&] { return a.failures() >= 1; }));
  EXPECT_THAT(a.said(), AllOf(HasSubstr("other not found"), HasSubstr("docs/traffic.md")));
  a.want(active(7));
  fake_.put_slice("other");
  EXPECT_TRUE(eventually([&] { return fake_.endpoint_of("other") == "db-0"; }));
}

TEST_F(HostileCluster, AServerThatIsTooBusyIsAskedAgainWithoutAWord) {
  fake_.on_first("write", 2, [](peer& to, const std::string&) {
    const std::string text = status_json(429, "TooManyRequests", "slow down");
    to.send("HTTP/1.1 429 So\r\nRetry-After: 0\r\nContent-Length: " + std::to_string(text.size()) +
            "\r\n\r\n" + text);
  });
  auto a = join("db-0");
  a->show(active(7));
  EXPECT_EQ(fake_.labelled(), "db-0");
  EXPECT_EQ(a->failures(), 0);
}

TEST_F(HostileCluster, AnAnswerAboutAnotherObjectIsNotBelieved) {
  const std::string other = fake_.object("db-1").dump();
  fake_.on("get", other);
  auto a = join("db-0");
  a->want(standby());
  ASSERT_TRUE(eventually([&] { return a->failures() >= 1; }));
  EXPECT_THAT(a->said(), HasSubstr("it is about another object"));
  fake_.repent("get");
  fake_.on_first("write", 1, body(other));
  a->want(active(7));
  ASSERT_TRUE(eventually([&] { return fake_.labelled() == "db-0"; }));
}

TEST_F(HostileCluster, AHugeAnswerIsNotRead) {
  const std::string padding(std::size_t{20} * 1024 * 1024, ' ');
  fake_.on("list", padding + fake_.object("db-0").dump());
  auto a = join("db-0");
  a->want(active(7));
  ASSERT_TRUE(eventually([&] { return a->failures() >= 1; }));
  EXPECT_THAT(a->said(), HasSubstr("bytes, more than"));
}

/// What an answer that says nothing leads to: another try, and one line.
class HostileAnswer : public HostileCluster, public testing::WithParamInterface<nonsense> {};

std::vector<nonsense> nonsense_for_traffic() {
  std::vector<nonsense> out = nonsense_of_any_server();
  out.insert(out.end(),
             {{"InternalError", status("500 So", status_json(500, "InternalError", "away"))},
              {"ConflictByAProxy", status("409 Conflict", "conflict")},
              {"NotFoundByAProxy", status("404 Not Found", "<html>")},
              {"AnotherKind", body(R"({"kind":"Secret","metadata":{"name":"db-0"}})")},
              {"StatusOfSuccess", body(R"({"kind":"Status","status":"Success"})")}});
  return out;
}

INSTANTIATE_TEST_SUITE_P(Fake, HostileAnswer, testing::ValuesIn(nonsense_for_traffic()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(HostileAnswer, ToAnyRequestDelaysAndChangesNothing) {
  auto a = join("db-0", traffic::label, short_time);
  for (const char* name : {"list", "write"}) {
    SCOPED_TRACE(name);
    const int before = a->failures();
    fake_.on(name, GetParam().how);
    a->want(active(7));
    ASSERT_TRUE(eventually([&] { return a->failures() > before; }));
    EXPECT_FALSE(a->is_named());
    EXPECT_EQ(fake_.labelled(), "");
    fake_.repent();
    ASSERT_TRUE(eventually([&] { return a->is_named(); })) << a->said();
    a->show(standby());
  }
  EXPECT_LE(a->lines_with("this pod is active and is not named"), 2) << a->said();
}

TEST_P(HostileAnswer, DoesNotHoldUpTheEndOfATerm) {
  auto a = join("db-0", traffic::label);
  a->show(active(7));
  auto b = join("db-1", traffic::label, short_time);
  fake_.on("list", GetParam().how);
  b->want(active(9));
  ASSERT_TRUE(eventually([&] { return fake_.count("list") >= 2; }));
  // Not by way of a list: its own pod alone.
  a->show(standby());
  EXPECT_EQ(fake_.labelled(), "");
}

// --- Events ----------------------------------------------------------------------------------

class HostileEvents : public HostileCluster {
 protected:
  settings::agent settings(bool with_leases = false) const {
    settings::agent out = HostileCluster::settings("db-0", traffic::probe);
    out.kubernetes.events = true;
    out.kubernetes.has_leases = with_leases;
    out.name_space = "team";
    return out;
  }
  /// An election that goes from candidate to active and back.
  static void gain_and_lose(announcing_pod& who) {
    core::election one(
        {.identity = "db-0", .when = core::resolve({}).value(), .owns_workload = false});
    core::time_point now{std::chrono::seconds(100)};
    const auto step = [&](const core::election_event& what) {
      const core::effects out = one.step({.now = now}, what);
      for (const core::election_command& command : out) {
        const auto* moved = std::get_if<core::command::transition>(&command);
        if (moved != nullptr) who->phase_changed(core::election_index{0}, one, *moved);
      }
      return out;
    };
    step(core::event::started{});
    core::attempt number{};
    for (const core::election_command& command :
         step(core::event::observed{{.holders = {}, .retry_at = now}})) {
      if (const auto* c = std::get_if<core::command::acquire>(&command)) number = c->number;
    }
    step(core::event::granted{.number = number,
                              .version = core::version{7},
                              .ttl = std::chrono::seconds(15),
                              .sent_at = now,
                              .released_cleanly = true});
    step(core::event::resign{});
  }
};

TEST_F(HostileEvents, AGainAndALossAreEventsOnThePod) {
  announcing_pod a(loop_, settings());
  gain_and_lose(a);
  ASSERT_TRUE(a.settles());
  std::vector<json> all = fake_.events();
  ASSERT_EQ(all.size(), 2U);
  // Each is on a connection of its own.
  std::ranges::sort(all, {}, [](const json& one) { return one["reason"].get<std::string>(); });
  EXPECT_EQ(all[0]["reason"], "Active");
  EXPECT_EQ(all[0]["regarding"]["name"], "db-0");
  EXPECT_EQ(all[0]["regarding"]["uid"], "uid-db-0");
  EXPECT_EQ(all[1]["reason"], "Resigned");
  EXPECT_THAT(all[1]["note"].get<std::string>(), HasSubstr("version 7"));
}

TEST_F(HostileEvents, WithLeasesTheyAreOnTheLeaseAsWell) {
  fake_.put_lease("db");
  announcing_pod a(loop_, settings(true));
  gain_and_lose(a);
  ASSERT_TRUE(a.settles());
  std::vector<json> on_leases = fake_.events();
  std::erase_if(on_leases, [](const json& one) { return one["regarding"]["kind"] != "Lease"; });
  ASSERT_EQ(on_leases.size(), 2U);
  EXPECT_EQ(on_leases[0]["regarding"]["uid"], "uid-of-the-lease");
}

TEST_F(HostileEvents, ThatTheyAreForbiddenIsSaidOnce) {
  fake_.on("event", status("403 Forbidden", status_json(403, "Forbidden", "may not create")));
  announcing_pod a(loop_, settings());
  for (int i = 0; i < 3; ++i) gain_and_lose(a);
  ASSERT_TRUE(a.settles());
  EXPECT_EQ(fake_.count("event"), 6);
  EXPECT_EQ(a.lines_with("no Events are written, which is not said again"), 1) << a.said();
}

TEST_F(HostileEvents, AFloodIsLimited) {
  announcing_pod a(loop_, settings());
  for (int i = 0; i < 100; ++i) {
    gain_and_lose(a);
    ASSERT_TRUE(a.settles());
  }
  EXPECT_LE(fake_.events().size(), kube::event_limit::at_once + 3);
}

// --- the end of an agent ---------------------------------------------------------------------

TEST_F(HostileCluster, TheEndOfAnAgentWaitsForALastWordUpToItsDeadline) {
  auto a = join("db-0");
  a->show(active(7));
  fake_.on("get", [](peer& to, const std::string&) { to.closed(); });
  a->want(standby());
  bool done = false;
  const core::time_point by = base::boot_now() + short_time;
  a->operator->()->settle(by, [&done] { done = true; });
  ASSERT_TRUE(eventually([&] { return done; }));
  EXPECT_GE(base::boot_now(), by);
  a->operator->()->close();
}

}  // namespace
}  // namespace tenure::tests
