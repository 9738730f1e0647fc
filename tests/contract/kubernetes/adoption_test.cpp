// An agent that follows another under one guard, with another ttl, at a fake Kubernetes that loses
// replies.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

class KubernetesAdoption : public HostileKubernetes {
 protected:
  /// The next run of the agent "a".
  std::unique_ptr<member> run_with(std::chrono::seconds ttl) { return join(settings("a", 1, ttl)); }

  [[nodiscard]] int lasts() const { return fake_.lease("db0")["spec"]["leaseDurationSeconds"]; }
};

/// Until the next agent has its answer, the guard counts on the longer lease.
TEST_F(KubernetesAdoption, DoesNotShortenTheLeaseEvenIfItsReplyIsLost) {
  const stores::grant first = hold(*run_with(std::chrono::seconds(60)));
  auto next = run_with(std::chrono::seconds(5));
  fake_.on("write", [this](peer& to, const std::string& request) {
    fake_.truth(request);
    status("504 Gateway Timeout", status_json(504, "Timeout"))(to, request);
  });
  expect_unknown(words(next->acquire()));
  EXPECT_EQ(lasts(), 60);
  fake_.repent();
  const stores::grant adopted = hold(*next);
  EXPECT_EQ(adopted.version, first.version);
  EXPECT_EQ(adopted.ttl, std::chrono::seconds(5)) << "the agent counts on less than others do";
  EXPECT_EQ(lasts(), 60);
}

TEST_F(KubernetesAdoption, ShortensTheLeaseOnceARenewalWasAnswered) {
  hold(*run_with(std::chrono::seconds(60)));
  auto next = run_with(std::chrono::seconds(5));
  const stores::grant adopted = hold(*next);
  EXPECT_EQ(words(next->renew(term(adopted.version))), "renewed");
  EXPECT_EQ(lasts(), 60);
  fake_.on("write", status("500 So", status_json(500, "InternalError")));
  expect_unknown(words(next->renew(term(adopted.version))));
  fake_.repent();
  EXPECT_EQ(words(next->renew(term(adopted.version))), "renewed");
  EXPECT_EQ(lasts(), 5);
}

TEST_F(KubernetesAdoption, MakesTheLeaseLongerAtOnce) {
  hold(*run_with(std::chrono::seconds(5)));
  auto next = run_with(std::chrono::seconds(60));
  EXPECT_EQ(hold(*next).ttl, std::chrono::seconds(60));
  EXPECT_EQ(lasts(), 60);
}

/// Carried out late, the first one would take a slot beside that of the second.
TEST_F(VirtualKubernetes, ACampaignWithoutAnAnswerIsTriedAgainForTheSameSlot) {
  constexpr core::duration ttl = std::chrono::seconds(60);
  auto b = join(settings("b", ttl, 2));
  ASSERT_EQ(acquire(*b), "granted");
  auto a = join(settings("a", ttl, 2));
  api_.on("create", [](const auto&) -> std::optional<http::client_reply> { return std::nullopt; });
  EXPECT_THAT(acquire(*a), testing::StartsWith("unknown"));
  bool is_released = false;
  b->release(core::election_index{0}, held_.version, {.clean = true},
             loop_.now() + std::chrono::seconds(1), [&](const auto&) { is_released = true; });
  loop_.pass(std::chrono::seconds(1));
  ASSERT_TRUE(is_released);
  api_.repent();
  ASSERT_EQ(acquire(*a), "granted");
  EXPECT_EQ(held_.slot, 1U) << "the first is free, too";
}

}  // namespace
}  // namespace tenure::tests
