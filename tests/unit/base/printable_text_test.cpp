#include "base/printable_text.hpp"

#include <gmock/gmock.h>

#include <string>

namespace tenure::base {
namespace {

constexpr const char* unknown = "\xEF\xBF\xBD";

TEST(PrintableText, WhatCanBeSeenStaysAsItIs) {
  for (const std::string& text :
       {"", "db-1", "a b", "d\u00e9", "\u65e5\u672c", "\U0001f600", "\xEF\xBF\xBD"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(PrintableText, WhatSteersATerminalOrIsInvisibleIsReplaced) {
  for (const std::string& text :
       {std::string("\x1b"), std::string("\n"), std::string("\t"), std::string("\x7f"),
        std::string(1, '\0'), std::string("\u0085"), std::string("\u009b"), std::string("\u00ad"),
        std::string("\u200b"), std::string("\u2028"), std::string("\u202e"), std::string("\u2066"),
        std::string("\ufeff"), std::string("\U000e0041")}) {
    EXPECT_EQ(printable("a" + text + "b"), std::string("a") + unknown + "b")
        << testing::PrintToString(text);
  }
}

TEST(PrintableText, WhatIsNotUtf8IsReplaced) {
  struct row {
    std::string text;
    std::size_t pieces;
  };
  for (const row& r : {
           row{"\xff\xfe", 2},          // never in UTF-8
           row{"\x80", 1},              // not a first byte
           row{"\xc0\xaf", 2},          // overlong
           row{"\xe0\x9f\xbf", 3},      // overlong
           row{"\xed\xa0\x80", 3},      // a surrogate
           row{"\xf4\x90\x80\x80", 4},  // above U+10FFFF
           row{"\xf5\x80\x80\x80", 4},  // never in UTF-8
           row{"\xc3", 1},              // cut off
           row{"\xe2\x82", 1},
           row{"\xf0\x9f\x98", 1},
       }) {
    std::string wanted;
    for (std::size_t i = 0; i < r.pieces; ++i) wanted += unknown;
    EXPECT_EQ(printable(r.text), wanted) << testing::PrintToString(r.text);
    EXPECT_EQ(printable(r.text + "b"), wanted + "b") << "the next character is eaten";
  }
}

TEST(PrintableText, NeverMakesOneNameOutOfAnother) {
  EXPECT_NE(printable("db\x01"), printable("db"));
  EXPECT_NE(printable("db\u200b"), printable("db"));
}

TEST(PrintableText, IsPrintableItself) {
  std::string every;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) every.append({static_cast<char>(a), static_cast<char>(b), 'x'});
  }
  const std::string once = printable(every);
  EXPECT_EQ(printable(once), once);
}

TEST(PrintableText, IsCutBetweenCharacters) {
  EXPECT_EQ(printable("abcdef", 6), "abcdef");
  EXPECT_EQ(printable("abcdefg", 6), "abcdef...");
  EXPECT_EQ(printable("abcde\u00e9", 6), "abcde...");
  EXPECT_EQ(printable("abcd\u00e9", 6), "abcd\u00e9");
  EXPECT_EQ(beginning("\U0001f600", 3), "");
}

TEST(EscapedText, EscapesCharactersAndNotBytes) {
  EXPECT_EQ(escaped("d\u00e9 \u65e5"), "d\u00e9 \u65e5");
  EXPECT_EQ(escaped("a\nb\rc\td"), "a\\nb\\rc\\td");
  EXPECT_EQ(escaped("\x1b[2J\x7f\u009b\u202e"), "\\u001b[2J\\u007f\\u009b\\u202e");
  EXPECT_EQ(escaped("\U000e0041"), "\\udb40\\udc41") << "two units, as JSON wants it";
  EXPECT_EQ(escaped("\xff"
                    "a\xc3"),
            "\\ufffda\\ufffd");
}

TEST(EscapedText, PutsABackslashWhereItIsAskedTo) {
  EXPECT_EQ(escaped("a\"b\\c", "\"\\"), "a\\\"b\\\\c");
  EXPECT_EQ(escaped("a\"b\\c"), "a\"b\\c");
}

}  // namespace
}  // namespace tenure::base
