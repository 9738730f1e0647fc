#include "guard/guard_log.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>
#include <string>
#include <string_view>

#include "guard/guard_lines.hpp"

namespace tenure::guard {
namespace {

using namespace std::chrono_literals;
using log::log_level;
using testing::HasSubstr;

stderr_sink to_stderr;
constexpr core::time_point start = core::time_point(1h);

guard_log::sentence words(std::string_view text) {
  guard_log::sentence out;
  out.append(text);
  return out;
}

/// The log output while `act` runs.
template <class Act>
std::string written(Act act) {
  testing::internal::CaptureStderr();
  act();
  return testing::internal::GetCapturedStderr();
}

TEST(GuardLogLines, WaitForTheAgentToSayThem) {
  guard_log log(to_stderr);
  log.say_unless_told(start, log_level::warn, words("one"));
  log.say_unless_told(start + 50ms, log_level::info, words("two"));
  EXPECT_EQ(log.due(), start + guard_log::patience);
  EXPECT_EQ(written([&] { log.flush(start + 100ms, true); }), "") << "the agent may be well";
  EXPECT_EQ(written([&] { log.flush(start + guard_log::patience, true); }),
            "tenure guard: one\ntenure guard: two\n");
  EXPECT_EQ(log.due(), core::never);
  EXPECT_EQ(written([&] { log.flush(start + 1h, true); }), "") << "once only";
}

TEST(GuardLogLines, AreDroppedIfTheAgentKnows) {
  guard_log log(to_stderr);
  log.say_unless_told(start, log_level::warn, words("one"));
  log.agent_knows();
  EXPECT_EQ(log.due(), core::never);
  EXPECT_EQ(written([&] { log.flush(start + 1h, true); }), "");
}

TEST(GuardLogLines, WaitForNobodyWhereThereIsNoAgent) {
  guard_log log(to_stderr);
  log.say_unless_told(start, log_level::warn, words("one"));
  EXPECT_EQ(written([&] { log.flush(start, false); }), "tenure guard: one\n");
}

TEST(GuardLogLines, MoreThanThereIsRoomForKeepTheFirstAndTheNewest) {
  guard_log log(to_stderr);
  for (const char* text : {"1", "2", "3", "4", "5", "6"}) {
    log.say_unless_told(start, log_level::info, words(text));
  }
  EXPECT_EQ(written([&] { log.flush(start, false); }),
            "tenure guard: 1\ntenure guard: 2\ntenure guard: 3\ntenure guard: 6\n");
}

TEST(GuardLogLines, NameOfAProgramCanForgeNothing) {
  guard_log log(to_stderr);
  log.speak_as(static_cast<std::uint32_t>(log::log_form::json), "");
  process::survivors what{.left = 1, .stuck = 1, .pid = 7, .state = '"'};
  std::string_view("a\"}\n\\").copy(what.name.data(), what.name.size());
  EXPECT_THAT(written([&] { say_survivors(log, what); }),
              HasSubstr("is 7 (a?}\?\?), state \?, in "));
}

TEST(GuardLogLines, AnEndIsToldInWords) {
  const auto text = [](int status) { return std::string(ended_words(status).view()); };
  EXPECT_EQ(text(W_EXITCODE(3, 0)), "the workload exited with status 3");
  EXPECT_EQ(text(W_EXITCODE(0, SIGTERM)), "the workload was ended by SIGTERM");
  EXPECT_EQ(text(-1), "the workload has ended");
}

}  // namespace
}  // namespace tenure::guard
