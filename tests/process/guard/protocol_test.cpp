#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <span>
#include <vector>

#include "guard/guard_page.hpp"
#include "guard/guard_protocol.hpp"

namespace tenure::guard {
namespace {

template <class M>
std::vector<std::byte> bytes_of(const M& what) {
  std::vector<std::byte> bytes(sizeof what);
  std::memcpy(bytes.data(), &what, sizeof what);
  return bytes;
}

TEST(GuardProtocol, AMessageComesThrough) {
  const auto bytes = bytes_of(sealed(message::stop{.kill_by = 123, .signal = 15}));
  const auto got = parse(bytes);
  ASSERT_TRUE(got);
  const auto stop = as<message::stop>(*got);
  ASSERT_TRUE(stop);
  EXPECT_EQ(stop->kill_by, 123);
  EXPECT_EQ(stop->signal, 15);
  EXPECT_FALSE(as<message::start>(*got));
}

TEST(GuardProtocol, FieldsThatANewerReleaseAddedAreCutOff) {
  auto newer = sealed(message::start{.version = 9}, 2);
  newer.head.fixed_size += 8;
  auto bytes = bytes_of(newer);
  bytes.resize(sizeof newer + 8);
  bytes.push_back(std::byte{'x'});
  bytes.push_back(std::byte{0});
  const auto got = parse(bytes);
  ASSERT_TRUE(got);
  const auto start = as<message::start>(*got);
  ASSERT_TRUE(start);
  EXPECT_EQ(start->version, 9U);
  EXPECT_EQ(got->tail, std::string_view("x\0", 2));
}

TEST(GuardProtocol, SizesThatDoNotAddUpAreNoMessage) {
  const auto good = sealed(message::start{.version = 9}, 4);
  auto bytes = bytes_of(good);
  EXPECT_FALSE(parse(bytes)) << "the tail is missing";
  bytes.resize(bytes.size() + 4);
  EXPECT_TRUE(parse(bytes));
  bytes.resize(bytes.size() + 1);
  EXPECT_FALSE(parse(bytes)) << "there is more than was said";
  for (std::size_t size = 0; size < sizeof good + 4; ++size) {
    EXPECT_FALSE(parse(std::span(bytes).first(size))) << size;
  }
}

TEST(GuardProtocol, AMessageThatIsTooShortForItsTypeIsNotThatMessage) {
  message_head head{.type = message_type::start, .fixed_size = sizeof(message_head)};
  const auto bytes = bytes_of(head);
  const auto got = parse(bytes);
  ASSERT_TRUE(got);
  EXPECT_FALSE(as<message::start>(*got));
}

TEST(GuardProtocol, AnEndOfWhichAnEarlierReleaseDoesNotSayWhenIsAnEnd) {
  message::exited what = sealed(message::exited{.version = 7, .status = 9, .at = 5});
  what.head.fixed_size = message::exited::first_size;
  auto bytes = bytes_of(what);
  bytes.resize(message::exited::first_size);
  const auto got = parse(bytes);
  ASSERT_TRUE(got);
  const auto exited = as<message::exited>(*got);
  ASSERT_TRUE(exited);
  EXPECT_EQ(exited->status, 9);
  EXPECT_EQ(exited->at, 0);
}

TEST(GuardProtocol, WhatAMessageOfAnEarlierReleaseLacksIsZero) {
  message::hello what = sealed(message::hello{.is_bound = 1, .session = {'s'}});
  what.head.fixed_size = message::hello::first_size;
  auto bytes = bytes_of(what);
  const auto got = parse(std::span(bytes).first(message::hello::first_size));
  ASSERT_TRUE(got);
  const auto hello = as<message::hello>(*got);
  ASSERT_TRUE(hello);
  EXPECT_EQ(hello->is_bound, 1U);
  EXPECT_EQ(hello->session, session_id{});
}

TEST(GuardPage, DeadlinesCountForTheirOwnTermOnly) {
  guard_page page;
  const auto at = [](int stop, int kill) {
    return guard_page::deadlines{.stop_at = core::time_point(std::chrono::seconds(stop)),
                                 .kill_at = core::time_point(std::chrono::seconds(kill))};
  };
  const auto says = [&](int version, int stop, int kill) {
    const auto until = page.deadlines_of(core::version{static_cast<std::uint64_t>(version)});
    return until && until->stop_at == at(stop, kill).stop_at &&
           until->kill_at == at(stop, kill).kill_at;
  };
  EXPECT_FALSE(page.deadlines_of(core::version{1}));
  page.arm(core::version{1}, at(4, 5));
  EXPECT_TRUE(says(1, 4, 5));
  EXPECT_FALSE(page.deadlines_of(core::version{2}));
  page.arm(core::version{1}, at(8, 9));
  EXPECT_TRUE(says(1, 8, 9));
  page.arm(core::version{2}, at(4, 5));
  EXPECT_FALSE(page.deadlines_of(core::version{1}));
  EXPECT_TRUE(says(2, 4, 5));
  page.disarm();
  EXPECT_FALSE(page.deadlines_of(core::version{2}));
}

TEST(GuardPage, AgentOfAnEarlierReleaseLeavesNoGrace) {
  guard_page page;
  page.version.store(1);
  page.kill_at.store(5);
  const auto until = page.deadlines_of(core::version{1});
  ASSERT_TRUE(until);
  EXPECT_EQ(until->stop_at, until->kill_at);
}

}  // namespace
}  // namespace tenure::guard
