// The version of a term, as other members see it.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

class KubernetesVersion : public VirtualKubernetes {
 protected:
  /// Of the holder, as a member sees it that comes now.
  core::version seen_by_a_newcomer() {
    auto who = join(settings("newcomer", seconds(60)));
    std::optional<core::observation> shown;
    who->watch(core::election_index{0}, [&](auto what) {
      if (auto* seen = std::get_if<core::observation>(&what)) shown = *seen;
    });
    loop_.pass(seconds(1));
    EXPECT_TRUE(shown && shown->holders.size() == 1);
    return shown ? shown->holders.front().version : core::no_version;
  }
};

TEST_F(KubernetesVersion, DoesNotGoBackThoughAnOperatorWritesBeforeTheFirstRenewal) {
  auto a = join(settings("a", seconds(60)));
  ASSERT_EQ(acquire(*a), "granted");
  loop_.pass(milliseconds(10));
  api_.model().merge("db0", {{"annotations", {{"note", "of an operator"}}}});
  EXPECT_EQ(seen_by_a_newcomer(), held_.version);
  EXPECT_EQ(renew(*a), "renewed");
  EXPECT_EQ(seen_by_a_newcomer(), held_.version);
}

TEST_F(KubernetesVersion, IsNotedByTheFirstRenewalIfThatWasNotPossibleBefore) {
  auto a = join(settings("a", seconds(60)));
  api_.on("write", [](const auto&) { return virtual_reply(500, ""); });
  ASSERT_EQ(acquire(*a), "granted");
  loop_.pass(milliseconds(10));
  api_.repent();
  api_.model().merge("db0", {{"annotations", {{"note", "of an operator"}}}});
  EXPECT_EQ(renew(*a), "renewed");
  EXPECT_EQ(seen_by_a_newcomer(), held_.version);
}

}  // namespace
}  // namespace tenure::tests
