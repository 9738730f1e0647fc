#include "base/percent_text.hpp"

#include <gtest/gtest.h>

namespace tenure::http {
namespace {

TEST(PercentText, EncodesWhatMeansSomethingInPathsAndQueries) {
  EXPECT_EQ(base::percent_encoded("team/db 1&a=\xc3\xa9"), "team%2Fdb%201%26a%3D%C3%A9");
  EXPECT_EQ(base::percent_encoded("team/db 1", "/"), "team/db%201");
}

TEST(PercentText, DecodesWhatItEncodes) {
  EXPECT_EQ(base::percent_decoded("team%2Fdb%201%26a%3d%C3%A9"), "team/db 1&a=\xc3\xa9");
  EXPECT_EQ(base::percent_decoded("%00"), std::string(1, '\0'));
}

TEST(PercentText, RefusesAPercentSignWithoutTwoHexadecimalDigits) {
  for (const char* text : {"%", "%4", "%4g", "%g4", "%+4", "% 4", "a%"}) {
    EXPECT_EQ(base::percent_decoded(text), std::nullopt) << text;
  }
}

}  // namespace
}  // namespace tenure::http
