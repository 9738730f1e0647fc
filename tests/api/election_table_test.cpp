// Elections of snapshots that share what has not changed.
#include <gtest/gtest.h>

#include <string>

#include "api/snapshot.hpp"

namespace tenure::tests {
namespace {

/// More than one block.
constexpr std::size_t many = 1000;

api::election_table table_of(std::size_t count) {
  api::election_table out;
  for (std::size_t i = 0; i < count; ++i) {
    api::election_snapshot one;
    one.name = "e" + std::to_string(i);
    out.push_back(std::move(one));
  }
  return out;
}

TEST(ElectionTable, HoldsItsElectionsInOrder) {
  for (const std::size_t count : {0U, 1U, 63U, 64U, 65U, 128U, 1000U}) {
    const api::election_table table = table_of(count);
    ASSERT_EQ(table.size(), count);
    EXPECT_EQ(table.empty(), count == 0);
    for (std::size_t i = 0; i < count; ++i) ASSERT_EQ(table[i].name, "e" + std::to_string(i));
  }
}

TEST(ElectionTable, FindsAnElectionByItsName) {
  const api::election_table table = table_of(many);
  for (std::size_t i = 0; i < many; ++i) ASSERT_EQ(table.find("e" + std::to_string(i)), i);
  EXPECT_FALSE(table.find("e1000"));
  EXPECT_FALSE(table.find(""));
  EXPECT_FALSE(table_of(0).find("e0"));
}

TEST(ElectionTable, EditDoesNotShowInWhatWasSharedBefore) {
  api::election_table table = table_of(many);
  const api::election_table before = table.share();
  for (std::size_t i = 0; i < many; ++i) table.edit(i).since_unix_ms = 7;
  for (std::size_t i = 0; i < many; ++i) {
    ASSERT_EQ(before[i].since_unix_ms, 0);
    ASSERT_EQ(table[i].since_unix_ms, 7);
  }
}

TEST(ElectionTable, EachShareKeepsItsOwnState) {
  api::election_table table = table_of(many);
  const api::election_table first = table.share();
  table.edit(500).since_unix_ms = 1;
  const api::election_table second = table.share();
  table.edit(500).since_unix_ms = 2;
  EXPECT_EQ(first[500].since_unix_ms, 0);
  EXPECT_EQ(second[500].since_unix_ms, 1);
  EXPECT_EQ(table[500].since_unix_ms, 2);
}

TEST(ElectionTable, EditOfAShareDoesNotShowInItsOrigin) {
  api::election_table table = table_of(2);
  api::election_table other = table.share();
  other.edit(1).since_unix_ms = 3;
  EXPECT_EQ(table[1].since_unix_ms, 0);
  table.edit(1).since_unix_ms = 4;
  EXPECT_EQ(other[1].since_unix_ms, 3);
}

TEST(ElectionTable, WhatWasNotEditedIsNotCopied) {
  api::election_table table = table_of(many);
  const api::election_table before = table.share();
  table.edit(0).since_unix_ms = 1;
  EXPECT_NE(&table[0], &before[0]);
  EXPECT_EQ(&table[many - 1], &before[many - 1]);
}

}  // namespace
}  // namespace tenure::tests
