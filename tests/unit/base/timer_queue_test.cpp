#include "base/timer_queue.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace tenure::base {
namespace {

using namespace std::chrono_literals;

core::time_point at(core::duration since_boot) {
  return core::time_point(since_boot);
}

/// A queue, and the names of the entries it has called.
struct scene {
  void put(timer_queue::entry& one, core::duration when, std::string name) {
    queue.put(one, at(when), [this, name] { called += name; });
  }

  std::string called;
  timer_queue queue;
  timer_queue::entry a;
  timer_queue::entry b;
  timer_queue::entry c;
};

TEST(TimerQueue, CallsWhatIsDueInTheOrderOfInstantsThenOfPutting) {
  scene s;
  s.put(s.a, 2s, "a");
  s.put(s.b, 1s, "b");
  s.put(s.c, 2s, "c");
  EXPECT_EQ(s.queue.next(), at(1s));
  s.queue.call_due(at(2s) - 1ns);
  EXPECT_EQ(s.called, "b");
  s.queue.call_due(at(2s));
  EXPECT_EQ(s.called, "bac");
  EXPECT_EQ(s.queue.next(), core::never);
}

TEST(TimerQueue, WhatIsTakenOutIsNotCalledEvenByOneThatIsDueWithIt) {
  scene s;
  s.queue.put(s.a, at(1s), [&] {
    s.called += "a";
    s.queue.take_out(s.b);
  });
  s.put(s.b, 1s, "b");
  s.put(s.c, 1s, "c");
  s.queue.call_due(at(1s));
  EXPECT_EQ(s.called, "ac");
  s.queue.take_out(s.b);  // does nothing
}

TEST(TimerQueue, WhatIsPutInMeanwhileWaitsForTheNextTurn) {
  scene s;
  s.queue.put(s.a, at(1s), [&] {
    s.called += "a";
    s.put(s.a, 1s, "again");
  });
  s.queue.call_due(at(1s));
  EXPECT_EQ(s.called, "a");
  EXPECT_EQ(s.queue.next(), at(1s));
  s.queue.call_due(at(1s));
  EXPECT_EQ(s.called, "aagain");
}

TEST(TimerQueue, AnEntryMayBeDestroyedByItsOwnCall) {
  timer_queue queue;
  auto one = std::make_unique<timer_queue::entry>();
  int calls = 0;
  queue.put(*one, at(1s), [&] {
    one.reset();
    ++calls;
  });
  queue.call_first();
  EXPECT_EQ(calls, 1);
}

/// An object that waits often owns its own entry.
TEST(TimerQueue, LetsGoOfWhatItHasAtItsEnd) {
  struct waiting {
    timer_queue::entry entry;
  };
  std::weak_ptr<waiting> left;
  {
    timer_queue queue;
    const auto one = std::make_shared<waiting>();
    left = one;
    queue.put(one->entry, at(1s), [one] { FAIL() << one.use_count(); });
  }
  EXPECT_TRUE(left.expired());
}

}  // namespace
}  // namespace tenure::base
