#include "runtime/order_relay.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>

#include "http/asio_loop.hpp"
#include "unit/runtime/unasked_store.hpp"

namespace tenure::runtime {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr core::election_index db{0};

/// A store of orders alone, which the test answers.
class store_of_orders final : public unasked_store {
 public:
  void leave_order(core::election_index, core::left_order what, core::time_point,
                   stores::handler<stores::order_outcome> done) override {
    left.push_back(what);
    leaving = std::move(done);
  }
  void answer_order(core::election_index, const std::string& id, core::order_reply reply,
                    core::time_point, stores::handler<stores::order_outcome> done) override {
    answers.emplace_back(id, reply);
    answering = std::move(done);
  }
  void drop_order(core::election_index, const std::string& id, core::time_point,
                  stores::handler<stores::order_outcome> done) override {
    dropped.push_back(id);
    dropping = std::move(done);
  }

  std::vector<core::left_order> left;
  std::vector<std::pair<std::string, core::order_reply>> answers;
  std::vector<std::string> dropped;
  stores::handler<stores::order_outcome> leaving;
  stores::handler<stores::order_outcome> answering;
  stores::handler<stores::order_outcome> dropping;
};

core::left_order resign_of(const std::string& member) {
  return {.wanted = {.what = core::order_action::resign, .member = member},
          .version = core::version{7}};
}

core::left_order order_for_me() {
  core::left_order out = resign_of("me");
  out.id = "1";
  return out;
}

core::left_order accepted(core::left_order what) {
  what.reply = core::order_reply{.accepted = true};
  return what;
}

struct scene {
  scene() { relay.begin(store); }

  void give(core::left_order what) {
    relay.give(db, std::move(what),
               [this](const api::control_result& result) { results.push_back(result); });
  }
  /// As the watch shows what was left, answered so.
  void show(std::optional<core::order_reply> reply) {
    core::left_order seen = store.left.back();
    seen.reply = std::move(reply);
    relay.seen(db, {seen});
  }
  [[nodiscard]] std::string code(std::size_t n = 0) const {
    return results.at(n) ? "" : results.at(n).error().why.code;
  }

  boost::asio::io_context io;
  http::asio_loop loop{io.get_executor()};
  store_of_orders store;
  std::optional<api::control_refusal> objection;
  std::vector<std::string> obeyed;
  std::function<void()> on_obey = [] {};
  order_relay relay{loop, "me",
                    [this](core::election_index, const core::left_order&) { return objection; },
                    [this](core::election_index, const core::left_order& what) {
                      on_obey();
                      obeyed.push_back(what.id);
                    },
                    std::chrono::milliseconds(1)};
  std::vector<api::control_result> results;
};

TEST(OrderRelay, WhatTheMemberSaysIsTheAnswer) {
  scene s;
  s.give(resign_of("b"));
  ASSERT_EQ(s.store.left.size(), 1U);
  s.store.leaving(stores::order_written{});
  s.show({});
  EXPECT_THAT(s.results, IsEmpty()) << "nobody has taken it";
  s.show(core::order_reply{.accepted = true});
  ASSERT_EQ(s.results.size(), 1U);
  ASSERT_TRUE(s.results[0]);
  EXPECT_EQ(s.results[0]->by, "b");
  EXPECT_THAT(s.store.dropped, IsEmpty()) << "the member may not have heard that its answer counts";
  s.show(core::order_reply{.accepted = true});
  EXPECT_EQ(s.results.size(), 1U) << "answered once";
}

TEST(OrderRelay, ARefusalIsPassedOnInTheWordsOfTheMember) {
  scene s;
  s.give(resign_of("b"));
  s.show(core::order_reply{.code = "not_holder", .message = "c does", .action = "ask c"});
  ASSERT_FALSE(s.results.at(0));
  EXPECT_EQ(s.results[0].error().status, 409U);
  EXPECT_EQ(s.results[0].error().why.message, "c does");
}

TEST(OrderRelay, EveryOrderHasAnIdOfItsOwn) {
  scene s;
  s.give(resign_of("b"));
  s.give(resign_of("b"));
  EXPECT_NE(s.store.left[0].id, s.store.left[1].id);
}

TEST(OrderRelay, WhatNobodyTakesIsTakenBackBeforeItIsSaidThatNothingIsDone) {
  scene s;
  s.give(resign_of("b"));
  s.store.leaving(stores::order_written{});
  s.io.run_one();  // its time is over
  EXPECT_THAT(s.results, IsEmpty());
  EXPECT_THAT(s.store.dropped, ElementsAre(s.store.left[0].id));
  s.store.dropping(stores::order_written{});
  EXPECT_EQ(s.code(), "no_taker");
  EXPECT_THAT(s.results[0].error().why.message, HasSubstr("nothing is done"));
}

TEST(OrderRelay, WhatWasTakenBeforeItIsTakenBackIsReportedAsItWasAnswered) {
  for (const bool obeyed : {true, false}) {
    scene s;
    s.give(resign_of("b"));
    s.store.leaving(stores::order_written{});
    s.io.run_one();  // its time is over, and the watch has not shown the answer
    s.store.dropping(stores::order_written{
        .done = false,
        .reply = obeyed ? core::order_reply{.accepted = true}
                        : core::order_reply{.code = "not_holder", .message = "c does"}});
    ASSERT_EQ(s.results.size(), 1U);
    ASSERT_EQ(s.results[0].has_value(), obeyed);
    if (obeyed) {
      EXPECT_EQ(s.results[0]->by, "b");
    } else {
      EXPECT_EQ(s.results[0].error().status, 409U);
      EXPECT_EQ(s.results[0].error().why.message, "c does");
    }
  }
}

TEST(OrderRelay, OfWhatIsNotInTheStoreAnyMoreNobodySaysThatNothingIsDone) {
  scene s;
  s.give(resign_of("b"));
  s.store.leaving(stores::order_written{});
  s.io.run_one();
  s.store.dropping(stores::order_written{.done = false});
  EXPECT_EQ(s.code(), "store_unknown");
  EXPECT_THAT(s.results[0].error().why.message, HasSubstr("it is not known whether"));
}

TEST(OrderRelay, WhatCannotBeTakenBackIsNeitherDoneNorNotDone) {
  scene s;
  s.give(resign_of("b"));
  s.io.run_one();
  s.store.dropping(stores::unknown{"connection refused"});
  EXPECT_EQ(s.code(), "store_unknown");
  EXPECT_THAT(s.results[0].error().why.message, HasSubstr("carries it out: connection refused"));
}

TEST(OrderRelay, AStoreThatDoesNotTakeTheOrderSaysSo) {
  scene s;
  s.give(resign_of("b"));
  s.store.leaving(stores::unknown{"permission denied"});
  EXPECT_EQ(s.code(), "store_unknown");
  EXPECT_THAT(s.results[0].error().why.message, HasSubstr("permission denied"));
}

TEST(OrderRelay, AnOrderForUsIsAnsweredFirstAndThenObeyedOnce) {
  scene s;
  core::left_order mine = order_for_me();
  s.relay.seen(db, {mine});
  s.relay.seen(db, {mine});
  ASSERT_EQ(s.store.answers.size(), 1U);
  EXPECT_TRUE(s.store.answers[0].second.accepted);
  EXPECT_THAT(s.obeyed, IsEmpty()) << "somebody else may have been first";
  s.store.answering(stores::order_written{});
  EXPECT_THAT(s.obeyed, ElementsAre("1"));
}

TEST(OrderRelay, WhoIsNotFirstOrDoesNotKnowDoesNotObey) {
  for (const stores::order_outcome& outcome :
       {stores::order_outcome(stores::order_written{.done = false}),
        stores::order_outcome(stores::unknown{"reset"})}) {
    scene s;
    s.relay.seen(db, {order_for_me()});
    s.store.answering(outcome);
    EXPECT_THAT(s.obeyed, IsEmpty());
  }
}

/// The client is told so at the same time, and the reply to the member may be late or lost.
TEST(OrderRelay, WhatTheWatchShowsAsAcceptedIsObeyedAtOnceAndOnce) {
  const core::left_order mine = order_for_me();
  for (const stores::order_outcome& outcome : {stores::order_outcome(stores::order_written{}),
                                               stores::order_outcome(stores::unknown{"reset"})}) {
    scene s;
    s.relay.seen(db, {mine});
    s.relay.seen(db, {accepted(mine)});
    EXPECT_THAT(s.obeyed, ElementsAre("1"));
    s.store.answering(outcome);
    s.relay.seen(db, {accepted(mine)});
    EXPECT_THAT(s.obeyed, ElementsAre("1"));
  }
}

TEST(OrderRelay, WhoDoesNotKnowObeysOnceTheWatchShowsThatTheAnswerCounts) {
  scene s;
  const core::left_order mine = order_for_me();
  s.relay.seen(db, {mine});
  s.store.answering(stores::unknown{"reset"});
  EXPECT_THAT(s.obeyed, IsEmpty());
  s.relay.seen(db, {accepted(mine)});
  s.relay.seen(db, {accepted(mine)});
  EXPECT_THAT(s.obeyed, ElementsAre("1"));
}

/// As a lease file that is replaced takes its orders along.
TEST(OrderRelay, WhatIsGoneBeforeItIsShownAsAcceptedIsNotObeyed) {
  scene s;
  s.relay.seen(db, {order_for_me()});
  s.relay.seen(db, {});
  s.store.answering(stores::unknown{"not done by its deadline"});
  EXPECT_THAT(s.obeyed, IsEmpty());
}

TEST(OrderRelay, WhoDoesNotKnowDoesNotObeyWhatWasRefusedInItsName) {
  scene s;
  core::left_order mine = order_for_me();
  s.relay.seen(db, {mine});
  s.store.answering(stores::unknown{"reset"});
  mine.reply = core::order_reply{.code = "stopping"};
  s.relay.seen(db, {mine});
  EXPECT_THAT(s.obeyed, IsEmpty());
}

/// Obeying makes the member give its lease up, which the watch shows without the order.
TEST(OrderRelay, AnOrderMayBeGoneWhileItIsObeyed) {
  scene s;
  const core::left_order mine = order_for_me();
  s.on_obey = [&s] { s.relay.seen(db, {}); };
  s.relay.seen(db, {mine});
  std::exchange(s.store.answering, nullptr)(stores::unknown{"reset"});
  s.relay.seen(db, {accepted(mine)});
  EXPECT_THAT(s.obeyed, ElementsAre("1"));
}

TEST(OrderRelay, AnObjectionIsTheAnswerAndNothingIsDone) {
  scene s;
  s.objection = api::control_refusal{.why = {.code = "not_holder", .message = "m", .action = "a"}};
  core::left_order mine = order_for_me();
  s.relay.seen(db, {mine});
  EXPECT_EQ(s.store.answers.at(0).second,
            (core::order_reply{.code = "not_holder", .message = "m", .action = "a"}));
  s.store.answering(stores::order_written{});
  EXPECT_THAT(s.obeyed, IsEmpty());
}

TEST(OrderRelay, OrdersForOthersAndThoseThatWereTakenAreLeftAlone) {
  scene s;
  core::left_order taken = resign_of("me");
  taken.id = "1";
  taken.reply = core::order_reply{.accepted = true};
  core::left_order other = resign_of("b");
  other.id = "2";
  s.relay.seen(db, {taken, other});
  EXPECT_THAT(s.store.answers, IsEmpty());
}

TEST(OrderRelay, AtTheEndWhoWaitsIsToldAndNothingIsTakenAnyMore) {
  scene s;
  s.give(resign_of("b"));
  s.relay.close();
  EXPECT_EQ(s.code(), "stopping");
  core::left_order mine = order_for_me();
  s.relay.seen(db, {mine});
  EXPECT_THAT(s.store.answers, IsEmpty());
  s.give(resign_of("b"));
  EXPECT_EQ(s.code(1), "stopping");
}

}  // namespace
}  // namespace tenure::runtime
