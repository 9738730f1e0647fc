// Orders on the first Lease of an election.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::IsEmpty;
using testing::SizeIs;

class KubernetesOrder : public VirtualKubernetes {
 protected:
  KubernetesOrder() {
    holder_ = join(settings("a", seconds(60)));
    EXPECT_EQ(acquire(*holder_), "granted");
    holder_->watch(core::election_index{0}, [this](const auto& what) { note(what, seen_); });
    loop_.pass(seconds(1));
  }

  static void note(const std::variant<core::observation, stores::unknown>& what,
                   core::observation& in) {
    if (const auto* seen = std::get_if<core::observation>(&what)) in = *seen;
  }

  /// An order of "b" to pause "a".
  static core::left_order order(const std::string& id) {
    return {.id = id, .wanted = {.what = core::order_action::pause, .member = "a"}};
  }

  std::string leave(stores::store& who, const core::left_order& what) {
    std::string out;
    who.leave_order(core::election_index{0}, what, loop_.now() + seconds(1),
                    [&](const stores::order_outcome& came) {
                      const auto* written = std::get_if<stores::order_written>(&came);
                      out = written != nullptr && written->done ? "done" : "not done";
                    });
    wait_for(out);
    loop_.pass(seconds(1));
    return out;
  }

  [[nodiscard]] bool is_on_the_lease(const std::string& id) const {
    return api_.model().lease("db0")["metadata"]["annotations"].contains("tenure.dev/order-" + id);
  }

  store_ptr holder_;
  core::observation seen_;
};

/// Roles often give the right to make Leases, which cannot be limited to names.
TEST_F(KubernetesOrder, IsNotTakenFromALeaseThatSomebodyMakes) {
  api_.model().put("db0.order-1f", json::object());
  api_.model().merge("db0.order-1f", {{"labels", {{"tenure.dev/election", "db0"}}},
                                      {"annotations",
                                       {{"tenure.dev/order", "pause a 0 * *"},
                                        {"tenure.dev/order-1f", "1769860800000 pause a 0 * *"}}}});
  api_.show();
  loop_.pass(seconds(1));
  EXPECT_THAT(seen_.orders, IsEmpty());
}

TEST_F(KubernetesOrder, IsTakenOffByTheHolderWhenNobodyShowsItAnyMore) {
  auto sender = join(settings("b", seconds(60)));
  EXPECT_EQ(leave(*sender, order("1f")), "done");
  ASSERT_THAT(seen_.orders, SizeIs(1));
  loop_.pass(seconds(5));
  EXPECT_THAT(seen_.orders, IsEmpty());
  EXPECT_EQ(renew(*holder_), "renewed");
  EXPECT_TRUE(is_on_the_lease("1f")) << "its sender may still ask for the answer";
  loop_.pass(seconds(5));
  EXPECT_EQ(renew(*holder_), "renewed");
  EXPECT_FALSE(is_on_the_lease("1f"));
}

/// A member that comes later reads the order in a list.
TEST_F(KubernetesOrder, IsOldForAMemberThatComesLongAfterIt) {
  auto sender = join(settings("b", seconds(60)));
  EXPECT_EQ(leave(*sender, order("1f")), "done");
  const auto shown_to_newcomer = [&](const std::string& name) {
    auto newcomer = join(settings(name, seconds(60)));
    core::observation seen;
    newcomer->watch(core::election_index{0}, [&](const auto& what) { note(what, seen); });
    loop_.pass(seconds(1));
    return seen.orders.size();
  };
  EXPECT_EQ(shown_to_newcomer("c"), 1U);
  loop_.pass(seconds(8));
  EXPECT_EQ(shown_to_newcomer("d"), 0U);
}

TEST_F(KubernetesOrder, CanBeLeftBeforeAnybodyHasHeld) {
  api_.model().remove("db0");
  api_.show();
  loop_.pass(seconds(1));
  auto sender = join(settings("b", seconds(60)));
  EXPECT_EQ(leave(*sender, order("1f")), "done");
  EXPECT_TRUE(is_on_the_lease("1f"));
  EXPECT_EQ(acquire(*sender), "granted");
}

/// Each order changes the Lease, on which a renewal relies.
TEST_F(KubernetesOrder, DoesNotEndATermThatIsRenewedMeanwhile) {
  auto sender = join(settings("b", seconds(60)));
  for (int i = 0; i < 5; ++i) {
    EXPECT_EQ(leave(*sender, order(std::to_string(i))), "done");
    EXPECT_EQ(renew(*holder_), "renewed");
  }
  EXPECT_THAT(seen_.holders, SizeIs(1));
}

}  // namespace
}  // namespace tenure::tests
