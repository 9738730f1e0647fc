#include "core/backoff.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <limits>

namespace tenure::core {
namespace {

using namespace std::chrono_literals;

constexpr backoff pauses{.first = 100ms, .most = 3s};

TEST(Backoff, HalfOfTheStepIsFixedAndHalfIsDrawn) {
  EXPECT_EQ(pauses.after(1, 0), 50ms);
  EXPECT_EQ(pauses.after(1, 50'000'000), 100ms);
  EXPECT_EQ(pauses.after(1, 50'000'001), 50ms) << "the draw wraps round";
}

TEST(Backoff, StepDoublesWithEveryFailureInARow) {
  EXPECT_EQ(pauses.after(2, 0), 100ms);
  EXPECT_EQ(pauses.after(3, 0), 200ms);
  EXPECT_EQ(pauses.after(4, 0), 400ms);
}

TEST(Backoff, IsNeverLongerThanTheMost) {
  for (std::uint32_t failures = 1; failures < 100; ++failures) {
    for (const std::uint64_t bits : {std::uint64_t{0}, std::uint64_t{1'499'999'999},
                                     std::numeric_limits<std::uint64_t>::max()}) {
      EXPECT_LE(pauses.after(failures, bits), 3s);
      EXPECT_GE(pauses.after(failures, bits), 50ms);
    }
  }
}

TEST(Backoff, ManyFailuresDoNotOverflow) {
  EXPECT_EQ(pauses.after(std::numeric_limits<std::uint32_t>::max(), 0), 1500ms);
}

TEST(Backoff, NoFailureCountsAsTheFirst) {
  EXPECT_EQ(pauses.after(0, 0), pauses.after(1, 0));
}

TEST(Backoff, StepOfOneNanosecondIsNotDividedByZero) {
  constexpr backoff shortest{.first = 1ns, .most = 1ns};
  EXPECT_LE(shortest.after(1, 7), 1ns);
}

}  // namespace
}  // namespace tenure::core
