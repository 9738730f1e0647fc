#include "settings/mistake.hpp"

#include <gtest/gtest.h>

namespace tenure::settings {
namespace {

TEST(Mistake, QuotesAreCutBeforeALongValueFillsTheLog) {
  EXPECT_EQ(quote(std::string(80, 'a')), '"' + std::string(80, 'a') + '"');
  EXPECT_EQ(quote(std::string(81, 'a')), '"' + std::string(80, 'a') + "...\"");
}

TEST(Mistake, QuotesAreNotCutInsideACharacter) {
  EXPECT_EQ(quote(std::string(79, 'a') + "\u00e9"), '"' + std::string(79, 'a') + "...\"");
}

TEST(Mistake, QuotesCannotBreakTheLineOrTheTerminal) {
  EXPECT_EQ(quote("a\nb\x1b[31m\"\\"), R"("a\nb\u001b[31m\"\\")");
}

TEST(Mistake, BytesThatAreNotUtf8AndHiddenCharactersAreEscaped) {
  EXPECT_EQ(quote("d\xc3"), R"("d\ufffd")");
  EXPECT_EQ(quote(std::string(79, 'a') + "\xc3\xc3"), '"' + std::string(79, 'a') + R"(\ufffd...")");
  EXPECT_EQ(quote("\u202e\u00e9"), "\"\\u202e\u00e9\"");
}

TEST(Mistake, IsASentenceWithItsSuggestion) {
  EXPECT_EQ(text({"is empty", "give a URL"}), "is empty; give a URL");
  EXPECT_EQ(text({"is empty", ""}), "is empty");
}

}  // namespace
}  // namespace tenure::settings
