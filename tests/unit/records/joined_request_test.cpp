// Several callers of one request, with a clock that is moved by hand.
#include "stores/joined_request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/hand_loop.hpp"

namespace tenure::stores {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;

class JoinedRequest : public testing::Test {
 protected:
  ~JoinedRequest() override { request_.close(); }

  void join(const std::string& who, core::duration within) {
    request_.join(loop_.now() + within, [this, who](const std::expected<int, unknown>& what) {
      told_.push_back(who + (what ? " " + std::to_string(*what) : " nothing"));
    });
  }

  tests::hand_loop loop_;
  const core::time_point start_ = loop_.now();
  std::vector<core::duration> sent_;  ///< the deadlines of the requests, from the start
  std::vector<std::string> told_;
  joined_request<int> request_{
      loop_, [this](core::time_point deadline) { sent_.push_back(deadline - start_); }};
};

TEST_F(JoinedRequest, IsOneForAllWhoComeWhileItIsUnderWay) {
  join("a", 5s);
  join("b", 9s);
  EXPECT_THAT(sent_, ElementsAre(5s));
  request_.answer(7);
  EXPECT_THAT(told_, ElementsAre("a 7", "b 7"));
  join("c", 5s);
  EXPECT_EQ(sent_.size(), 2U);
}

TEST_F(JoinedRequest, ThatFailsIsMadeAgainForThoseThatJoined) {
  join("a", 1s);
  join("b", 9s);
  join("c", 8s);
  loop_.pass(999ms);
  request_.answer(std::unexpected(unknown{"too late"}));
  EXPECT_THAT(told_, ElementsAre("a nothing"));
  EXPECT_THAT(sent_, ElementsAre(1s, 9s));
  request_.answer(3);
  EXPECT_THAT(told_, ElementsAre("a nothing", "b 3", "c 3"));
}

TEST_F(JoinedRequest, ThatFailsAgainIsNotMadeWithoutEnd) {
  join("a", 1s);
  join("b", 9s);
  request_.answer(std::unexpected(unknown{"no"}));
  request_.answer(std::unexpected(unknown{"no"}));
  EXPECT_THAT(told_, ElementsAre("a nothing", "b nothing"));
  EXPECT_EQ(sent_.size(), 2U);
}

TEST_F(JoinedRequest, IsWaitedForNoLongerThanEachHasTime) {
  join("a", 9s);
  join("b", 2s);
  loop_.pass(1999ms);
  EXPECT_THAT(told_, IsEmpty());
  loop_.pass(1ms);
  EXPECT_THAT(told_, ElementsAre("b nothing"));
  request_.answer(4);
  EXPECT_THAT(told_, ElementsAre("b nothing", "a 4"));
}

TEST_F(JoinedRequest, MayBeJoinedFromWithinAnAnswer) {
  request_.join(loop_.now() + 5s, [this](const auto&) { join("again", 6s); });
  request_.answer(1);
  EXPECT_THAT(sent_, ElementsAre(5s, 6s));
  request_.answer(2);
  EXPECT_THAT(told_, ElementsAre("again 2"));
}

TEST_F(JoinedRequest, ThatIsClosedAnswersNobody) {
  join("a", 5s);
  request_.close();
  loop_.pass(9s);
  EXPECT_THAT(told_, IsEmpty());
}

}  // namespace
}  // namespace tenure::stores
