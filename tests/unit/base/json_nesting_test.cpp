#include "base/json_nesting.hpp"

#include <gtest/gtest.h>

#include <string>

namespace tenure::base {
namespace {

TEST(JsonNesting, CountsWhatIsOpenAtATime) {
  EXPECT_FALSE(nests_deeper(R"({"a":[1,[2]],"b":[[3]]})", 3));
  EXPECT_TRUE(nests_deeper(R"({"a":[1,[2]],"b":[[3]]})", 2));
  EXPECT_FALSE(nests_deeper("[][][][]", 1)) << "one after the other is not nested";
  EXPECT_FALSE(nests_deeper("", 0));
}

TEST(JsonNesting, BracketsInTextAreText) {
  EXPECT_FALSE(nests_deeper(R"(["[[[[", "\"[[[[", "\\"])", 1));
  EXPECT_TRUE(nests_deeper(R"(["\\",[]])", 1)) << "the text ends before the second bracket";
}

TEST(JsonNesting, AMillionLevelsAreTooMany) {
  EXPECT_TRUE(nests_deeper(std::string(1'000'000, '[')));
  EXPECT_FALSE(nests_deeper(std::string(1'000'000, ']')));
}

}  // namespace
}  // namespace tenure::base
