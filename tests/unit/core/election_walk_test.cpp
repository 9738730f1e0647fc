// Random events in a random order, answered as the store and the guard might or might not. The
// invariants are checked after every step.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

#include "unit/core/conversation.hpp"

namespace tenure::core::testing {
namespace {

/// Walks one election through random events and keeps its own records, independent of the
/// election's: what runs, and until when the acknowledged renewals allow it to.
class walk {
 public:
  walk(std::uint64_t seed, election_settings settings)
      : bits_(seed), settings_(settings), talker_(std::move(settings)) {}

  void run(int steps) {
    if (settings_.campaigns && one_in(4)) step(what_is_found());
    step(event::started{.session_was_used = one_in(3),
                        .last_term = one_in(2) ? version_ : no_version});
    if (!one_in(8)) step(shows_free(no_version));
    for (int i = 0; i < steps && !::testing::Test::HasFatalFailure(); ++i) {
      pass_time();
      step(draw());
    }
  }

  [[nodiscard]] int starts() const { return starts_; }
  [[nodiscard]] bool finished() const { return finished_; }

 private:
  bool one_in(std::uint64_t n) { return bits_() % n == 0; }
  duration upto(duration most) {
    return duration(static_cast<std::int64_t>(bits_() % static_cast<std::uint64_t>(most.count())));
  }

  /// Sometimes to the next wake, as in a quiet system; sometimes past it, as in a slow one.
  void pass_time() {
    const time_point wake = talker_.next_wake();
    if (one_in(2) && wake != never && wake < now_ + 1h) {
      now_ = std::max(now_, wake);
    } else if (!one_in(4)) {
      now_ += upto(one_in(20) ? duration(30s) : duration(2s));
    }
  }

  time_point recently() { return std::max(last_sent_, now_ - upto(4s)); }

  election_event draw() {
    const core::version ours = talker_.view().lease ? talker_.view().lease->version : version_;
    switch (bits_() % 23) {
      case 0:
      case 1:
      case 2: {
        if (one_in(3)) version_ = core::version{number(version_) + 1};
        const duration ttl = one_in(10) ? duration(8s) : duration(15s);
        return event::granted{.number = asked_,
                              .version = version_,
                              .ttl = ttl,
                              .sent_at = std::max(asked_at_, now_ - upto(4s)),
                              .released_cleanly = one_in(2)};
      }
      case 3:
        return event::refused{.number = asked_, .retry_at = one_in(2) ? never : now_ + 1s};
      case 4:
        return event::acquire_unknown{asked_};
      case 5:
      case 6:
      case 7:
      case 8:
        return event::renewed{.version = ours, .sent_at = recently(), .ttl = 15s};
      case 9:
        return one_in(3) ? election_event(event::lost{
                               .version = ours, .room = one_in(2) ? duration(15s) : duration(0s)})
                         : event::woke{};
      case 10:
        return shows({mine(ours)}, ours);
      case 11:
        return one_in(3) ? shows_other(core::version{number(version_) + 1}) : shows_free(version_);
      case 12:
        return event::watch_failed{};
      case 13:
        return event::released{let_go_};
      case 14:
        return event::release_unknown{let_go_};
      case 15:
        return event::workload_started{ours};
      case 16:
        if (!runs_ || !one_in(2)) return event::woke{};
        runs_ = false;
        return event::workload_exited{};
      case 17:
        return one_in(2) ? election_event(event::workload_unhealthy{}) : event::woke{};
      case 18:
        return event::workload_healthy{};
      case 19:
        return one_in(2) ? election_event(event::resign{upto(20s)}) : event::woke{};
      case 20:
        if (!runs_ && talker_.view().phase == phase::candidate && one_in(3)) {
          return what_is_found();
        }
        return event::resume{};
      case 21:
        return one_in(2) ? election_event(event::slept{upto(2s)}) : event::woke{};
      default:
        return one_in(60) ? election_event(event::shutdown{}) : event::woke{};
    }
  }

  /// The guard still runs a workload that an earlier agent started.
  event::workload_found what_is_found() {
    runs_ = true;
    armed_ = version_;
    kill_at_ = now_ + upto(12s);
    kill_by_ = never;
    return {.version = version_,
            .stop_at = std::max(now_ + 1ns, kill_at_ - 2s),
            .kill_at = kill_at_,
            .stopping = one_in(4)};
  }

  void step(const election_event& what) {
    const bool was_stopped = talker_.view().phase == phase::stopped;
    const effects orders = talker_.step({now_, bits_()}, what);
    for (const election_command& order : orders) {
      log_ += in_words(order) + ", ";
      if (was_stopped) {
        ASSERT_TRUE(std::holds_alternative<command::publish>(order)) << log_;
      }
      std::visit([&](const auto& c) { obey(c); }, order);
    }
    log_ = log_.substr(log_.size() > 600 ? log_.size() - 600 : 0);
    check();
    const bool leaves_it_to_the_next = std::holds_alternative<event::slept>(what);
    ASSERT_TRUE(leaves_it_to_the_next || talker_.next_wake() > now_)
        << "would turn without end: " << log_;
  }

  void obey(const command::acquire& c) {
    ASSERT_EQ(talker_.view().phase, phase::candidate) << log_;
    ASSERT_TRUE(!runs_ || talker_.adopting()) << log_;
    ASSERT_GT(c.deadline, now_);
    asked_ = c.number;
    asked_at_ = now_;
  }
  void obey(const command::release& c) {
    ASSERT_FALSE(runs_) << "released what may still run: " << log_;
    let_go_ = c.number;
  }
  void obey(const command::arm& c) {
    armed_ = c.version;
    kill_at_ = c.kill_at;
  }
  void obey(const command::start_workload& c) {
    ASSERT_FALSE(runs_) << "two workloads: " << log_;
    ASSERT_EQ(c.version, armed_) << "started without a deadline: " << log_;
    ASSERT_GT(kill_at_, now_) << log_;
    runs_ = true;
    kill_by_ = never;
    ++starts_;
  }
  void obey(const command::stop_workload& c) {
    if (runs_) ASSERT_LT(c.kill_by, kill_by_) << "a later order may only shorten: " << log_;
    kill_by_ = c.kill_by;
  }
  void obey(const command::finished&) {
    ASSERT_FALSE(runs_) << log_;
    ASSERT_FALSE(finished_) << "twice: " << log_;
    finished_ = true;
  }
  void obey(const command::watch&) {}
  void obey(const command::transition&) {}
  void obey(const command::publish&) {}
  void obey(const command::forget_grants&) {}
  void obey(const command::announce&) {}
  void obey(const command::stand_in_line&) {}

  void check() {
    const election_view& v = talker_.view();
    if (v.phase == phase::draining && !runs_) {
      ASSERT_NE(talker_.next_wake(), never) << "waits for nothing: " << log_;
    }
    if (v.lease) {
      ASSERT_LE(v.lease->sent_at, now_);
      ASSERT_LT(v.lease->stop_at, v.lease->kill_at);
      ASSERT_LT(v.lease->kill_at, v.lease->safe_until);
      ASSERT_LT(v.lease->safe_until, v.lease->sent_at + v.lease->ttl);
      last_sent_ = v.lease->sent_at;
    }
    ASSERT_EQ(v.valid_at(now_), v.phase == phase::active)
        << "an active holder whose lease has run out was not stopped: " << log_;
    if (runs_ && v.lease && v.lease->version == armed_) {
      ASSERT_LE(std::min(kill_at_, kill_by_), v.lease->kill_at)
          << "the guard waits longer than the lease: " << log_;
      if (now_ >= v.lease->stop_at) {
        ASSERT_LE(kill_by_, v.lease->kill_at) << log_;
      }
    }
    if (runs_) {
      ASSERT_TRUE(v.phase == phase::active || v.phase == phase::draining || talker_.adopting())
          << log_;
    }
    if (v.phase == phase::draining && runs_) {
      ASSERT_NE(kill_by_, never) << log_;
    }
    if (v.phase == phase::candidate || v.phase == phase::stopped) {
      ASSERT_FALSE(v.lease) << log_;
    }
    ASSERT_EQ(v.phase == phase::stopped, finished_) << log_;
  }

  std::mt19937_64 bits_;
  election_settings settings_;
  election talker_;
  time_point now_ = start_of_talk;

  attempt asked_{};
  time_point asked_at_ = start_of_talk;
  attempt let_go_{};
  core::version version_ = five;
  time_point last_sent_ = start_of_talk;

  bool runs_ = false;
  version armed_ = no_version;
  time_point kill_at_{};
  time_point kill_by_ = never;
  bool finished_ = false;
  int starts_ = 0;
  std::string log_;
};

class ElectionWalk : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(ElectionWalk, KeepsTheRulesWhateverHappens) {
  int starts = 0;
  int finished = 0;
  for (std::uint64_t i = 0; i < 75; ++i) {
    const std::uint64_t seed = GetParam() * 1000 + i;
    SCOPED_TRACE("seed " + std::to_string(seed));
    walk one(seed, with(member(), [&](auto& s) {
               s.slots = seed % 5 == 0 ? 3 : 1;
               s.checked_always = seed % 4 == 0;
               s.owns_workload = seed % 6 != 0;
               s.on_lost = seed % 7 == 0 ? after_loss::exit : after_loss::standby;
             }));
    one.run(400);
    if (HasFatalFailure()) return;
    starts += one.starts();
    finished += one.finished() ? 1 : 0;
  }
  EXPECT_GT(starts, 25) << "a walk that never holds tests nothing";
  EXPECT_GT(finished, 5);
}

INSTANTIATE_TEST_SUITE_P(Seeds, ElectionWalk, ::testing::Range<std::uint64_t>(0, 10));

}  // namespace
}  // namespace tenure::core::testing
