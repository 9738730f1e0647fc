// The agent's end of a guard whose answers are slow, or that ends before it has read all. With real
// guards: tests/process/guard.
#include "workload/guard_link.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <deque>
#include <utility>
#include <variant>
#include <vector>

#include "guard/guard_protocol.hpp"

namespace tenure::workload {
namespace {

using namespace std::chrono_literals;
using ::testing::ElementsAre;

/// A loop whose clock the test moves.
class moved_loop final : public base::event_loop {
 public:
  [[nodiscard]] core::time_point now() const override { return now_; }
  [[nodiscard]] std::uint64_t random_bits() override { return 0; }
  void post(task what) override { tasks_.push_back(std::move(what)); }

  void pass(core::duration time) {
    now_ += time;
    timers_.call_due(now_);
    while (!tasks_.empty()) std::exchange(tasks_, {}).front()();
  }

 private:
  void timers_changed() override {}

  core::time_point now_{1h};
  std::deque<task> tasks_;
};

/// What a test says of its guard, and sees of it.
struct script {
  guard::guard_page page;
  bool takes_orders = true;  ///< false: its end of the connection takes nothing any more
  bool in_sight = true;      ///< the processes of its container are visible
  bool comes_by_itself = false;
  guard::remains left = guard::remains::nothing;  ///< of a workload that the agent kills
  bool is_watchable = false;                      ///< the end of its container is
  std::function<void()> container_ended;
  int hellos = 0;
  guard::guard_connection::handlers on;
};

/// Stands in for a guard in another container: the test says what it answers, and when.
class scripted_guard final : public guard::guard_access,
                             public guard::guard_connection,
                             public guard::visible_workload,
                             public guard::guard_container {
 public:
  explicit scripted_guard(script& by) : script_(by) {}

  [[nodiscard]] guard::guard_connection& connection() override { return *this; }
  [[nodiscard]] guard::guard_page& page() override { return script_.page; }
  [[nodiscard]] tenure_page* worker_page() override { return nullptr; }
  [[nodiscard]] guard::visible_workload& workload() override { return *this; }
  [[nodiscard]] guard::guard_container& container() override { return *this; }
  [[nodiscard]] bool await_end(std::function<void()> ended) override {
    if (script_.is_watchable) script_.container_ended = std::move(ended);
    return script_.is_watchable;
  }

  void open(handlers on) override { script_.on = std::move(on); }
  void close() override { script_.on = {}; }
  [[nodiscard]] bool send(std::span<const std::byte> packet) override {
    const auto what = guard::parse(packet);
    if (what && guard::as<guard::message::hello>(*what)) ++script_.hellos;
    return script_.takes_orders;
  }

  [[nodiscard]] bool in_sight() const override { return script_.in_sight; }
  [[nodiscard]] bool comes_by_itself() const override { return script_.comes_by_itself; }
  void follow(pid_t) override {}
  void expect_mark(std::string) override {}
  void forget() override {}
  [[nodiscard]] guard::remains kill_all() override { return script_.left; }
  [[nodiscard]] process::survivors doubtful() const override { return {}; }

 private:
  script& script_;
};

class SlowHello : public testing::Test {
 protected:
  /// The guard reads its clock now, which is ahead of ours by so much.
  [[nodiscard]] guard::message::guard_hello reading(core::duration ahead) const {
    return {.clock = (loop_.now() + ahead).time_since_epoch().count()};
  }
  template <typename Message>
  void arrives(const Message& what) {
    const auto sealed = guard::sealed(what, 0);
    guard_.on.packet(std::as_bytes(std::span(&sealed, 1)));
  }
  [[nodiscard]] std::vector<std::string> heard() const {
    std::vector<std::string> out;
    for (const guard_event& one : events_) {
      const auto* const gone = std::get_if<guard_gone>(&one);
      const auto* const exited = std::get_if<workload_exited>(&one);
      const bool is_whole = (gone != nullptr && gone->with_container) ||
                            (exited != nullptr && exited->with_container);
      out.emplace_back(is_whole && gone != nullptr                   ? "gone with its container"
                       : is_whole                                    ? "dead with its container"
                       : std::holds_alternative<guard_ready>(one)    ? "ready"
                       : std::holds_alternative<guard_unusable>(one) ? "unusable"
                       : std::holds_alternative<guard_hangs>(one)    ? "hangs"
                       : std::holds_alternative<guard_gone>(one)     ? "gone"
                       : std::holds_alternative<start_refused>(one)  ? "not started"
                                                                     : "other");
    }
    return out;
  }

  moved_loop loop_;
  script guard_;
  std::vector<guard_event> events_;
  guard_link link_{loop_, std::make_unique<scripted_guard>(guard_),
                   guard_link::own_session{.id = "own"},
                   [this](const guard_event& what) { events_.push_back(what); }};
};

TEST_F(SlowHello, QuickAnswerWithTheRightClockIsBelieved) {
  loop_.pass(10ms);
  arrives(reading(0ms));
  EXPECT_THAT(heard(), ElementsAre("ready"));
  EXPECT_EQ(guard_.hellos, 1);
}

TEST_F(SlowHello, AnswerThatTookLongShowsTheClockTooRoughlyAndIsAskedForAgain) {
  const auto ahead = reading(800ms);
  loop_.pass(900ms);
  arrives(ahead);
  EXPECT_THAT(heard(), ElementsAre()) << "it was read after our hello, and before now";
  EXPECT_EQ(guard_.hellos, 2);
  loop_.pass(10ms);
  arrives(reading(800ms));
  EXPECT_THAT(heard(), ElementsAre("unusable"));
}

TEST_F(SlowHello, GuardThatIsSlowEachTimeIsBelievedAtLast) {
  for (int i = 0; i < 5; ++i) {
    loop_.pass(300ms);
    arrives(reading(0ms));
  }
  EXPECT_THAT(heard(), ElementsAre("ready"));
  EXPECT_EQ(guard_.hellos, 5);
}

TEST_F(SlowHello, GuardThatFallsSilentInBetweenHangs) {
  loop_.pass(900ms);
  arrives(reading(0ms));
  loop_.pass(900ms);
  EXPECT_THAT(heard(), ElementsAre());
  loop_.pass(100ms);
  loop_.pass(100ms);
  EXPECT_THAT(heard(), ElementsAre("hangs"));
}

TEST_F(SlowHello, SessionIsThatOfTheFirstAnswer) {
  auto first = reading(0ms);
  std::ranges::copy(std::string("0123456789abcdef0123456789abcdef"), first.session.begin());
  loop_.pass(900ms);
  arrives(first);
  auto second = reading(0ms);
  std::ranges::copy(std::string("own00000000000000000000000000000"), second.session.begin());
  arrives(second);
  ASSERT_THAT(heard(), ElementsAre("ready"));
  EXPECT_EQ(std::get<guard_ready>(events_.front()).session, "0123456789abcdef0123456789abcdef");
}

/// A store that was restored may count up to a version once more, and an operator may accept that.
TEST_F(SlowHello, TermWhoseWorkloadTheAgentHasKilledMayBeginOnceMore) {
  constexpr core::version again{18};
  const auto runs = [&](pid_t pid) {
    link_.arm(again, loop_.now() + 1s, loop_.now() + 2s);
    link_.start(again, {});
    arrives(guard::message::started{.version = core::number(again), .pid = pid});
    return std::holds_alternative<workload_started>(events_.back());
  };
  arrives(reading(0ms));
  ASSERT_TRUE(runs(7));
  loop_.pass(1min);
  ASSERT_TRUE(std::holds_alternative<workload_exited>(events_.back()));
  EXPECT_TRUE(runs(8));
}

/// Guards of an earlier release report it, under no version, and do not report its end.
TEST_F(SlowHello, WhatRunsWithoutALeaseIsNotTakenForOurWorkload) {
  constexpr core::version term{18};
  arrives(reading(0ms));
  arrives(guard::message::started{.version = 0, .pid = 7});
  EXPECT_THAT(heard(), ElementsAre("ready"));
  EXPECT_FALSE(link_.may_run());
  link_.arm(term, loop_.now() + 1s, loop_.now() + 2s);
  link_.start(term, {});
  arrives(guard::message::started{.version = core::number(term), .pid = 8});
  ASSERT_TRUE(std::holds_alternative<workload_started>(events_.back()));
  arrives(guard::message::exited{.version = core::number(term)});
  EXPECT_TRUE(std::holds_alternative<workload_exited>(events_.back()));
  EXPECT_FALSE(link_.may_run());
}

/// The kubelet may start something while the guard hangs, which would take that for this workload.
TEST_F(SlowHello, WhatTheAgentHasKilledHasNoTimeLeftForItsGuardEither) {
  constexpr core::version term{18};
  arrives(reading(0ms));
  guard_.comes_by_itself = true;
  link_.arm(term, loop_.now() + 1min, loop_.now() + 2min);
  guard_.page.armed = guard_.page.kill_at.load();
  link_.start(term, {});
  arrives(guard::message::started{.version = core::number(term), .pid = 7});
  link_.end_orphans();
  loop_.pass(10ms);
  ASSERT_TRUE(std::holds_alternative<workload_exited>(events_.back()));
  const auto left = guard_.page.deadlines_of(term);
  ASSERT_TRUE(left);
  EXPECT_LE(left->kill_at, loop_.now());
}

/// At its deadline it counts as running, and its end is the answer.
TEST_F(SlowHello, RefusalOfWhatTheAgentKillsIsNoSecondAnswer) {
  constexpr core::version term{18};
  arrives(reading(0ms));
  guard_.left = guard::remains::something;
  link_.arm(term, loop_.now() + 1s, loop_.now() + 2s);
  guard_.page.armed = guard_.page.kill_at.load();
  link_.start(term, {});
  loop_.pass(3s);
  arrives(guard::message::refused{.version = core::number(term)});
  EXPECT_THAT(heard(), ElementsAre("ready"));
  guard_.left = guard::remains::nothing;
  loop_.pass(10ms);
  ASSERT_EQ(events_.size(), 2U);
  EXPECT_TRUE(std::holds_alternative<workload_exited>(events_.back()));
}

/// A guard that ends out of sight, while its agent wants a workload started.
class OrderToAGuardThatEnds : public SlowHello {
 protected:
  void SetUp() override {
    guard_.in_sight = false;
    arrives(reading(0ms));
  }
  void start() {
    constexpr core::version term{18};
    link_.arm(term, loop_.now() + 1min, loop_.now() + 2min);
    link_.start(term, {});
  }
};

TEST_F(OrderToAGuardThatEnds, IsNotCarriedOutIfItWasNotTaken) {
  guard_.takes_orders = false;
  start();
  EXPECT_TRUE(link_.may_run());
  guard_.on.hung_up();
  EXPECT_FALSE(link_.may_run()) << "its lease can be released";
  EXPECT_THAT(heard(), ElementsAre("ready", "gone", "not started"));
}

TEST_F(OrderToAGuardThatEnds, MayHaveBeenCarriedOutIfItWasTaken) {
  start();
  guard_.on.hung_up();
  EXPECT_TRUE(link_.may_run());
  EXPECT_THAT(heard(), ElementsAre("ready", "gone"));
}

/// A guard in a container whose end is reported.
class ContainerThatEnds : public OrderToAGuardThatEnds {
 protected:
  void SetUp() override {
    guard_.is_watchable = true;
    OrderToAGuardThatEnds::SetUp();
  }
};

TEST_F(ContainerThatEnds, IsTheEndOfItsWorkload) {
  start();
  guard_.on.hung_up();
  EXPECT_THAT(heard(), ElementsAre("ready")) << "all of it is about to end";
  EXPECT_TRUE(link_.may_run()) << "the end of the guard alone proves nothing";
  loop_.pass(50ms);
  guard_.container_ended();
  EXPECT_THAT(heard(), ElementsAre("ready", "gone with its container", "dead with its container"));
  EXPECT_FALSE(link_.may_run());
}

TEST_F(ContainerThatEnds, MayTakeLong) {
  start();
  guard_.on.hung_up();
  loop_.pass(100ms);
  EXPECT_THAT(heard(), ElementsAre("ready", "gone"));
  loop_.pass(5s);
  guard_.container_ended();
  EXPECT_THAT(heard(), ElementsAre("ready", "gone", "dead with its container"));
}

TEST_F(ContainerThatEnds, SaysNothingNewAfterTheDeadline) {
  start();
  guard_.on.hung_up();
  loop_.pass(2min + 1s);
  EXPECT_THAT(heard(), ElementsAre("ready", "gone", "other")) << "nobody has seen it";
  guard_.container_ended();
  EXPECT_THAT(heard(), ElementsAre("ready", "gone", "other"));
}

TEST_F(ContainerThatEnds, IsNotMissedIfNothingRan) {
  guard_.on.hung_up();
  EXPECT_THAT(heard(), ElementsAre("ready", "gone"));
  EXPECT_FALSE(guard_.container_ended);
}

}  // namespace
}  // namespace tenure::workload
