// Which namesakes in a list of members live, with a clock that is moved by hand.
#include "stores/namesakes.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "support/hand_loop.hpp"

namespace tenure::stores {
namespace {

using namespace std::chrono_literals;

constexpr core::election_index db{0};

class Namesakes : public testing::Test {
 protected:
  ~Namesakes() override { all_.close(); }

  void see(std::vector<namesake> shown, bool is_listed = true, bool missed = false) {
    all_.see(db, shown, is_listed, missed);
    loop_.run();
  }
  /// The first list has one that is another run of ours, living or not.
  void find_one() { see({{.key = "k", .answers = 0}}, true, true); }

  tests::hand_loop loop_;
  int answers_ = 0;
  int changes_ = 0;
  namesakes all_{loop_,
                 1,
                 {.answer = [this](core::election_index) { ++answers_; },
                  .changed = [this](core::election_index) { ++changes_; }}};
};

TEST_F(Namesakes, ThatDoNotAnswerAreOver) {
  find_one();
  EXPECT_EQ(answers_, 1) << "it may live, and wait for us";
  loop_.pass(namesake_doubt - 1ms);
  EXPECT_FALSE(all_.is_over("k"));
  loop_.pass(1ms);
  EXPECT_TRUE(all_.is_over("k"));
  EXPECT_EQ(changes_, 1);
}

TEST_F(Namesakes, ThatAnswerLive) {
  find_one();
  loop_.pass(1s);
  see({{.key = "k", .answers = 1}});
  loop_.pass(60s);
  EXPECT_FALSE(all_.is_over("k"));
  EXPECT_EQ(changes_, 0);
  EXPECT_EQ(answers_, 1) << "an answer is not answered";
}

/// One that has come later has lost sight of us, and asks whether we live.
TEST_F(Namesakes, ThatHaveComeLaterAreAnsweredWheneverTheyAsk) {
  for (const bool is_later : {false, true}) {
    answers_ = 0;
    see({{.key = "k", .answers = 0, .is_later = is_later}});
    ASSERT_EQ(answers_, 1);
    see({{.key = "k", .answers = 1, .is_later = is_later}});
    see({{.key = "k", .answers = 1, .is_later = is_later}});
    see({{.key = "k", .answers = 2, .is_later = is_later}});
    EXPECT_EQ(answers_, is_later ? 3 : 1);
    see({});
  }
}

TEST_F(Namesakes, ThatAnswerLateLiveAgain) {
  find_one();
  loop_.pass(3s);
  ASSERT_TRUE(all_.is_over("k"));
  see({{.key = "k", .answers = 1}});
  EXPECT_FALSE(all_.is_over("k"));
}

TEST_F(Namesakes, ThatComeWhileWeWatchLive) {
  see({{.key = "k", .answers = 0}});
  loop_.pass(60s);
  EXPECT_FALSE(all_.is_over("k"));
}

/// What it says of itself is written after its name, and is no answer.
TEST_F(Namesakes, AreNotSeenToLiveByTheFirstThatTheySay) {
  see({{.key = "k", .answers = {}}}, true, true);
  see({{.key = "k", .answers = 0}});
  loop_.pass(namesake_doubt);
  EXPECT_TRUE(all_.is_over("k"));
}

/// An operator has deleted what it said of itself.
TEST_F(Namesakes, ThatAnswerAndSaidNothingBeforeLive) {
  see({{.key = "k", .answers = {}}}, true, true);
  see({{.key = "k", .answers = 3}});
  loop_.pass(60s);
  EXPECT_FALSE(all_.is_over("k"));
}

TEST_F(Namesakes, OfAReleaseThatDoesNotAnswerLiveWhileTheyAreListed) {
  see({{.key = "k", .answers = {}}}, true, true);
  loop_.pass(60s);
  EXPECT_FALSE(all_.is_over("k"));
}

TEST_F(Namesakes, AreNotDoubtedBeforeTheyCanHaveSeenUs) {
  see({{.key = "k", .answers = 0}}, false, true);
  loop_.pass(60s);
  EXPECT_FALSE(all_.is_over("k"));
  see({{.key = "k", .answers = 0}});
  loop_.pass(namesake_doubt - 1ms);
  EXPECT_FALSE(all_.is_over("k"));
  loop_.pass(1ms);
  EXPECT_TRUE(all_.is_over("k"));
}

TEST_F(Namesakes, ThatWereSeenToLiveDoSoAcrossAGap) {
  see({{.key = "k", .answers = 0}});
  see({{.key = "k", .answers = 0}}, true, true);
  loop_.pass(60s);
  EXPECT_FALSE(all_.is_over("k"));
}

TEST_F(Namesakes, ThatAreListedNoMoreAreForgotten) {
  find_one();
  loop_.pass(3s);
  see({});
  EXPECT_FALSE(all_.is_over("k"));
  see({{.key = "k", .answers = 0}});
  EXPECT_FALSE(all_.is_over("k")) << "a key that comes while we watch";
  EXPECT_EQ(answers_, 2);
}

}  // namespace
}  // namespace tenure::stores
