#include "health/health_monitor.hpp"

#include <gtest/gtest.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/post.hpp>
#include <optional>

#include "base/boot_time.hpp"
#include "support/patience.hpp"

namespace tenure::health {
namespace {

using namespace std::chrono_literals;
using core::health;

/// Answers as the test says; hangs until the test says something.
class told_check final : public health_check {
 public:
  explicit told_check(boost::asio::io_context& io) : io_(io) {}

  void begin(core::duration, handler done) override {
    ++begun;
    waiting_ = std::make_shared<handler>(std::move(done));
    if (says) {
      boost::asio::post(io_, [noted = std::weak_ptr(waiting_), what = *says] {
        if (const auto waiting = noted.lock()) (*waiting)(what);
      });
    }
  }
  void cancel() override {
    ++cancelled;
    waiting_.reset();
  }
  [[nodiscard]] const std::string& subject() const override { return subject_; }

  std::optional<verdict> says;
  int begun = 0;
  int cancelled = 0;

 private:
  boost::asio::io_context& io_;
  std::string subject_ = "told";
  std::shared_ptr<handler> waiting_;
};

const health_check::verdict well = std::nullopt;
const health_check::verdict ill = "it is ill";

/// A monitor whose checks follow each other without pauses. Three failures decide.
struct scene {
  explicit scene(bool always, std::size_t checks = 1, core::duration delay = {}) {
    settings::health with;
    with.interval = 1us;
    with.timeout = 1us;
    with.failures = 3;
    with.delay = delay;
    health_monitor::checks made;
    for (std::size_t i = 0; i < checks; ++i) {
      auto one = std::make_unique<told_check>(io);
      told.push_back(one.get());
      made.push_back(std::move(one));
    }
    subject = std::make_unique<health_monitor>(
        loop, with, always, std::move(made), silent,
        log::speaker{.election = "db", .identity = "a"},
        [this] {
          ++changes;
          states.push_back(subject->shown().state);
        },
        [this] { return unix_ms; });
  }

  /// False if the condition does not come true within `patience`.
  bool until(const std::function<bool()>& condition) {
    const core::time_point limit = base::boot_now() + tests::patience;
    while (!condition()) {
      if (base::boot_now() > limit) return false;
      io.restart();
      io.run_one_for(10ms);
    }
    return true;
  }
  bool becomes(health state) {
    return until([&] { return !states.empty() && states.back() == state; });
  }
  /// Waits until this many more checks have begun.
  bool goes_on(int checks = 5) {
    const int from = told[0]->begun;
    return until([&] { return told[0]->begun >= from + checks; });
  }
  void idle() {
    while (io.poll() > 0) io.restart();
    io.restart();
  }

  boost::asio::io_context io;
  http::asio_loop loop{io.get_executor()};
  log::logger silent{log::log_form::logfmt, log::log_level::error};
  std::vector<told_check*> told;
  std::unique_ptr<health_monitor> subject;
  int changes = 0;
  std::int64_t unix_ms = 1;
  std::vector<health> states;
};

TEST(HealthMonitor, ChecksAWorkloadOnlyWhileItRuns) {
  scene s(false);
  s.told[0]->says = well;
  s.subject->start();
  s.idle();
  EXPECT_EQ(s.told[0]->begun, 0);
  EXPECT_EQ(s.subject->shown().since_unix_ms, 1);
  s.unix_ms = 2;
  s.subject->workload_started();
  EXPECT_TRUE(s.becomes(health::healthy));
  EXPECT_EQ(s.subject->shown().since_unix_ms, 2);
  s.subject->workload_stopping();
  EXPECT_TRUE(s.becomes(health::unknown));
  s.idle();
  const int begun = s.told[0]->begun;
  s.idle();
  EXPECT_EQ(s.told[0]->begun, begun);
}

TEST(HealthMonitor, WhoseWorkloadIsNotKnownToBeIllIsFit) {
  scene s(false);
  s.subject->start();
  EXPECT_TRUE(s.subject->fit());
  s.told[0]->says = ill;
  s.subject->workload_started();
  EXPECT_TRUE(s.subject->fit());
  ASSERT_TRUE(s.becomes(health::unhealthy));
  EXPECT_FALSE(s.subject->fit());
  EXPECT_EQ(s.subject->shown().reason, "it is ill");
}

TEST(HealthMonitor, StoppedWorkloadIsForgottenSoThatTheMemberIsFitAgain) {
  scene s(false);
  s.told[0]->says = ill;
  s.subject->start();
  s.subject->workload_started();
  ASSERT_TRUE(s.becomes(health::unhealthy));
  s.subject->workload_stopping();
  EXPECT_TRUE(s.subject->fit());
  ASSERT_TRUE(s.becomes(health::unknown));
  EXPECT_EQ(s.subject->shown().reason, "");
}

TEST(HealthMonitor, AlwaysHasToBeFoundHealthyFirst) {
  scene s(true);
  s.told[0]->says = ill;
  s.subject->start();
  EXPECT_FALSE(s.subject->fit());
  ASSERT_TRUE(s.becomes(health::unhealthy));
  s.told[0]->says = well;
  ASSERT_TRUE(s.becomes(health::healthy));
  EXPECT_TRUE(s.subject->fit());
  s.subject->workload_started();
  s.subject->workload_stopping();
  EXPECT_TRUE(s.subject->fit()) << "what is known does not depend on the workload";
  EXPECT_TRUE(s.goes_on());
}

TEST(HealthMonitor, EachOfSeveralChecksHasToPass) {
  scene s(true, 2);
  s.told[0]->says = well;
  s.told[1]->says = ill;
  s.subject->start();
  ASSERT_TRUE(s.becomes(health::unhealthy));
  EXPECT_EQ(s.subject->shown().reason, "it is ill");
  s.told[1]->says = well;
  EXPECT_TRUE(s.becomes(health::healthy));
}

TEST(HealthMonitor, NextRoundWaitsForEveryAnswerOfTheOneBefore) {
  scene s(true, 2);
  s.told[0]->says = well;
  s.subject->start();
  ASSERT_TRUE(s.until([&] { return s.told[1]->begun == 1; }));
  s.idle();
  EXPECT_EQ(s.told[0]->begun, 1);
}

TEST(HealthMonitor, AnswerAboutAWorkloadThatWasStoppedDoesNotCount) {
  scene s(false);
  s.subject->start();
  s.subject->workload_started();
  ASSERT_TRUE(s.until([&] { return s.told[0]->begun == 1; }));
  s.subject->workload_stopping();
  EXPECT_EQ(s.told[0]->cancelled, 1);
  s.told[0]->says = well;
  s.subject->workload_started();
  EXPECT_TRUE(s.becomes(health::healthy));
}

TEST(HealthMonitor, FailuresInTheDelayAreShownButDoNotCount) {
  scene s(false, 1, 1h);
  s.told[0]->says = ill;
  s.subject->start();
  s.subject->workload_started();
  ASSERT_TRUE(s.goes_on(20));
  EXPECT_EQ(s.subject->shown().state, health::unknown);
  EXPECT_EQ(s.subject->shown().reason, "it is ill");
  EXPECT_TRUE(s.subject->fit());
}

TEST(HealthMonitor, SaysNothingNewAgain) {
  scene s(true);
  s.told[0]->says = well;
  s.subject->start();
  ASSERT_TRUE(s.becomes(health::healthy));
  ASSERT_TRUE(s.goes_on(20));
  EXPECT_EQ(s.changes, 1);
}

TEST(HealthMonitor, IsNotHeardOfAfterItsEnd) {
  scene s(true);
  s.told[0]->says = well;
  s.subject->start();
  ASSERT_TRUE(s.until([&] { return s.told[0]->begun == 1; }));
  s.subject.reset();
  s.io.restart();
  s.io.run();
  EXPECT_EQ(s.changes, 0);
}

}  // namespace
}  // namespace tenure::health
