// A Lease that names us although it is not that of our term: an operator has applied an old backup
// of it, or has put its label on again.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using std::chrono::seconds;

class KubernetesEarlierTerm : public VirtualKubernetes {
 protected:
  /// An earlier run of "b" has held the second slot of two; this one holds the first.
  KubernetesEarlierTerm() {
    auto first = join(settings("a", seconds(60), 2));
    EXPECT_EQ(acquire(*first), "granted");
    const core::version others = held_.version;
    us_ = join(settings("b", seconds(60), 2));
    EXPECT_EQ(acquire(*us_), "granted");
    EXPECT_EQ(held_.slot, 1U);
    loop_.pass(seconds(1));
    earlier_ = held_;
    backup_ = api_.model().lease("db0.slot-1");
    release(*us_, earlier_.version);
    release(*first, others);
    us_ = join(settings("b", seconds(60), 2));
    us_->watch(core::election_index{0}, [this](const auto& what) {
      if (const auto* seen = std::get_if<core::observation>(&what)) shown_ = *seen;
    });
    EXPECT_EQ(acquire(*us_), "granted");
    EXPECT_EQ(held_.slot, 0U);
    loop_.pass(seconds(1));
  }

  void release(stores::store& who, core::version term) {
    std::string out;
    who.release(core::election_index{0}, term, {}, loop_.now() + seconds(1),
                [&](const auto& what) { out = words(what); });
    wait_for(out);
    EXPECT_EQ(out, "released");
  }

  void apply_backup() {
    api_.model().put("db0.slot-1", backup_["spec"]);
    api_.model().merge("db0.slot-1", {{"annotations", backup_["metadata"]["annotations"]},
                                      {"labels", backup_["metadata"]["labels"]}});
    api_.show();
    loop_.pass(seconds(1));
  }

  /// The versions that the watch shows as ours.
  [[nodiscard]] std::vector<core::version> ours() const {
    std::vector<core::version> out;
    for (const core::holder& one : shown_.holders) {
      if (one.ours) out.push_back(one.version);
    }
    return out;
  }

  [[nodiscard]] json spec_of_earlier() const { return api_.model().lease("db0.slot-1")["spec"]; }

  store_ptr us_;
  core::observation shown_;
  stores::grant earlier_;
  json backup_;
};

TEST_F(KubernetesEarlierTerm, DoesNotEndThePresentOne) {
  apply_backup();
  ASSERT_EQ(shown_.holders.size(), 2U);
  EXPECT_EQ(shown_.holders.front().version, earlier_.version);
  EXPECT_EQ(ours(), std::vector{held_.version});
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(renew(*us_), "renewed");
    loop_.pass(seconds(10));
  }
}

TEST_F(KubernetesEarlierTerm, IsNotRenewedSoThatItRunsOut) {
  auto other = join(settings("c", seconds(60), 2));
  apply_backup();
  EXPECT_EQ(renew(*us_), "renewed");
  EXPECT_EQ(acquire(*other), "refused");
  loop_.pass(seconds(50));
  EXPECT_EQ(renew(*us_), "renewed");
  EXPECT_EQ(spec_of_earlier(), backup_["spec"]);
  const stores::grant present = held_;
  loop_.pass(seconds(10));
  EXPECT_EQ(acquire(*other), "granted");
  EXPECT_EQ(held_.slot, 1U);
  held_ = present;
  EXPECT_EQ(renew(*us_), "renewed");
}

/// What runs by the present one is still to die. Who campaigns again has nothing that runs.
TEST_F(KubernetesEarlierTerm, IsTakenUpOnlyAfterThePresentOne) {
  const core::version present = held_.version;
  apply_backup();
  api_.model().remove("db0");
  api_.show();
  EXPECT_EQ(renew(*us_), "lost: revoked");
  EXPECT_EQ(ours(), std::vector<core::version>{});
  release(*us_, present);
  EXPECT_EQ(spec_of_earlier(), backup_["spec"]);
  EXPECT_EQ(acquire(*us_), "granted");
  EXPECT_EQ(held_.version, earlier_.version);
  release(*us_, earlier_.version);
  EXPECT_EQ(acquire(*us_), "granted");
  EXPECT_GT(held_.version, present);
}

/// As many hold as may.
TEST_F(KubernetesEarlierTerm, IsNotTakenUpInASlotThatIsNotOpen) {
  release(*us_, held_.version);
  auto other = join(settings("c", seconds(60)));
  ASSERT_EQ(acquire(*other), "granted");
  ASSERT_EQ(held_.slot, 0U);
  auto next = join(settings("b", seconds(60)));
  apply_backup();
  EXPECT_TRUE(acquire(*next).starts_with("unknown: the Lease of our lost term is still ours"));
  EXPECT_EQ(spec_of_earlier(), backup_["spec"]);
  loop_.pass(seconds(40));
  EXPECT_EQ(renew(*other), "renewed");
  loop_.pass(seconds(20));
  EXPECT_EQ(acquire(*next), "refused");
}

/// The reply to the write that took it was lost.
TEST_F(KubernetesEarlierTerm, ThatIsLostDoesNotHideTheNextOneInAnotherSlot) {
  api_.model().remove("db0");
  api_.show();
  EXPECT_EQ(renew(*us_), "lost: revoked");
  auto other = join(settings("c", seconds(60), 2));
  EXPECT_EQ(acquire(*other), "granted");
  ASSERT_EQ(held_.slot, 0U);
  api_.on("write", [this](const auto& what) {
    api_.truth(what);
    return std::nullopt;
  });
  EXPECT_TRUE(acquire(*us_).starts_with("unknown"));
  api_.repent();
  api_.show();
  loop_.pass(seconds(1));
  EXPECT_EQ(ours().size(), 1U);
  EXPECT_EQ(acquire(*us_), "granted");
  EXPECT_EQ(held_.slot, 1U);
}

}  // namespace
}  // namespace tenure::tests
