#include "config/problem.hpp"

#include <gtest/gtest.h>

#include <array>

#include "config/suggest.hpp"

namespace tenure::config {
namespace {

TEST(Problem, IsOneLineWithPlaceAndSuggestion) {
  EXPECT_EQ(render({"tenure.yaml:3:7", R"(unknown setting "tll")", R"(did you mean "ttl"?)"}),
            R"(tenure.yaml:3:7: unknown setting "tll"; did you mean "ttl"?)");
  EXPECT_EQ(render({"", "store is missing", ""}), "store is missing");
}

TEST(Problem, StaysOnOneLineWhateverIsInIt) {
  EXPECT_EQ(render({"a\nb.yaml:1:1", "x\r", "\x1b[2J"}), R"(a\nb.yaml:1:1: x\r; \u001b[2J)");
}

TEST(Suggest, FindsWhatWasMeant) {
  constexpr std::array<std::string_view, 5> known{"ttl", "kill_budget", "slots", "drift", "drain"};
  struct row {
    const char* given;
    const char* meant;
  };
  for (const row& r : {
           row{"tll", "ttl"},
           row{"tl", "ttl"},
           row{"TTL", "ttl"},
           row{"kill-budget", "kill_budget"},
           row{"killBudget", "kill_budget"},
           row{"kilbudget", "kill_budget"},
           row{"slot", "slots"},
           row{"solts", "slots"},
           row{"drian", "drain"},
           row{"timeout", ""},
           row{"", ""},
           row{"x", ""},
       }) {
    EXPECT_EQ(closest(r.given, known), r.meant) << r.given;
  }
  EXPECT_EQ(closest(std::string(1'000'000, 't'), known), "") << "must not be compared at all";
}

}  // namespace
}  // namespace tenure::config
