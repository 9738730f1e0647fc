#include "runtime/member_log.hpp"

#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

using names = std::vector<std::string>;

std::vector<core::member> members(const names& all) {
  std::vector<core::member> out;
  for (const std::string& one : all) out.push_back({.identity = one});
  return out;
}

names gone_from(const member_log& log) {
  names out;
  if (log.gone()) {
    for (const api::gone_member& one : *log.gone()) out.push_back(one.identity);
  }
  return out;
}

TEST(MemberLog, WhoVanishesIsKeptWithWhenItWasSeen) {
  member_log log;
  EXPECT_FALSE(log.observed(members({"a", "b", "c"}), 1000));
  EXPECT_EQ(log.gone(), nullptr);
  EXPECT_TRUE(log.observed(members({"a", "c"}), 2000));
  ASSERT_TRUE(log.gone());
  EXPECT_EQ(log.gone()->front(), (api::gone_member{.identity = "b", .last_seen_unix_ms = 2000}));
  EXPECT_TRUE(log.observed(members({"c"}), 3000));
  EXPECT_EQ(gone_from(log), (names{"a", "b"})) << "the newest first";
}

TEST(MemberLog, WhoComesBackIsNotGone) {
  member_log log;
  log.observed(members({"a", "b"}), 1000);
  log.observed(members({"a"}), 2000);
  EXPECT_TRUE(log.observed(members({"a", "b"}), 3000));
  EXPECT_EQ(log.gone(), nullptr);
}

TEST(MemberLog, NothingNewIsNoChangeAndAStoreThatCannotTellIsNoAbsence) {
  member_log log;
  log.observed(members({"a", "b"}), 1000);
  log.observed(members({"a"}), 2000);
  const auto before = log.gone();
  EXPECT_FALSE(log.observed(members({"a"}), 3000));
  EXPECT_FALSE(log.observed(std::nullopt, 4000));
  EXPECT_FALSE(log.observed(members({"a", "new"}), 5000));
  EXPECT_EQ(log.gone(), before);
}

TEST(MemberLog, WhoIsNotReadyAnyMoreIsStillThere) {
  member_log log;
  log.observed(std::vector<core::member>{{.identity = "a"}, {.identity = "b"}}, 1000);
  EXPECT_FALSE(log.observed(
      std::vector<core::member>{{.identity = "a", .says = core::readiness{.since_unix_ms = 1500}},
                                {.identity = "b", .says = core::readiness{}}},
      2000));
  EXPECT_EQ(log.gone(), nullptr);
  EXPECT_TRUE(log.observed(members({"a"}), 3000));
  EXPECT_EQ(gone_from(log), (names{"b"}));
}

TEST(MemberLog, OnlyTheNewestAreRemembered) {
  member_log log;
  for (int i = 0; i < 40; ++i) log.observed(members({"pod-" + std::to_string(i)}), i);
  ASSERT_TRUE(log.gone());
  EXPECT_EQ(log.gone()->size(), member_log::most_gone);
  EXPECT_EQ(log.gone()->front().identity, "pod-38");
}

}  // namespace
}  // namespace tenure::runtime
