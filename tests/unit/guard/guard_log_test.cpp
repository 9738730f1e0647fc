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

/// Takes lines as long as there is room.
class kept_lines final : public line_sink {
 public:
  bool write(std::string_view line) override {
    if (room == 0) return false;
    --room;
    text += line;
    return true;
  }
  [[nodiscard]] std::int64_t unix_ms() const override { return 0; }

  std::string text;
  std::size_t room = 100;
};

constexpr core::time_point start = core::time_point(1h);

guard_log::sentence words(std::string_view text) {
  guard_log::sentence out;
  out.append(text);
  return out;
}

class GuardLogLines : public testing::Test {
 protected:
  /// The log output while `act` runs.
  template <class Act>
  std::string written(Act act) {
    to_.text.clear();
    act();
    return to_.text;
  }

  kept_lines to_;
};

TEST_F(GuardLogLines, WaitForTheAgentToSayThem) {
  guard_log log(to_);
  log.say_unless_told(start, log_level::warn, words("one"));
  log.say_unless_told(start + 50ms, log_level::info, words("two"));
  EXPECT_EQ(log.due(), start + guard_log::patience);
  EXPECT_EQ(written([&] { log.flush(start + 100ms, true); }), "") << "the agent may be well";
  EXPECT_EQ(written([&] { log.flush(start + guard_log::patience, true); }),
            "tenure guard: one\ntenure guard: two\n");
  EXPECT_EQ(log.due(), core::never);
  EXPECT_EQ(written([&] { log.flush(start + 1h, true); }), "") << "once only";
}

TEST_F(GuardLogLines, AreDroppedIfTheAgentKnows) {
  guard_log log(to_);
  log.say_unless_told(start, log_level::warn, words("one"));
  log.agent_knows();
  EXPECT_EQ(log.due(), core::never);
  EXPECT_EQ(written([&] { log.flush(start + 1h, true); }), "");
}

TEST_F(GuardLogLines, WaitForNobodyWhereThereIsNoAgent) {
  guard_log log(to_);
  log.say_unless_told(start, log_level::warn, words("one"));
  EXPECT_EQ(written([&] { log.flush(start, false); }), "tenure guard: one\n");
}

TEST_F(GuardLogLines, MoreThanThereIsRoomForKeepTheFirstAndTheNewest) {
  guard_log log(to_);
  for (const char* text : {"1", "2", "3", "4", "5", "6"}) {
    log.say_unless_told(start, log_level::info, words(text));
  }
  EXPECT_EQ(written([&] { log.flush(start, false); }),
            "tenure guard: 1\ntenure guard: 2\ntenure guard: 3\ntenure guard: 6\n");
}

TEST_F(GuardLogLines, ThatFindNoRoomAreCountedAndToldBeforeTheNext) {
  guard_log log(to_);
  to_.room = 0;
  log.say(log_level::warn, words("one"));
  log.say(log_level::warn, words("two"));
  log.flush(start, true);
  to_.room = 100;
  EXPECT_EQ(
      written([&] { log.say(log_level::warn, words("three")); }),
      "tenure guard: 2 lines of the guard are lost: its log could not be written for a while\n"
      "tenure guard: three\n");
  EXPECT_EQ(written([&] { log.say(log_level::warn, words("four")); }), "tenure guard: four\n");
}

TEST_F(GuardLogLines, ThatAreLostAreToldWithoutAnotherLine) {
  guard_log log(to_);
  to_.room = 0;
  log.say(log_level::warn, words("one"));
  EXPECT_EQ(written([&] { log.flush(start, true); }), "") << "there is no room yet";
  to_.room = 1;
  EXPECT_EQ(
      written([&] { log.flush(start, true); }),
      "tenure guard: 1 line of the guard is lost: its log could not be written for a while\n");
}

TEST_F(GuardLogLines, AreCountedAlsoIfThereIsRoomForTheCountAlone) {
  guard_log log(to_);
  to_.room = 0;
  log.say(log_level::warn, words("one"));
  to_.room = 1;
  log.say(log_level::warn, words("two"));
  to_.room = 100;
  EXPECT_THAT(written([&] { log.flush(start, true); }), HasSubstr("1 line of the guard is lost"));
}

TEST_F(GuardLogLines, NameOfAProgramCanForgeNothing) {
  guard_log log(to_);
  log.speak_as(static_cast<std::uint32_t>(log::log_form::json), "");
  process::survivors what{.left = 1, .stuck = 1, .pid = 7, .state = '"'};
  std::string_view("a\"}\n\\").copy(what.name.data(), what.name.size());
  EXPECT_THAT(written([&] { say_survivors(log, what); }),
              HasSubstr("is 7 (a?}\?\?), state \?, in "));
}

TEST_F(GuardLogLines, AnEndIsToldInWords) {
  const auto text = [](int status) { return std::string(ended_words(status).view()); };
  EXPECT_EQ(text(W_EXITCODE(3, 0)), "the workload exited with status 3");
  EXPECT_EQ(text(W_EXITCODE(0, SIGTERM)), "the workload was ended by SIGTERM");
  EXPECT_EQ(text(-1), "the workload has ended");
}

}  // namespace
}  // namespace tenure::guard
