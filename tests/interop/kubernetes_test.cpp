// client-go's leaderelection, in a program of our own (tests/servers/kubernetes-today/elector), and
// `tenure exec` on one Lease.

#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness.hpp"
#include "servers/kubernetes_server.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

constexpr const char* ttl_beyond_patience = "10m";

class KubernetesInterop : public ::testing::TestWithParam<servers::server_release> {
 protected:
  void SetUp() override {
    if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
    if (::access(ELECTOR, X_OK) != 0) {
      GTEST_SKIP() << "there is no " << ELECTOR << ": `./dev test` without --quick builds it";
    }
    server_ = &servers::shared_kubernetes_server(GetParam());
    name_space_ = server_->add_name_space("interop");
    user_ = server_->add_user("member", {.name_space = name_space_}, name_space_);
  }

  /// No two workloads ever overlapped.
  void expect_one_at_a_time() const {
    const auto runs = stamped_runs(in_);
    EXPECT_TRUE(never_two_at_once(runs));
    EXPECT_TRUE(versions_grow(runs));
  }

  std::unique_ptr<member> tenure(const std::string& identity, const std::string& ttl,
                                 std::vector<std::string> more = {},
                                 std::vector<std::string> command = {}) const {
    more.insert(more.end(), {"--ca-file", server_->ca_file(), "--token-file", user_.token_file,
                             "--namespace", name_space_});
    return std::make_unique<member>(in_, member::options{.identity = identity,
                                                         .ttl = ttl,
                                                         .store = "kubernetes",
                                                         .endpoint = server_->endpoint(0),
                                                         .more = std::move(more),
                                                         .command = std::move(command)});
  }

  /// Its command survives SIGTERM until its drain time is over.
  std::unique_ptr<member> stubborn_tenure(const std::string& identity,
                                          const std::string& ttl) const {
    return tenure(identity, ttl, {"--drain", "300ms"}, {stamper_binary(), in_.path(), "stubborn"});
  }

  std::unique_ptr<program> elector(const std::string& identity,
                                   const std::string& lease_duration = "10m") const {
    const bool is_short = lease_duration == "3s";
    return std::make_unique<program>(
        std::vector<std::string>{
            ELECTOR, "-server=" + server_->endpoint(0), "-ca-file=" + server_->ca_file(),
            "-token-file=" + user_.token_file, "-namespace=" + name_space_, "-name=test",
            "-id=" + identity, "-lease-duration=" + lease_duration,
            std::string("-renew-deadline=") + (is_short ? "2s" : "5m"), "-retry-period=200ms",
            stamper_binary(), in_.path()},
        in_ / identity);
  }

  [[nodiscard]] json lease() const {
    return json::parse(
        server_
            ->call("GET", "/apis/coordination.k8s.io/v1/namespaces/" + name_space_ + "/leases/test")
            .body);
  }

  temporary_directory in_;
  servers::kubernetes_server* server_ = nullptr;
  std::string name_space_;
  servers::kubernetes_user user_;
};

INSTANTIATE_TEST_SUITE_P(On, KubernetesInterop, ::testing::ValuesIn(servers::kubernetes_releases()),
                         [](const auto& one) { return "kubernetes_" + one.param.name; });

TEST_P(KubernetesInterop, OursWaitsForTheReleaseOfAGoProgram) {
  const auto other = elector("other");
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  const auto a = tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(eventually([&] { return a->process().said("holder=other"); })) << a->process().err();
  EXPECT_FALSE(a->workload());
  other->send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  expect_one_at_a_time();
}

TEST_P(KubernetesInterop, AGoProgramWaitsForTheDrainOfWhatWeStop) {
  const auto a = stubborn_tenure("a", ttl_beyond_patience);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = elector("other");
  ASSERT_TRUE(eventually([&] { return other->said("leader=a_tenure-"); })) << other->err();
  a->process().send(SIGTERM);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err() << a->process().err();
  expect_one_at_a_time();
}

TEST_P(KubernetesInterop, OursFollowsAGoProgramThatHasVanished) {
  const auto other = elector("other", "3s");
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  const auto a = tenure("a", "3s");
  ASSERT_TRUE(eventually([&] { return a->process().said("holder=other"); })) << a->process().err();
  other->send(SIGKILL);
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  expect_one_at_a_time();
}

TEST_P(KubernetesInterop, AGoProgramFollowsUsWhenAllOfUsHasVanished) {
  const auto a = tenure("a", "3s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = elector("other", "3s");
  ASSERT_TRUE(eventually([&] { return other->said("leader=a_tenure-"); })) << other->err();
  a->pull_the_plug();
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  expect_one_at_a_time();
}

TEST_P(KubernetesInterop, AFrozenAgentsCommandIsDeadWhenAGoProgramLeads) {
  const auto a = stubborn_tenure("a", "3s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = elector("other", "3s");
  ASSERT_TRUE(eventually([&] { return other->said("leader=a_tenure-"); })) << other->err();
  const auto agent = a->agent();
  ASSERT_TRUE(agent);
  ::kill(*agent, SIGSTOP);
  ASSERT_TRUE(runs_as(in_, "other")) << other->err();
  expect_one_at_a_time();
}

/// A term that is renewed for longer than its lease lasts is never taken.
TEST_P(KubernetesInterop, AGoProgramSeesOurRenewals) {
  const auto a = tenure("a", "3s");
  ASSERT_TRUE(runs_as(in_, "a")) << a->process().err();
  const auto other = elector("other", "3s");
  ASSERT_TRUE(eventually([&] { return other->said("leader=a_tenure-"); })) << other->err();
  const std::string first = lease().at("spec").at("renewTime");
  const auto begin = stamped_runs(in_).back().last;
  constexpr std::int64_t three_leases = 9'000'000'000;
  ASSERT_TRUE(eventually([&] { return stamped_runs(in_).back().last > begin + three_leases; }));
  EXPECT_EQ(stamped_runs(in_).size(), 1U) << other->err();
  EXPECT_GT(lease().at("spec").at("renewTime"), first);
  EXPECT_EQ(lease().at("spec").at("leaseTransitions"), 0);
}

TEST_P(KubernetesInterop, EverybodyRunsOnceAndAlone) {
  std::vector<std::unique_ptr<member>> ours;
  std::vector<std::unique_ptr<program>> theirs;
  ours.push_back(tenure("a", ttl_beyond_patience));
  ASSERT_TRUE(runs_as(in_, "a")) << ours[0]->process().err();
  theirs.push_back(elector("x"));
  theirs.push_back(elector("y"));
  for (const auto& one : theirs) {
    ASSERT_TRUE(eventually([&] { return one->said("leader=a_tenure-"); })) << one->err();
  }
  ours.push_back(tenure("b", ttl_beyond_patience));
  ASSERT_TRUE(eventually([&] { return ours[1]->process().said("holder=a"); }));
  std::size_t ran = 0;
  while (true) {
    ASSERT_TRUE(eventually([&] { return stamped_runs(in_).size() > ran; })) << ran;
    const auto runs = stamped_runs(in_);
    ran = runs.size();
    if (ran == 4) break;
    // Whoever runs ends.
    for (const auto& one : ours) {
      if (const auto workload = one->workload()) ::kill(*workload, SIGKILL);
    }
    for (const auto& one : theirs) {
      if (!children_of(one->pid()).empty()) one->send(SIGTERM);
    }
  }
  expect_one_at_a_time();
  EXPECT_EQ(lease().at("spec").at("leaseTransitions"), 3);
}

}  // namespace
}  // namespace tenure::tests
