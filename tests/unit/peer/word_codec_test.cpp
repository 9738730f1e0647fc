#include "peer/word_codec.hpp"

#include <gtest/gtest.h>

#include <set>

namespace tenure::peer {
namespace {

core::word a_word() {
  return {.election = "team/db",
          .ended = core::version{0x0102030405060708},
          .told = core::version{18'446'744'073'709'551'615U},
          .signature = std::string(signature_bytes, '\x80')};
}

TEST(WordCodec, WhatIsWrittenIsRead) {
  const std::string datagram = encode(a_word());
  EXPECT_EQ(datagram.substr(0, 12), std::string("TNR1\x01\x02\x03\x04\x05\x06\x07\x08"));
  const auto read = decode(datagram);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->election, "team/db");
  EXPECT_EQ(read->ended, a_word().ended);
  EXPECT_EQ(read->told, a_word().told);
  EXPECT_EQ(read->signature, a_word().signature);
}

TEST(WordCodec, ANameMayBeAsLongAsItFits) {
  core::word longest = a_word();
  longest.election.assign(most_name_bytes, 'x');
  const std::string datagram = encode(longest);
  EXPECT_EQ(datagram.size(), most_word_bytes);
  EXPECT_EQ(decode(datagram)->election, longest.election);
  EXPECT_FALSE(decode(datagram + "x"));
}

TEST(WordCodec, AnythingElseIsNone) {
  const std::string datagram = encode(a_word());
  const std::size_t without_name = datagram.size() - a_word().election.size();
  for (std::size_t size = 0; size <= without_name; ++size) {
    EXPECT_FALSE(decode(datagram.substr(0, size))) << size;
  }
  EXPECT_FALSE(decode("TNR2" + datagram.substr(4)));
  EXPECT_FALSE(decode(std::string(datagram.size(), '\0')));
}

TEST(WordStatement, SaysAllThatAWordSays) {
  core::word other = a_word();
  std::set<std::string> all{core::statement(a_word())};
  other.ended = core::version{1};
  EXPECT_TRUE(all.insert(core::statement(other)).second);
  other.told = core::version{2};
  EXPECT_TRUE(all.insert(core::statement(other)).second);
  other.election = "team/d";
  EXPECT_TRUE(all.insert(core::statement(other)).second);
}

}  // namespace
}  // namespace tenure::peer
