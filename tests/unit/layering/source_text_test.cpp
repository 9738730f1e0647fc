#include "unit/layering/source_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::layering {
namespace {

TEST(SourceText, CommentsAreNotCode) {
  EXPECT_EQ(only_code("a // b\nc"), "a     \nc");
  EXPECT_EQ(only_code("a /* b\nb */ c"), "a     \n     c");
}

TEST(SourceText, LiteralsAreNotCodeButTheirQuotesAre) {
  EXPECT_EQ(only_code("f(\"rand()\");"), "f(\"      \");");
  EXPECT_EQ(only_code("f('a');"), "f(' ');");
}

TEST(SourceText, EscapedQuoteDoesNotEndALiteral) {
  EXPECT_EQ(only_code("f(\"a\\\"b\") + c"), "f(\"    \") + c");
  EXPECT_EQ(only_code("f('\\'') + c"), "f('  ') + c");
}

TEST(SourceText, RawStringEndsAtItsOwnDelimiter) {
  EXPECT_EQ(only_code("x = R\"q(a \" )\" b)q\"; y"), "x = R\"            \"; y");
}

TEST(SourceText, CommentInALiteralIsALiteral) {
  EXPECT_EQ(only_code("a = \"// b\"; c"), "a = \"    \"; c");
}

TEST(SourceText, QuoteInACommentOpensNothing) {
  EXPECT_EQ(only_code("// don't\na"), "        \na");
}

TEST(SourceText, QuoteBetweenDigitsOpensNothing) {
  EXPECT_EQ(only_code("a = 1'000; b"), "a = 1'000; b");
}

TEST(SourceText, CommentsAlone) {
  EXPECT_EQ(only_comments("a(\"// b\"); // c"), "           // c");
}

TEST(SourceText, IncludesAreFoundWithTheirLines) {
  const auto found = includes_of("#pragma once\n#include <map>\n  # include \"core/a.hpp\"\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].name, "map");
  EXPECT_FALSE(found[0].quoted);
  EXPECT_EQ(found[0].line, 2U);
  EXPECT_EQ(found[1].name, "core/a.hpp");
  EXPECT_TRUE(found[1].quoted);
  EXPECT_EQ(found[1].line, 3U);
}

TEST(SourceText, IncludeInACommentIncludesNothing) {
  EXPECT_TRUE(includes_of("// #include <map>\n/*\n#include <set>\n*/\n").empty());
}

TEST(SourceText, RoomIsTheFirstFolder) {
  EXPECT_EQ(room_of("core/election.cpp"), "core");
  EXPECT_EQ(room_of("stores/etcd/etcd_store.cpp"), "stores");
  EXPECT_EQ(room_of("main.cpp"), "");
  EXPECT_EQ(file_name("stores/etcd/etcd_store.cpp"), "etcd_store.cpp");
}

}  // namespace
}  // namespace tenure::layering
