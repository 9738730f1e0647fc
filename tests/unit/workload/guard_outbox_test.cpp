// What the agent sends while its guard does not read.
#include "workload/guard_outbox.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace tenure::workload {
namespace {

using place = guard_outbox::place;
using testing::ElementsAre;
using testing::IsEmpty;

/// A connection with room for a given number of packets; records their types.
class narrow_connection final : public guard::guard_connection {
 public:
  void open(handlers) override {}
  void close() override {}
  bool send(std::span<const std::byte> packet) override {
    if (room == 0) return false;
    --room;
    const auto what = guard::parse(packet);
    EXPECT_TRUE(what);
    if (what) sent.push_back(what->type);
    if (const auto stop = what ? guard::as<guard::message::stop>(*what) : std::nullopt)
      kill_by = stop->kill_by;
    return true;
  }

  std::size_t room = 0;
  std::vector<guard::message_type> sent;
  std::int64_t kill_by = 0;
};

TEST(GuardOutbox, SendsAtOnceWhatThereIsRoomFor) {
  narrow_connection to;
  to.room = 2;
  guard_outbox box(to);
  box.send(place::stop, guard::message::stop{});
  box.send(place::armed, guard::message::armed{});
  EXPECT_THAT(to.sent, ElementsAre(guard::message_type::stop, guard::message_type::armed));
}

TEST(GuardOutbox, WhatWaitsIsSentInTheOrderOfThePlacesAndOnlyTheNewestOfAKind) {
  narrow_connection to;
  guard_outbox box(to);
  box.send(place::stop, guard::message::stop{.kill_by = 2});
  box.send(place::stop, guard::message::stop{.kill_by = 1});
  box.send(place::start, guard::message::start{.version = 7}, "A=b");
  box.send(place::hello, guard::message::hello{});
  EXPECT_THAT(to.sent, IsEmpty());
  to.room = 9;
  box.send(place::armed, guard::message::armed{});
  EXPECT_THAT(to.sent, IsEmpty()) << "the connection has not said that there is room";
  box.has_room();
  EXPECT_THAT(to.sent, ElementsAre(guard::message_type::hello, guard::message_type::armed,
                                   guard::message_type::start, guard::message_type::stop));
  EXPECT_EQ(to.kill_by, 1);
}

TEST(GuardOutbox, AnOrderToStopThatIsTakenBackDoesNotReachTheWorkloadAfterIt) {
  narrow_connection to;
  guard_outbox box(to);
  box.send(place::stop, guard::message::stop{});
  box.take_back(place::stop);
  box.send(place::start, guard::message::start{.version = 8});
  to.room = 9;
  box.has_room();
  EXPECT_THAT(to.sent, ElementsAre(guard::message_type::start));
}

TEST(GuardOutbox, SaysNothingToAGuardThatIsGone) {
  narrow_connection to;
  guard_outbox box(to);
  box.send(place::armed, guard::message::armed{});
  box.close();
  to.room = 9;
  box.has_room();
  box.send(place::bye, guard::message::bye{});
  EXPECT_THAT(to.sent, IsEmpty());
}

}  // namespace
}  // namespace tenure::workload
