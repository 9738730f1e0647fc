// A Lease may be taken when it was not seen to change for as long as it lasts. Connections do not
// last that long.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;

class KubernetesContinuity : public VirtualKubernetes {
 protected:
  /// For how long a member waits for a dead holder's Lease; nothing: longer than three times that.
  std::optional<core::duration> waits_for(core::duration lasts) {
    auto a = join(settings("a", lasts));
    hold_as_another(lasts);
    const core::time_point begin = loop_.now();
    while (loop_.now() - begin < 3 * lasts) {
      if (acquire(*a) == "granted") return loop_.now() - begin;
      loop_.pass(lasts / 100);
    }
    return std::nullopt;
  }

  static auto about(core::duration time) {
    return testing::Optional(testing::AllOf(testing::Ge(time), testing::Le(time * 102 / 100)));
  }
};

TEST_F(KubernetesContinuity, ALeaseIsTakenOnceItHasRunOut) {
  EXPECT_THAT(waits_for(seconds(60)), about(seconds(60)));
}

TEST_F(KubernetesContinuity, ALongLeaseIsTakenThoughOldConnectionsAreCut) {
  api_.cut_old_after(minutes(6));
  EXPECT_THAT(waits_for(minutes(60)), about(minutes(60)));
}

TEST_F(KubernetesContinuity, ALeaseIsTakenThoughSilentConnectionsAreCut) {
  api_.cut_silent_after(seconds(50));
  EXPECT_THAT(waits_for(seconds(60)), about(seconds(60)));
  EXPECT_GT(api_.count("watch"), 3);
}

TEST_F(KubernetesContinuity, AWatchIsAskedForLongerThanALeaseLasts) {
  auto a = join(settings("a", minutes(60)));
  ASSERT_FALSE(api_.watched().empty());
  const std::string& target = api_.watched().front();
  EXPECT_GE(std::stoll(target.substr(target.find("timeoutSeconds=") + 15)), 3 * 3600);
}

/// A restored backup may show the state before the last renewal: whoever has missed that waits for
/// it, too.
TEST_F(KubernetesContinuity, ABreakStartsTheCountAnew) {
  auto a = join(settings("a", seconds(60)));
  hold_as_another(seconds(60));
  loop_.pass(seconds(5));
  api_.cut_watches();
  loop_.pass(seconds(58));
  EXPECT_EQ(acquire(*a), "refused");
  loop_.pass(seconds(3));
  EXPECT_EQ(acquire(*a), "granted");
}

/// Until the old one is known to have lived longer, it may have been dead before.
TEST_F(KubernetesContinuity, ABreakBesideASuccessorStartsTheCountAnew) {
  api_.cut_silent_after(minutes(60));
  auto a = join(settings("a", seconds(60)));
  hold_as_another(seconds(60));
  const std::size_t usual = api_.open_watches();
  while (api_.open_watches() == usual) loop_.pass(std::chrono::milliseconds(100));
  const core::time_point doubled = loop_.now();
  loop_.pass(seconds(1));
  api_.cut_watches(1);
  loop_.pass(seconds(58));
  EXPECT_EQ(acquire(*a), "refused");
  loop_.pass(seconds(4));
  EXPECT_EQ(acquire(*a), "granted");
  EXPECT_GE(loop_.now() - doubled, seconds(61));
}

TEST_F(KubernetesContinuity, ASuccessorThatIsRefusedEndsNothing) {
  auto a = join(settings("a", seconds(60)));
  hold_as_another(seconds(60));
  api_.on("watch", [](const auto&) { return virtual_reply(500, ""); });
  const int before = api_.count("watch");
  loop_.pass(seconds(59));
  EXPECT_GT(api_.count("watch"), before);
  EXPECT_LT(api_.count("watch"), before + 30) << "there is a pause";
  EXPECT_EQ(acquire(*a), "refused");
  loop_.pass(seconds(2));
  EXPECT_EQ(acquire(*a), "granted");
}

TEST_F(KubernetesContinuity, AChangeThatTwoStreamsShowIsShownOnce) {
  auto a = join(settings("a", seconds(60)));
  hold_as_another(seconds(60));
  std::vector<core::observation> seen;
  a->watch(core::election_index{0}, [&](auto what) {
    if (auto* shown = std::get_if<core::observation>(&what)) seen.push_back(*shown);
  });
  const std::size_t usual = api_.open_watches();
  while (api_.open_watches() == usual) loop_.pass(std::chrono::milliseconds(100));
  loop_.pass(seconds(1));
  const std::size_t before = seen.size();
  hold_as_another(seconds(60), 1);
  loop_.pass(std::chrono::milliseconds(10));
  ASSERT_EQ(seen.size(), before + 1);
  EXPECT_EQ(seen.back().expires_at, loop_.now() - std::chrono::milliseconds(10) + seconds(60));
}

/// Without a word, nobody would know why no member follows a dead holder.
TEST_F(KubernetesContinuity, ALeaseThatCannotBeTakenForBreaksIsSaid) {
  std::vector<stores::notice> noted;
  stores::setup with = settings("a", seconds(12));
  with.notes = [&](const stores::notice& what) { noted.push_back(what); };
  auto a = join(with);
  api_.cut_silent_after(seconds(8));
  hold_as_another(seconds(12));
  loop_.pass(seconds(20));
  EXPECT_TRUE(noted.empty()) << "it may yet last";
  loop_.pass(seconds(20));
  ASSERT_EQ(noted.size(), 1U) << "once";
  EXPECT_TRUE(noted.front().is_trouble);
  EXPECT_THAT(noted.front().text, testing::HasSubstr("the Lease db0 has not changed for longer"));
  hold_as_another(seconds(12), 1);
  loop_.pass(seconds(10));
  ASSERT_EQ(noted.size(), 2U);
  EXPECT_FALSE(noted.back().is_trouble);
}

/// Where nobody is waited for, a break costs nothing.
TEST_F(KubernetesContinuity, AWatchOfAFreeLeaseIsNotReplaced) {
  auto a = join(settings("a", seconds(60)));
  const int before = api_.count("watch");
  loop_.pass(minutes(4));
  EXPECT_EQ(api_.count("watch"), before);
}

TEST_F(KubernetesContinuity, AStandbyOfALivingHolderOnlyReplacesOldWatches) {
  auto a = join(settings("a", seconds(15)));
  const int before = api_.count("watch");
  for (int i = 0; i < 60; ++i) {
    hold_as_another(seconds(15), i % 10);
    loop_.pass(seconds(5));
  }
  EXPECT_EQ(api_.count("watch") - before, 1) << "in five minutes";
}

}  // namespace
}  // namespace tenure::tests
