// `consul lock`, which is the official Go client's Lock and Semaphore, and `tenure exec` on one
// name.

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "harness.hpp"
#include "servers/consul_server.hpp"

namespace tenure::tests {
namespace {

constexpr const char* ttl_beyond_patience = "10m";
constexpr const char* lock_path = "/v1/kv/test/.lock?consistent&raw";

class ConsulInterop : public ::testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override {
    if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
    cluster_.emplace(GetParam());
  }

  /// No two workloads of a lock ever overlapped.
  void expect_one_at_a_time() const {
    const auto runs = stamped_runs(in_);
    EXPECT_TRUE(never_two_at_once(runs));
    EXPECT_TRUE(versions_grow(runs));
  }

  std::unique_ptr<member> tenure(const std::string& identity, const std::string& ttl,
                                 std::vector<std::string> more = {},
                                 std::vector<std::string> command = {}) const {
    return std::make_unique<member>(in_, member::options{.identity = identity,
                                                         .ttl = ttl,
                                                         .store = "consul",
                                                         .endpoint = cluster_->endpoint(),
                                                         .more = std::move(more),
                                                         .command = std::move(command)});
  }

  /// Its command survives SIGTERM until its drain time is over.
  std::unique_ptr<member> stubborn_tenure(const std::string& identity,
                                          const std::string& ttl) const {
    return tenure(identity, ttl, {"--drain", "300ms"}, {stamper_binary(), in_.path(), "stubborn"});
  }

  /// `consul lock -n SLOTS test` with a stamper as its command, which is not told any version: it
  /// asks for the lock key's index, which is that of its term.
  std::unique_ptr<program> locked_stamper(const std::string& identity, int slots = 1) const {
    const std::string script =
        "export TENURE_IDENTITY=" + identity + " TENURE_VERSION=$('" + GetParam().binary +
        R"(' kv get -detailed test/.lock | sed -n 's/^ModifyIndex *//p'); exec ')" +
        stamper_binary() + "' '" + in_.path().string() + "'";
    return std::make_unique<program>(
        std::vector<std::string>{GetParam().binary, "lock", "-verbose", "-shell=false",
                                 "-n=" + std::to_string(slots), "test", "sh", "-c", script},
        in_ / identity, std::vector<std::string>{"CONSUL_HTTP_ADDR=" + cluster_->endpoint()});
  }

  /// True once that many of `consul lock` have a session, which is what they do before they wait.
  bool foreign_sessions_become(int count) const {
    return eventually([&] {
      const std::string all = cluster_->call("GET", "/v1/session/list?consistent").body;
      int found = 0;
      for (auto at = all.find("\"Name\":\"Consul "); at != std::string::npos;
           at = all.find("\"Name\":\"Consul ", at + 1)) {
        ++found;
      }
      return found == count;
    });
  }

  /// True once so many contend for the semaphore: each has a key that its session locks.
  bool contenders_become(int count) const {
    return eventually([&] { return std::ssize(contenders()) == count; });
  }

  /// Their keys, each with the session that locks it.
  [[nodiscard]] std::vector<nlohmann::json> contenders() const {
    const auto all = nlohmann::json::parse(
        cluster_->call("GET", "/v1/kv/test/?recurse&consistent").body, nullptr, false);
    std::vector<nlohmann::json> out;
    for (const auto& one : all) {
      if (!one.is_object() || !one.contains("Session")) continue;
      if (one.at("Key") == "test/" + std::string(one.at("Session"))) out.push_back(one);
    }
    return out;
  }

  [[nodiscard]] bool has_run(const std::string& who) const {
    const auto runs = stamped_runs(in_);
    return std::ranges::any_of(runs, [&](const stamped_run& one) { return one.identity == who; });
  }

  static void end_workload_of(const member& who) {
    const auto workload = who.workload();
    ASSERT_TRUE(workload);
    ::kill(*workload, SIGKILL);
  }

  static void end_command_of(const program& lock) {
    for (const pid_t command : children_of(lock.pid())) ::kill(command, SIGTERM);
  }

  temporary_directory in_;
  std::optional<servers::consul_cluster> cluster_;
};

INSTANTIATE_TEST_SUITE_P(Consul, ConsulInterop, ::testing::ValuesIn(servers::consul_releases()),
                         [](const auto& instance) { return instance.param.name; });

// The lock --------------------------------------------------------------------------------------

TEST_P(ConsulInterop, TheCommandUnderConsulLockEndsBeforeOursBegins) {
  const auto other = locked_stamper("other");
  ASSERT_TRUE(runs_as(in_, "other")) << other->err() << other->out();
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(eventually([&] { return a->process().said("holder=\"session "); }))
      << a->process().err();
  EXPECT_FALSE(a->workload());
  end_command_of(*other);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  expect_one_at_a_time();
}

TEST_P(ConsulInterop, ConsulLockWaitsForOurCommandToEnd) {
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(foreign_sessions_become(1)) << other->err();
  const auto workload = a->workload();
  ASSERT_TRUE(workload);
  ::kill(*workload, SIGKILL);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err() << a->process().err();
  expect_one_at_a_time();
}

TEST_P(ConsulInterop, ConsulLockWaitsForTheDrainOfWhatWeStop) {
  const auto a = stubborn_tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(foreign_sessions_become(1)) << other->err();
  a->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err() << a->process().err();
  expect_one_at_a_time();
}

TEST_P(ConsulInterop, ConsulLockFollowsOurSessionWhenAllOfUsHasVanished) {
  const auto a = tenure("a", "2s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(foreign_sessions_become(1)) << other->err();
  a->pull_the_plug();
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  expect_one_at_a_time();
}

TEST_P(ConsulInterop, AFrozenAgentsCommandIsDeadWhenConsulLockGetsItsLock) {
  const auto a = stubborn_tenure("a", "2s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(foreign_sessions_become(1)) << other->err();
  const auto agent = a->agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  expect_one_at_a_time();
}

/// `consul lock` asks for Consul's default lock-delay, 15 s, during which nobody can be granted the
/// lock of one that has vanished.
TEST_P(ConsulInterop, WeAreGrantedAnotherClientsLockWhenItsLockDelayIsOver) {
  auto other = locked_stamper("other");
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(eventually([&] { return a->process().said("holder=\"session "); }))
      << a->process().err();
  other.reset();
  const std::string all = cluster_->call("GET", "/v1/session/list?consistent").body;
  const auto named = all.find("\"Name\":\"Consul lock");
  const auto id = all.rfind("\"ID\":\"", named);
  ASSERT_NE(id, std::string::npos) << all;
  ASSERT_EQ(cluster_->call("PUT", "/v1/session/destroy/" + all.substr(id + 6, 36)).status, 200);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  expect_one_at_a_time();
}

/// The lock is never free between a holder and the member that stands in line.
TEST_P(ConsulInterop, ConsulLockThatWaitsComesAfterAMemberInLine) {
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = locked_stamper("other");
  ASSERT_TRUE(foreign_sessions_become(1)) << other->err();
  const auto b = tenure("b", ttl_beyond_patience);
  ASSERT_TRUE(eventually([&] {
    return b->get("/v1/elections/test").find(R"("in_line":true)") != std::string::npos;
  })) << b->process().err();
  // That is true from when b asks for its place. Nothing tells when a has seen it, too.
  std::this_thread::sleep_for(std::chrono::seconds(1));
  end_workload_of(*a);
  ASSERT_TRUE(runs_as(in_, "b")) << b->process().err();
  EXPECT_FALSE(has_run("other"));
  end_workload_of(*b);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err() << b->process().err();
  expect_one_at_a_time();
}

TEST_P(ConsulInterop, EverybodyRunsOnceAndAlone) {
  std::vector<std::unique_ptr<member>> ours;
  std::vector<std::unique_ptr<program>> theirs;
  ours.push_back(tenure("a", ttl_beyond_patience));
  ASSERT_TRUE(runs_as(in_, "a")) << ours[0]->process().err();
  theirs.push_back(locked_stamper("x"));
  theirs.push_back(locked_stamper("y"));
  ASSERT_TRUE(foreign_sessions_become(2));
  ours.push_back(tenure("b", ttl_beyond_patience));
  ASSERT_TRUE(eventually([&] { return ours[1]->process().said("holder=a"); }));
  std::size_t ran = 0;
  while (true) {
    ASSERT_TRUE(eventually([&] { return stamped_runs(in_).size() > ran; })) << ran;
    const auto runs = stamped_runs(in_);
    ran = runs.size();
    if (ran == 4) break;
    for (const auto& one : ours) {
      if (const auto workload = one->workload()) ::kill(*workload, SIGKILL);
    }
    for (const auto& one : theirs) end_command_of(*one);
  }
  expect_one_at_a_time();
}

// The semaphore ---------------------------------------------------------------------------------

TEST_P(ConsulInterop, WeShareASemaphoreWithConsulLock) {
  const auto x = locked_stamper("x", 2);
  ASSERT_TRUE(runs_as(in_, "x")) << x->err() << x->out();
  const auto a = tenure("a", ttl_beyond_patience, {"--slots", "2"});
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto b = tenure("b", ttl_beyond_patience, {"--slots", "2"});
  ASSERT_TRUE(eventually([&] { return b->process().said("holder"); })) << b->process().err();
  EXPECT_FALSE(b->workload());
  end_command_of(*x);
  ASSERT_TRUE(runs_as(in_, "b")) << b->process().err();
  EXPECT_TRUE(a->is_active());

  // a and b hold. When z contends, which looks as y does, y has long looked.
  const auto y = locked_stamper("y", 2);
  ASSERT_TRUE(contenders_become(3)) << y->err();
  const auto z = locked_stamper("z", 2);
  ASSERT_TRUE(contenders_become(4)) << z->err();
  EXPECT_FALSE(has_run("y"));
  end_workload_of(*a);
  ASSERT_TRUE(eventually([&] { return has_run("y") || has_run("z"); })) << y->err() << z->err();
  EXPECT_TRUE(b->is_active());
  end_workload_of(*b);
  ASSERT_TRUE(eventually([&] { return has_run("y") && has_run("z"); })) << y->err() << z->err();
  EXPECT_EQ(most_at_once(stamped_runs(in_)), 2U);
}

TEST_P(ConsulInterop, ConsulLockTakesTheSlotOfOursThatVanished) {
  const auto a = tenure("a", "2s", {"--slots", "2"});
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto x = locked_stamper("x", 2);
  ASSERT_TRUE(runs_as(in_, "x")) << x->err() << x->out();
  const auto y = locked_stamper("y", 2);
  ASSERT_TRUE(contenders_become(3)) << y->err();
  a->pull_the_plug();
  ASSERT_TRUE(runs_as(in_, "y")) << y->err() << y->out();
  EXPECT_THAT(cluster_->call("GET", lock_path).body, testing::HasSubstr("\"Limit\":2"));
  EXPECT_EQ(most_at_once(stamped_runs(in_)), 2U);
}

/// And the slot goes back to another of theirs when ours has vanished in turn.
TEST_P(ConsulInterop, WeTakeTheSlotOfConsulLockThatVanished) {
  auto x = locked_stamper("x", 2);
  ASSERT_TRUE(runs_as(in_, "x")) << x->err() << x->out();
  const std::string session_of_x = contenders().at(0).at("Session");
  const auto y = locked_stamper("y", 2);
  ASSERT_TRUE(runs_as(in_, "y")) << y->err() << y->out();
  const auto a = tenure("a", "2s", {"--slots", "2"});
  ASSERT_TRUE(eventually([&] { return a->process().said("holder"); })) << a->process().err();
  EXPECT_FALSE(a->workload());
  x.reset();
  // Its session would end by itself, up to 30 s later.
  EXPECT_EQ(cluster_->call("PUT", "/v1/session/destroy/" + session_of_x).status, 200);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();

  const auto z = locked_stamper("z", 2);
  ASSERT_TRUE(contenders_become(3)) << z->err();
  EXPECT_FALSE(has_run("z"));
  a->pull_the_plug();
  ASSERT_TRUE(runs_as(in_, "z")) << z->err() << z->out();
  EXPECT_EQ(most_at_once(stamped_runs(in_)), 2U);
}

TEST_P(ConsulInterop, AnotherNumberOfSlotsIsSaidAndNobodyHolds) {
  const auto x = locked_stamper("x", 2);
  ASSERT_TRUE(runs_as(in_, "x")) << x->err() << x->out();
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(eventually([&] { return a->process().said("does not campaign: "); }))
      << a->process().err();
  EXPECT_THAT(a->process().err(), testing::HasSubstr("has 2 in the store"));
  EXPECT_FALSE(a->workload());
}

}  // namespace
}  // namespace tenure::tests
