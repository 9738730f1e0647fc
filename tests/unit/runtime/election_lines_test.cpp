#include "runtime/election_lines.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <memory>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "runtime/history.hpp"
#include "runtime/lines.hpp"
#include "unit/core/conversation.hpp"

namespace tenure::runtime {
namespace {

using namespace core::testing;
using core::loss_reason;
using core::version;
using testing::ElementsAre;
using testing::HasSubstr;

/// A real election, and what its log says meanwhile, as a person reads it.
class story {
 public:
  explicit story(core::election_settings with = member()) : subject_(std::move(with)) {
    testing::internal::CaptureStderr();
    log_ = std::make_unique<log::logger>(log::log_form::text, log::log_level::info);
    happens(core::event::started{});
  }
  ~story() {
    if (log_) static_cast<void>(told());
  }
  story(const story&) = delete;
  story& operator=(const story&) = delete;

  story& at(core::duration since_start) {
    now_ = start_of_talk + since_start;
    return *this;
  }

  story& happens(const core::election_event& what) {
    if (const auto* seen = std::get_if<core::event::observed>(&what)) {
      lines_.observed(*log_, me, subject_, seen->what, {now_, answers_});
      terms_.observed(seen->what, instant());
    }
    const core::effects out = subject_.step({.now = now_, .entropy = 0}, what);
    term_end end;
    for (const core::election_command& c : out) {
      if (const auto* a = std::get_if<core::command::acquire>(&c)) asked_ = a->number;
      if (const auto* r = std::get_if<core::command::release>(&c)) {
        let_go_ = r->number;
        if (subject_.holding()) lines_.releasing(subject_.view().lease->safe_until);
      }
      if (const auto* s = std::get_if<core::command::stop_workload>(&c)) {
        end.time_to_stop = std::max(s->kill_by - now_, core::duration::zero());
        end.signal = SIGTERM;
      }
    }
    for (const core::election_command& c : out) {
      if (const auto* t = std::get_if<core::command::transition>(&c)) {
        lines_.changed(*log_, me, subject_, *t, end, note_term(*t), {now_, answers_});
      }
    }
    return *this;
  }

  story& sees(std::vector<core::holder> holders, std::uint64_t as_of,
              std::optional<core::release_record> said = {},
              core::time_point expires_at = core::never) {
    return happens(core::event::observed{{.as_of = version{as_of},
                                          .holders = std::move(holders),
                                          .expires_at = expires_at,
                                          .last_release = std::move(said)}});
  }
  story& is_refused() { return happens(core::event::refused{.number = asked_}); }
  story& is_granted(std::uint64_t version, bool cleanly, core::duration ttl = 15s) {
    const bool saw_nothing = !subject_.view().seen;
    if (saw_nothing) sees({}, 0);
    happens(core::event::granted{.number = asked_,
                                 .version = core::version{version},
                                 .sequencer = "proof",
                                 .ttl = ttl,
                                 .sent_at = now_,
                                 .released_cleanly = cleanly});
    if (!saw_nothing) return *this;
    return sees({{.identity = "me", .version = core::version{version}, .ours = true}}, version);
  }
  story& workload_starts(std::uint64_t version) {
    return happens(core::event::workload_started{core::version{version}});
  }
  story& workload_exits() { return happens(core::event::workload_exited{}); }
  story& is_released() { return happens(core::event::released{let_go_}); }
  story& store_fails() {
    answers_ = false;
    return *this;
  }
  story& store_answers() {
    answers_ = true;
    return *this;
  }
  story& wakes() { return happens(core::event::woke{}); }

  /// The lines so far, without their times. The last call.
  std::vector<std::string> told() {
    log_.reset();
    std::istringstream all(testing::internal::GetCapturedStderr());
    constexpr std::size_t time_and_blank = 14;
    std::vector<std::string> out;
    for (std::string line; std::getline(all, line);) {
      const auto fields = line.find("  election=db");
      EXPECT_NE(fields, std::string::npos) << line;
      out.push_back(line.substr(time_and_blank, fields - time_and_blank));
    }
    return out;
  }

 private:
  [[nodiscard]] api::instant instant() const { return {.now = now_, .unix_ms = 0}; }

  /// As the reporter does.
  std::optional<api::outage> note_term(const core::command::transition& what) {
    const auto& lease = subject_.view().lease;
    if (what.from == core::phase::candidate && lease &&
        (what.to == core::phase::pending || what.to == core::phase::active)) {
      terms_.began(lease->version, what.to == core::phase::active, instant());
    }
    if (what.to == core::phase::draining) {
      terms_.ending(what.why, lease ? lease->sent_at : core::never);
    }
    if (what.from == core::phase::draining) terms_.ended(instant());
    return what.to == core::phase::active ? terms_.active(instant()) : std::nullopt;
  }

  static constexpr log::speaker me{.election = "db", .identity = "me"};
  core::election subject_;
  election_lines lines_;
  history terms_{{.identity = "me", .most = 10, .ttl = 15s, .lock_delay = 500ms}};
  std::unique_ptr<log::logger> log_;
  core::time_point now_ = start_of_talk;
  core::attempt asked_{};
  core::attempt let_go_{};
  bool answers_ = true;
};

const core::holder b{.identity = "b", .version = version{4}};
const core::holder ours{.identity = "me", .version = version{5}, .ours = true};

core::release_record released(loss_reason why) {
  return {.version = version{4}, .holder = "b", .why = why};
}

TEST(ElectionLines, AFirstHolderHasNobodyBeforeIt) {
  story s;
  s.sees({}, 0).is_granted(1, false).at(500ms).wakes().sees(
      {{.identity = "me", .version = version{1}, .ours = true}}, 1);
  EXPECT_THAT(s.told(),
              ElementsAre("info  lease granted under version 1; waiting 500 ms (lock delay): the "
                          "previous holder left no release record",
                          "info  active under version 1"));
}

TEST(ElectionLines, AStandbyTellsBehindWhomAndHowLongNobodyWasActive) {
  story s;
  s.sees({b}, 4).is_refused().sees({b}, 4).at(1s).sees({}, 5, released(loss_reason::resigned));
  s.at(4s).sees({ours}, 5, released(loss_reason::resigned)).is_granted(5, true);
  EXPECT_THAT(s.told(), ElementsAre("info  standing by behind b (version 4)",
                                    "info  nobody holds the lease: b has released it (resigned)",
                                    "info  active under version 5, after 3 s without an active "
                                    "member"))
      << "and not that it sees itself";
}

TEST(ElectionLines, AMemberThatIsPassedTheLeaseSaysWhoHasReleasedIt) {
  story s;
  s.sees({b}, 4).is_refused().sees({b}, 4).at(1s).sees({ours}, 5, released(loss_reason::resigned));
  s.at(1s + 2ms).is_granted(5, true);
  EXPECT_THAT(s.told(), ElementsAre("info  standing by behind b (version 4)",
                                    "info  nobody holds the lease: b has released it (resigned)",
                                    "info  active under version 5, after 2 ms without an active "
                                    "member"));
}

TEST(ElectionLines, AMemberThatHoldsBeforeTheRecordSaysOnlyThatItIsActive) {
  story s;
  s.sees({b}, 4).is_refused().sees({b}, 4).at(1s).sees({ours}, 5).is_granted(5, true);
  EXPECT_THAT(s.told(), ElementsAre("info  standing by behind b (version 4)",
                                    "info  active under version 5, after 0 ms without an active "
                                    "member"));
}

const std::string waits =
    "; waiting 500 ms (lock delay): the previous holder left no release record";

TEST(ElectionLines, AHolderThatVanishedWasSeenToRunOut) {
  story s;
  s.sees({}, 3).sees({b}, 4, {}, start_of_talk + 2s).at(3s).is_granted(5, false);
  s.at(3500ms).wakes();
  EXPECT_THAT(s.told(), ElementsAre("info  standing by behind b (version 4)",
                                    "info  lease granted under version 5" + waits,
                                    "info  active under version 5, after at most 3.5 s without an "
                                    "active member"))
      << "b may have been active since its last renewal";
  story silent;
  silent.sees({b}, 4).is_refused().sees({b}, 4).at(9s).sees({}, 5).at(10s).is_granted(6, false);
  silent.at(10'500ms).wakes();
  EXPECT_THAT(silent.told(),
              ElementsAre("info  standing by behind b (version 4)",
                          "info  nobody holds the lease: b has not renewed it",
                          "info  lease granted under version 6" + waits,
                          "info  active under version 6, after at most 16.5 s without an active "
                          "member"));
}

TEST(ElectionLines, ALeaseThatEndsBeforeItsTimeWasNotLeftToRunOut) {
  story s;
  s.sees({b}, 4, {}, start_of_talk + 6s).is_refused().sees({b}, 4, {}, start_of_talk + 6s);
  s.at(2s).sees({}, 5).at(4s).is_granted(6, false).at(4500ms).wakes();
  EXPECT_THAT(s.told(),
              ElementsAre("info  standing by behind b (version 4)",
                          "info  nobody holds the lease: that of b was deleted from the store",
                          "info  lease granted under version 6" + waits,
                          "info  active under version 6, after at most 13.5 s without an active "
                          "member"));
}

TEST(ElectionLines, WhileTheStoreDoesNotAnswerNobodyIsSaidToHoldNothing) {
  story s;
  s.sees({b}, 4).at(9s).store_fails().sees({}, 5);
  s.at(10s).store_answers().sees({{.identity = "c", .version = version{6}}}, 6);
  EXPECT_THAT(s.told(), ElementsAre("info  standing by behind b (version 4)",
                                    "info  standing by behind c (version 6)"));
  story holder;
  holder.is_granted(5, true).workload_starts(5).sees({ours}, 5).at(12'350ms).store_fails();
  holder.wakes().sees({}, 5).workload_exits().is_released();
  EXPECT_THAT(holder.told(), testing::Not(testing::Contains("info  nobody holds the lease")));
}

TEST(ElectionLines, AStandbyThatSeesALeaseRunOutCampaignsAtOnce) {
  story s;
  s.sees({b}, 4, {}, start_of_talk + 2s).at(2s).sees({}, 4).at(3s).is_granted(5, false);
  s.at(3500ms).wakes();
  EXPECT_THAT(s.told(),
              ElementsAre("info  standing by behind b (version 4)",
                          "info  lease granted under version 5" + waits,
                          "info  active under version 5, after at most 16.5 s without an active "
                          "member"));
  story paused;
  paused.happens(core::event::resign{.aside = core::duration::max()});
  paused.sees({b}, 4, {}, start_of_talk + 2s).at(2s).sees({}, 4);
  EXPECT_THAT(paused.told(),
              testing::Contains("info  nobody holds the lease: b has not renewed it"))
      << "and this one does not";
}

TEST(ElectionLines, AnAgentThatStoodStillWasNotActiveMeanwhile) {
  story s;
  s.is_granted(5, true).workload_starts(5).at(20s).wakes().workload_exits().is_released();
  s.sees({}, 5).at(21s).wakes().is_granted(6, true);
  EXPECT_THAT(s.told(), testing::Contains(
                            "info  active under version 6, after at most 21 s without an active "
                            "member"))
      << "counted from its last renewal, as every other agent counts";
}

TEST(ElectionLines, ALostLeaseSaysUntilWhenTheWorkloadMayStop) {
  story s;
  s.is_granted(5, true).workload_starts(5).at(12'350ms).wakes().workload_exits().is_released();
  s.sees({b}, 6);
  EXPECT_THAT(s.told(),
              ElementsAre("info  active under version 5",
                          "warn  lease lost: no renewal was acknowledged in time; the workload "
                          "gets SIGTERM now, and SIGKILL in 2 s",
                          "info  standing by behind b (version 4)"));
}

TEST(ElectionLines, AnAgentThatStoodStillDoesNotSpeakAsIfItWereNow) {
  story s;
  s.is_granted(5, true).workload_starts(5).at(20s).wakes().workload_exits();
  EXPECT_THAT(s.told(), ElementsAre("info  active under version 5",
                                    "warn  lease lost: no renewal was acknowledged in time; it ran "
                                    "out 7.7 s ago, and the guard stops the workload without the "
                                    "agent"));
}

TEST(ElectionLines, ALossWithoutAWorkloadIsALineToo) {
  story s(with(member(), [](auto& m) { m.owns_workload = false; }));
  s.is_granted(5, true).happens(
      core::event::lost{.version = version{5}, .why = loss_reason::session_invalid});
  s.sees({b}, 6);
  // Those who read its answers have the grace to read that.
  s.at(5s).happens(core::event::woke{});
  EXPECT_THAT(s.told(),
              ElementsAre("info  active under version 5",
                          "warn  lease lost: the store does not know this agent's session any more",
                          "info  standing by behind b (version 4)"));
}

TEST(ElectionLines, ALeaseThatIsTooShortSaysWhatToDo) {
  story s;
  s.is_granted(5, true, 7500ms);
  EXPECT_THAT(
      s.told(),
      ElementsAre("warn  lease given back: its ttl, which the store or the agent before has "
                  "set, is too short for this agent's settings; restart the whole "
                  "member, so that it gets a new lease"));
}

TEST(ElectionLines, AHandOverNamesTheHeirAndWhoGoesFirst) {
  story s;
  s.is_granted(5, true).workload_starts(5);
  s.happens(core::event::resign{.aside = 15s, .heir = "b"}).workload_exits().is_released();
  s.sees({}, 5).sees({b}, 6);
  EXPECT_THAT(
      s.told(),
      ElementsAre("info  active under version 5",
                  "info  giving the lease up in favour of b; the workload "
                  "gets SIGTERM now, and SIGKILL in 20 s",
                  "info  lease released", "info  no campaign for 15 s: others go first",
                  "info  nobody holds the lease", "info  standing by behind b (version 4)"));
}

TEST(ElectionLines, AHolderThatMakesWaySaysForWhomAndWhy) {
  const auto told = [](const term_end& what) {
    testing::internal::CaptureStderr();
    {
      log::logger to(log::log_form::text, log::log_level::info);
      say_ending(to, {.election = "db", .identity = "me"}, what);
    }
    return testing::internal::GetCapturedStderr();
  };
  term_end end{.version = version{5}, .why = loss_reason::preempted, .heir = "b"};
  EXPECT_THAT(told(end), HasSubstr("info  giving the lease up: a member of higher priority is "
                                   "ready (b)  election=db"));
  end.time_to_stop = 20s;
  end.signal = SIGTERM;
  EXPECT_THAT(told(end), HasSubstr("ready (b); the workload gets SIGTERM now, and SIGKILL in"));
}

TEST(ElectionLines, APausedMemberSaysHowItGoesOn) {
  story s;
  s.is_granted(5, true).workload_starts(5);
  s.happens(core::event::resign{.aside = core::duration::max()}).workload_exits().is_released();
  EXPECT_THAT(s.told(), testing::Contains("info  paused: no campaign until it is resumed"));
}

TEST(ElectionLines, AMemberThatHoldsNothingEndsWithoutALine) {
  story s;
  s.sees({b}, 4).happens(core::event::shutdown{});
  EXPECT_THAT(s.told(), ElementsAre("info  standing by behind b (version 4)"));
}

TEST(ElectionLines, AHolderThatVanishesIsMissedBeforeItsLeaseEnds) {
  const auto listed = [](std::vector<core::member> members) {
    return core::event::observed{{.as_of = version{4},
                                  .holders = {b},
                                  .expires_at = start_of_talk + 6s,
                                  .members = core::member_list(std::move(members))}};
  };
  story s;
  s.happens(listed({{.identity = "b"}, {.identity = "me", .says = core::readiness{1}}}));
  s.is_refused().at(2s);
  s.happens(listed({{.identity = "me", .says = core::readiness{1}}}));
  s.happens(listed({{.identity = "me", .says = core::readiness{1}}}));
  EXPECT_THAT(s.told(), ElementsAre("info  standing by behind b (version 4)",
                                    "warn  b has vanished while it held the lease, which ends in "
                                    "4 s; me comes next"));
}

TEST(ElectionLines, AnObserverNamesTheHolder) {
  story s(with(member(), [](auto& m) { m.campaigns = false; }));
  s.sees({b}, 4).sees({}, 5, released(loss_reason::shutdown));
  EXPECT_THAT(s.told(), ElementsAre("info  the lease is held by b (version 4)",
                                    "info  nobody holds the lease: b has released it (shutdown)"));
}

}  // namespace
}  // namespace tenure::runtime
