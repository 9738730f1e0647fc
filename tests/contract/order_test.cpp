// What agents leave for each other: orders that are taken once, or not at all.

#include <gmock/gmock.h>

#include <algorithm>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using stores::grant;

const core::left_order resign{
    .id = "order-1",
    .wanted = {.what = core::order_action::resign, .member = "b c%", .aside = 1500ms, .heir = "d"},
    .version = core::version{42}};

/// True of an observation with this order, answered so.
auto has_order(core::left_order what, std::optional<core::order_reply> reply = {}) {
  what.reply = std::move(reply);
  return [what](const core::observation& seen) {
    return seen.orders == std::vector<core::left_order>{what};
  };
}
const auto no_order = [](const core::observation& seen) { return seen.orders.empty(); };

TEST_P(StoreContract, AnOrderIsShownToEveryWatchAndSoIsItsAnswer) {
  auto a = join(settings("a"));
  auto b = join(settings("b c%"));
  const auto seen_by_a = a->watch();
  const auto seen_by_b = b->watch();
  ASSERT_TRUE(loop_.run_until([&] { return seen_by_b->shows(no_order); }));
  EXPECT_TRUE(a->leave_order(resign));
  ASSERT_TRUE(loop_.run_until([&] { return seen_by_b->shows(has_order(resign)); }));
  const core::order_reply no{.code = "not_holder", .message = "b does not hold it", .action = "-"};
  EXPECT_TRUE(b->answer_order(resign.id, no));
  ASSERT_TRUE(loop_.run_until([&] { return seen_by_a->shows(has_order(resign, no)); }));
  EXPECT_THAT(seen_by_b->broken, testing::IsEmpty());
}

TEST_P(StoreContract, AnOrderIsAnsweredOnce) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  auto twin = join(settings("b"));
  const auto seen_by_b = b->watch();
  const auto seen_by_twin = twin->watch();
  EXPECT_TRUE(a->leave_order(resign));
  for (const auto& one : {seen_by_b, seen_by_twin}) {
    ASSERT_TRUE(loop_.run_until([&] { return one->shows(has_order(resign)); }));
  }
  const core::order_reply yes{.accepted = true};
  EXPECT_TRUE(b->answer_order(resign.id, yes));
  EXPECT_FALSE(twin->answer_order(resign.id, yes));
}

TEST_P(StoreContract, AnOrderThatWasDroppedIsAnsweredByNobody) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto seen_by_b = b->watch();
  EXPECT_TRUE(a->leave_order(resign));
  ASSERT_TRUE(loop_.run_until([&] { return seen_by_b->shows(has_order(resign)); }));
  const auto dropped = a->drop_order(resign.id);
  EXPECT_TRUE(dropped.done);
  EXPECT_FALSE(dropped.reply);
  ASSERT_TRUE(loop_.run_until([&] { return seen_by_b->shows(no_order); }));
  EXPECT_FALSE(b->answer_order(resign.id, {.accepted = true}));
  EXPECT_FALSE(a->drop_order(resign.id).done) << "it is gone";
}

TEST_P(StoreContract, AnOrderThatWasAnsweredIsNotDroppedAndHasItsAnswer) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto seen_by_b = b->watch();
  const core::order_reply yes{.accepted = true};
  const core::order_reply no{.code = "not_holder", .message = "b does \x1b[2J", .action = "- %"};
  const core::order_reply no_as_shown{
      .code = "not_holder", .message = "b does \ufffd[2J", .action = "- %"};
  core::left_order order = resign;
  for (const auto& [given, shown] : {std::pair(yes, yes), std::pair(no, no_as_shown)}) {
    order.id += "0";
    const auto is_shown = [&](const core::observation& seen) {
      return std::ranges::find(seen.orders, order.id, &core::left_order::id) != seen.orders.end();
    };
    EXPECT_TRUE(a->leave_order(order));
    ASSERT_TRUE(loop_.run_until([&] { return seen_by_b->shows(is_shown); }));
    EXPECT_TRUE(b->answer_order(order.id, given));
    const auto dropped = a->drop_order(order.id);
    EXPECT_FALSE(dropped.done);
    EXPECT_EQ(dropped.reply, std::optional(shown));
    EXPECT_TRUE(is_shown(a->read())) << "b may have to find out whether its answer counts";
  }
}

/// As a request whose reply was lost is.
TEST_P(StoreContract, AnOrderThatIsLeftOnceMoreKeepsItsAnswer) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto seen_by_b = b->watch();
  EXPECT_TRUE(a->leave_order(resign));
  EXPECT_TRUE(a->leave_order(resign));
  ASSERT_TRUE(loop_.run_until([&] { return seen_by_b->shows(has_order(resign)); }));
  const core::order_reply yes{.accepted = true};
  EXPECT_TRUE(b->answer_order(resign.id, yes));
  EXPECT_TRUE(a->leave_order(resign));
  core::left_order other = resign;
  other.wanted.member = "c";
  EXPECT_FALSE(a->leave_order(other)) << "another one has its id";
  const auto dropped = a->drop_order(resign.id);
  EXPECT_FALSE(dropped.done);
  EXPECT_EQ(dropped.reply, std::optional(yes));
}

TEST_P(StoreContract, AnOrderThatNobodyTakesIsForgotten) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto seen_by_b = b->watch();
  EXPECT_TRUE(a->leave_order(resign));
  ASSERT_TRUE(loop_.run_until([&] { return seen_by_b->shows(has_order(resign)); }));
  ASSERT_TRUE(loop_.run_until([&] { return no_order(b->read()); }));
  EXPECT_FALSE(b->answer_order(resign.id, {.accepted = true}));
}

TEST_P(StoreContract, AnOrderChangesNothingOfTheLeaseAndIsOfItsElectionAlone) {
  auto a = join(settings("a", 10s, 1, 2));
  auto b = join(settings("b", 10s, 1, 2));
  const grant held = a->hold(0);
  EXPECT_TRUE(b->leave_order(resign));
  const core::observation seen = b->read(0);
  EXPECT_TRUE(has_order(resign)(seen));
  ASSERT_EQ(seen.holders.size(), 1U);
  EXPECT_EQ(seen.holders[0].version, held.version);
  EXPECT_THAT(b->read(1).orders, testing::IsEmpty());
  const auto renewed = a->renew(only(held.version));
  ASSERT_TRUE(std::holds_alternative<stores::renewal>(renewed));
  EXPECT_THAT(std::get<stores::renewal>(renewed).lost, testing::IsEmpty());
  ASSERT_TRUE(std::holds_alternative<stores::refusal>(b->acquire(0)));
}

}  // namespace
}  // namespace tenure::tests
