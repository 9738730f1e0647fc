#include "log/repeats.hpp"

#include <gtest/gtest.h>

namespace tenure::log {
namespace {

constexpr core::time_point start{std::chrono::hours(1)};

TEST(Repeats, WordsAreSaidOnceAndThenNowAndAgainWithTheirNumber) {
  repeats said;
  EXPECT_EQ(said.let_through("refused", start), 0U);
  EXPECT_EQ(said.let_through("refused", start), std::nullopt);
  EXPECT_EQ(said.let_through("refused", start + repeats::say_again - core::duration(1)),
            std::nullopt);
  EXPECT_EQ(said.let_through("refused", start + repeats::say_again), 2U);
  EXPECT_EQ(said.let_through("refused", start + 2 * repeats::say_again), 0U);
}

TEST(Repeats, OtherWordsAreNews) {
  repeats said;
  said.let_through("refused", start);
  EXPECT_EQ(said.let_through("timed out", start), 0U);
}

TEST(Repeats, EndlesslyDifferentWordsTakeNoEndlessMemory) {
  repeats said;
  for (std::size_t i = 0; i < repeats::most_words; ++i) {
    said.let_through(std::to_string(i), start);
  }
  EXPECT_EQ(said.let_through("0", start), std::nullopt) << "all of these are remembered";
  EXPECT_EQ(said.let_through("one more", start), 0U);
  EXPECT_EQ(said.let_through("0", start), 0U) << "and then all are forgotten";
}

}  // namespace
}  // namespace tenure::log
