#include "workload/stop_plan.hpp"

#include <gtest/gtest.h>

namespace tenure::workload {
namespace {

using namespace std::chrono_literals;

core::time_point at(core::duration since_start) {
  return core::time_point(1h + since_start);
}

stop_plan every_way() {
  return stop_plan({.remove_file = true, .http = true, .command = true, .exit_code = true});
}

TEST(StopPlan, TriesFileThenHttpThenCommandThenTheExitCode) {
  stop_plan plan = every_way();
  plan.begin(at(0s), at(9s));
  EXPECT_EQ(plan.current(), stop_way::remove_file);
  plan.next(at(0s));
  EXPECT_EQ(plan.current(), stop_way::http);
  plan.next(at(1s));
  EXPECT_EQ(plan.current(), stop_way::command);
  plan.next(at(2s));
  EXPECT_EQ(plan.current(), stop_way::exit_code);
  plan.next(at(3s));
  EXPECT_EQ(plan.current(), std::nullopt);
}

TEST(StopPlan, LeavesOutWhatIsNotConfigured) {
  stop_plan plan({.command = true});
  plan.begin(at(0s), at(2s));
  EXPECT_EQ(plan.current(), stop_way::command);
  EXPECT_EQ(plan.until(), at(2s)) << "all of the time is its own";
  plan.next(at(2s));
  EXPECT_EQ(plan.current(), std::nullopt);
}

TEST(StopPlan, WithoutAnyWayNothingIsTried) {
  stop_plan plan({});
  plan.begin(at(0s), at(2s));
  EXPECT_EQ(plan.current(), std::nullopt);
}

TEST(StopPlan, EachHasAnEqualShareOfWhatIsLeftWhenItBegins) {
  stop_plan plan = every_way();
  plan.begin(at(0s), at(9s));
  EXPECT_EQ(plan.until(), at(3s));
  plan.next(at(1s));
  EXPECT_EQ(plan.until(), at(5s)) << "the file did not need all of its share";
  plan.next(at(5s));
  EXPECT_EQ(plan.until(), at(9s));
}

TEST(StopPlan, WaysThatHangTogetherEndAtKillByAndTheExitCodeNeedsNoTime) {
  stop_plan plan = every_way();
  plan.begin(at(0s), at(9s));
  while (plan.current() && plan.current() != stop_way::exit_code) plan.next(plan.until());
  EXPECT_EQ(plan.current(), stop_way::exit_code);
  EXPECT_EQ(plan.until(), at(9s));
}

TEST(StopPlan, LossWithoutAnyTimeLeavesALateWord) {
  stop_plan plan({.http = true, .command = true});
  plan.begin(at(0s), at(-1s));
  EXPECT_EQ(plan.until(), at(late_word));
  plan.next(at(late_word));
  EXPECT_EQ(plan.until(), at(2 * late_word));
}

TEST(StopPlan, NothingDelaysAnExitCodeThatIsDue) {
  stop_plan plan({.http = true, .exit_code = true});
  plan.begin(at(0s), at(0s));
  EXPECT_EQ(plan.until(), at(0s));
}

TEST(StopPlan, SecondOrderShortensThePresentWayAndTheOthers) {
  stop_plan plan({.http = true, .command = true});
  plan.begin(at(0s), at(20s));
  EXPECT_EQ(plan.until(), at(10s));
  plan.shorten(at(1s), at(5s));
  EXPECT_EQ(plan.until(), at(3s));
  EXPECT_EQ(plan.kill_by(), at(5s));
  plan.next(at(3s));
  EXPECT_EQ(plan.until(), at(5s));
}

TEST(StopPlan, SecondOrderNeverLengthens) {
  stop_plan plan({.http = true, .command = true});
  plan.begin(at(0s), at(4s));
  plan.shorten(at(1s), at(20s));
  EXPECT_EQ(plan.until(), at(2s));
  EXPECT_EQ(plan.kill_by(), at(4s));
  plan.shorten(at(1900ms), at(3900ms));
  EXPECT_EQ(plan.until(), at(2s)) << "its new share ends later than its old one";
}

}  // namespace
}  // namespace tenure::workload
