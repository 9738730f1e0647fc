#include "runtime/snapshots.hpp"

#include <gtest/gtest.h>

#include "api/change.hpp"
#include "unit/core/lease_group_talk.hpp"

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;
using core::election_index;
using core::version;
using core::testing::session_talk;
using core::testing::start_of_talk;

/// Two elections, and the snapshots of them.
struct stage {
  stage() {
    shown.store_opened("c1");
    for (std::uint32_t i = 0; i < 2; ++i) show(i);
  }

  /// Says that `which` may have changed, and publishes it.
  void show(std::uint32_t which, core::duration at = 0s) {
    shown.changed(election_index{which});
    shown.publish(talk.subject(), start_of_talk + at);
  }
  std::uint64_t index() const { return onto.current()->index; }
  std::uint64_t index_of(std::size_t place) const { return onto.current()->elections[place].index; }

  session_talk talk{2};
  api::published onto;
  snapshots shown{onto,
                  {.agent = "run1", .identity = "me", .store = "etcd", .started_unix_ms = 1},
                  {{.name = "a"}, {.name = "b"}},
                  true};
};

TEST(Snapshots, GainMovesTheIndexOfItsElectionAndOfAll) {
  stage p;
  const auto of_a = p.index_of(0);
  const auto of_b = p.index_of(1);
  p.talk.activate(0, version{1}, 0s);
  p.show(0);
  EXPECT_GT(p.index_of(0), of_a);
  EXPECT_EQ(p.index_of(1), of_b);
  EXPECT_EQ(p.index(), p.index_of(0));
  EXPECT_EQ(p.onto.current()->agent, "run1");
}

TEST(Snapshots, RenewalIsPublishedButNoChange) {
  stage p;
  p.talk.activate(0, version{1}, 0s);
  p.show(0);
  int told = 0;
  p.onto.on_change([&] { ++told; });
  const auto before = p.index();
  p.talk.at(5s).wake();
  p.talk.acknowledge(5s);
  p.show(0, 5s);
  EXPECT_EQ(p.index(), before);
  EXPECT_EQ(told, 0) << "the serving thread is not woken by it either";
  EXPECT_GT(p.onto.current()->elections[0].view.lease->stop_at, start_of_talk + 12350ms);
  p.onto.on_change({});
}

TEST(Snapshots, ChangeIsToldOnceItCanBeSeen) {
  stage p;
  int told = 0;
  p.onto.on_change([&] { ++told; });
  p.talk.activate(0, version{1}, 0s);
  p.show(0);
  EXPECT_EQ(told, 1);
  p.onto.on_change({});
}

TEST(Snapshots, WhatIsOfTheAgentMovesTheIndexOfEveryElection) {
  stage p;
  const auto of_b = p.index_of(1);
  p.shown.health({.state = core::health::healthy});
  p.shown.publish(p.talk.subject(), start_of_talk);
  EXPECT_GT(p.index_of(0), of_b);
  EXPECT_EQ(p.index_of(1), p.index_of(0));
}

TEST(Snapshots, TermThatTheClockAloneHadEndedAndThatGoesOnIsAChange) {
  stage p;
  p.talk.activate(0, version{1}, 0s);
  p.show(0);
  p.talk.at(5s).wake();
  p.talk.acknowledge(5s);
  const auto before = p.index_of(0);
  // Published only after the stop_at that was shown so far: readers may have been told of it.
  p.show(0, 13s);
  EXPECT_GT(p.index_of(0), before);
}

TEST(Snapshots, AnAnswerOfTheStoreIsPublishedButNoChange) {
  stage p;
  core::store_contact contact(15s);
  contact.take(start_of_talk, core::contact::answered{});
  p.shown.contact(contact);
  p.show(0);
  const auto before = p.index();
  contact.take(start_of_talk + 5s, core::contact::answered{});
  p.shown.contact(contact);
  p.show(0, 5s);
  EXPECT_EQ(p.index(), before);
  EXPECT_EQ(p.onto.current()->contact.silence(start_of_talk + 5s), 0s);
}

TEST(Snapshots, AStoreThatTheClockAloneHadSilencedAndThatAnswersIsAChangeOfAll) {
  stage p;
  core::store_contact contact(15s);
  contact.take(start_of_talk, core::contact::answered{});
  p.shown.contact(contact);
  p.show(0);
  const auto before = p.index_of(1);
  contact.take(start_of_talk + 11s, core::contact::answered{});
  p.shown.contact(contact);
  p.show(0, 11s);
  EXPECT_GT(p.index_of(0), before);
  EXPECT_GT(p.index_of(1), before);
}

TEST(Snapshots, ABrokenWatchIsAChangeAndFreezesTheAgeOfWhatItShowed) {
  stage p;
  core::store_contact contact(15s);
  EXPECT_TRUE(p.shown.watch_showed(election_index{0}, start_of_talk));
  p.show(0);
  const auto before = p.index_of(0);
  contact.take(start_of_talk + 2s, core::contact::showed{});
  p.shown.contact(contact);
  p.shown.watch_broke(election_index{0});
  contact.take(start_of_talk + 4s, core::contact::showed{});
  p.shown.contact(contact);
  p.shown.publish(p.talk.subject(), start_of_talk + 4s);
  EXPECT_GT(p.index_of(0), before);
  EXPECT_EQ(p.onto.current()->elections[0].seen_at, start_of_talk + 2s);
}

TEST(Snapshots, IndexesLeaveRoomForElectionsThatTurnByTime) {
  stage p;
  const auto before = p.index();
  p.talk.activate(0, version{1}, 0s);
  p.show(0);
  EXPECT_GE(p.index() - before, api::index_step(2));
}

}  // namespace
}  // namespace tenure::runtime
