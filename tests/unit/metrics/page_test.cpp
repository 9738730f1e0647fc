#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <thread>

#include "api/scene.hpp"
#include "core/timing.hpp"
#include "metrics/instruments.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using core::version;
using metrics::operation;
using metrics::outcome;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

/// The instruments of an agent, with snapshots and a clock that are set by hand.
struct dashboard {
  explicit dashboard(bool has_guard = false) : in({.when = *core::resolve({})}) {
    if (has_guard) in.add_guard();
    published.beat(start);
  }

  std::string page() {
    published.publish(std::make_shared<const api::snapshot>(now.seen.share()));
    return in.page(published, [this] { return now.at; }, lines_lost);
  }

  scene now;
  api::published published;
  metrics::instruments in;
  std::uint64_t lines_lost = 0;
};

TEST(MetricsPage, LostLinesOfTheLogAreCounted) {
  dashboard d;
  EXPECT_THAT(d.page(), HasSubstr("tenure_log_lines_lost_total 0\n"));
  d.lines_lost = 7;
  EXPECT_THAT(d.page(), HasSubstr("tenure_log_lines_lost_total 7\n"));
}

TEST(MetricsPage, ActiveEndsByTheClockAlone) {
  dashboard d;
  d.now.hold(phase::active);
  EXPECT_THAT(d.page(), AllOf(HasSubstr("tenure_election_active{election=\"db\"} 1\n"),
                              HasSubstr("leader_election_master_status{name=\"db\"} 1\n"),
                              HasSubstr("tenure_lease_stop_in_seconds{election=\"db\"} 10\n")));
  d.now.advance(10s);  // stop_at; the election thread has not turned
  EXPECT_THAT(d.page(),
              AllOf(HasSubstr("tenure_election_active{election=\"db\"} 0\n"),
                    HasSubstr("leader_election_master_status{name=\"db\"} 0\n"),
                    HasSubstr("tenure_election_state{election=\"db\",state=\"draining\"} 1\n"),
                    HasSubstr("tenure_election_state{election=\"db\",state=\"active\"} 0\n"),
                    Not(HasSubstr("tenure_lease_stop_in_seconds{"))));
}

TEST(MetricsPage, TrafficIsShownWhereKubernetesIsToldWhichPodIsActive) {
  dashboard d;
  metrics::instruments in({.when = *core::resolve({}), .has_traffic = true});
  const auto page = [&] { return in.page(d.published, [&] { return d.now.at; }, 0); };
  EXPECT_THAT(d.page(), Not(HasSubstr("tenure_traffic")));
  EXPECT_THAT(page(), AllOf(HasSubstr("tenure_traffic_shown 0\n"),
                            HasSubstr("tenure_traffic_failures_total 0\n")));
  in.traffic_named(true);
  in.traffic_failed();
  EXPECT_THAT(page(), AllOf(HasSubstr("tenure_traffic_shown 1\n"),
                            HasSubstr("tenure_traffic_failures_total 1\n")));
}

TEST(MetricsPage, TheClockIsReadAgainForEveryFewElections) {
  dashboard d;
  for (int i = 0; i < 999; ++i) d.now.add("e" + std::to_string(i));
  int readings = 0;
  d.published.publish(std::make_shared<const api::snapshot>(d.now.seen.share()));
  (void)d.in.page(
      d.published,
      [&] {
        ++readings;
        return d.now.at;
      },
      0);
  EXPECT_GT(readings, 50);
}

TEST(MetricsPage, ABrokenWatchVouchesForNoHolder) {
  dashboard d;
  d.now.watch_shows({{.identity = "other", .version = version{9}}}, version{9});
  EXPECT_THAT(
      d.page(),
      AllOf(HasSubstr("tenure_election_version{election=\"db\"} 9\n"),
            HasSubstr("tenure_election_holder_info{election=\"db\",holder=\"other\"} 1\n")));
  d.now.db().watched = false;
  EXPECT_THAT(d.page(), AllOf(Not(HasSubstr("tenure_election_version{")),
                              Not(HasSubstr("tenure_election_holder_info{"))));
}

TEST(MetricsPage, IsUtf8WhateverANameIs) {
  dashboard d;
  d.now.watch_shows({{.identity = "\xff\xfe", .version = version{9}}}, version{9});
  EXPECT_THAT(d.page(), HasSubstr("holder=\"\ufffd\ufffd\"} 1\n"));
}

TEST(MetricsPage, AHolderNeedsNoWatchToKnowItself) {
  dashboard d;
  d.now.hold(phase::active);
  EXPECT_THAT(d.page(),
              AllOf(HasSubstr("tenure_election_version{election=\"db\"} 7\n"),
                    HasSubstr("tenure_election_holder_info{election=\"db\",holder=\"me\"} 1\n")));
}

TEST(MetricsPage, OfSeveralHoldersEachIsThereAndTheNewestVersion) {
  dashboard d;
  d.now.db().slots = 2;
  d.now.watch_shows(
      {{.identity = "a", .version = version{3}}, {.identity = "b", .version = version{5}}},
      version{5});
  EXPECT_THAT(d.page(),
              AllOf(HasSubstr("tenure_election_version{election=\"db\"} 5\n"),
                    HasSubstr("tenure_election_holder_info{election=\"db\",holder=\"a\"} 1\n"),
                    HasSubstr("tenure_election_holder_info{election=\"db\",holder=\"b\"} 1\n"),
                    HasSubstr("tenure_election_slots{election=\"db\"} 2\n")));
}

TEST(MetricsPage, LastOutageIsThatAfterTheNewestEndedTerm) {
  dashboard d;
  d.now.hold(phase::active);
  EXPECT_THAT(d.page(), Not(HasSubstr("tenure_election_last_outage_seconds{")));
  d.now.db().terms = std::make_shared<const api::term_list>(
      api::term_list{{.who = {.identity = "a", .version = version{5}},
                      .ended = true,
                      .outage_after = api::outage{1, 5200, true}},
                     {.who = {.identity = "me", .version = version{7}}, .is_self = true}});
  EXPECT_THAT(d.page(), HasSubstr("tenure_election_last_outage_seconds{election=\"db\"} 5.2\n"));
}

TEST(MetricsPage, TheFirstActivationIsSeenAsAnIncrease) {
  dashboard d;
  const std::string never =
      "tenure_election_transitions_total{election=\"db\",to=\"active\",reason=\"none\"} 0\n";
  EXPECT_THAT(d.page(), HasSubstr(never));
  d.now.db().transitions = {
      {.to = phase::active, .why = core::loss_reason::none, .count = 2},
      {.to = phase::draining, .why = core::loss_reason::renew_timeout, .count = 1}};
  EXPECT_THAT(d.page(),
              AllOf(Not(HasSubstr(never)), HasSubstr("to=\"active\",reason=\"none\"} 2\n"),
                    HasSubstr("to=\"draining\",reason=\"renew_timeout\"} 1\n")));
}

TEST(MetricsPage, WorkloadAndHealthAreThereOnlyIfTheyAreOurs) {
  dashboard d;
  d.now.db().owns_workload = false;
  EXPECT_THAT(d.page(),
              AllOf(Not(HasSubstr("tenure_workload_running{")),
                    Not(HasSubstr("tenure_workload_health{")), Not(HasSubstr("tenure_guard_"))));
  d.now.db().owns_workload = true;
  d.now.seen.health = api::health_report{.state = core::health::unhealthy};
  EXPECT_THAT(d.page(), AllOf(HasSubstr("tenure_workload_running{election=\"db\"} 0\n"),
                              HasSubstr("tenure_workload_health{state=\"unhealthy\"} 1\n"),
                              HasSubstr("tenure_workload_health{state=\"healthy\"} 0\n")));
}

TEST(MetricsPage, StoreIsUpWhileItAnswersByTheClockOfThePage) {
  dashboard d;
  d.now.seen.contact = core::store_contact(15s);
  EXPECT_THAT(d.page(), AllOf(HasSubstr("\ntenure_store_up 0\n"),
                              Not(HasSubstr("tenure_store_silence_seconds "))));
  d.now.store_says(core::contact::answered{});
  d.now.advance(9s);
  EXPECT_THAT(d.page(), AllOf(HasSubstr("\ntenure_store_up 1\n"),
                              HasSubstr("\ntenure_store_silence_seconds 9\n")));
  d.now.advance(1s);
  EXPECT_THAT(d.page(), AllOf(HasSubstr("\ntenure_store_up 0\n"),
                              HasSubstr("\ntenure_store_silence_seconds 10\n")));
  d.now.store_says(core::contact::showed{});
  EXPECT_THAT(d.page(), HasSubstr("\ntenure_store_up 1\n"));
}

TEST(MetricsPage, AStoreThatDoesNotAnswerVouchesForNoHolder) {
  dashboard d;
  d.now.watch_shows({{.identity = "other", .version = version{9}}}, version{9});
  d.now.store_says(core::contact::failed{.asked_at = d.now.at.now, .why = "refused"});
  EXPECT_THAT(d.page(), AllOf(Not(HasSubstr("tenure_election_version{")),
                              Not(HasSubstr("tenure_election_holder_info{"))));
}

TEST(MetricsPage, RequestsAreCountedByWhatCameOfThem) {
  dashboard d;
  d.in.store_answered(operation::acquire, outcome::refused);
  d.in.store_answered(operation::renew, outcome::unknown);
  EXPECT_THAT(
      d.page(),
      AllOf(HasSubstr("tenure_store_requests_total{operation=\"acquire\",outcome=\"refused\"} 1\n"),
            HasSubstr("tenure_store_requests_total{operation=\"renew\",outcome=\"unknown\"} 1\n")));
}

TEST(MetricsPage, TheFirstGuardIsNoRestart) {
  dashboard d(true);
  EXPECT_THAT(d.page(), HasSubstr("\ntenure_guard_up 0\n"));
  d.in.guard_found();
  EXPECT_THAT(d.page(), AllOf(HasSubstr("\ntenure_guard_up 1\n"),
                              HasSubstr("\ntenure_guard_restarts_total 0\n")));
  d.in.guard_hung();
  EXPECT_THAT(d.page(), AllOf(HasSubstr("\ntenure_guard_up 0\n"),
                              HasSubstr("\ntenure_guard_hangs_total 1\n")));
  d.in.guard_found();
  EXPECT_THAT(d.page(), AllOf(HasSubstr("\ntenure_guard_up 1\n"),
                              HasSubstr("\ntenure_guard_restarts_total 1\n")));
}

TEST(MetricsPage, IllnessIsCountedOnceHoweverOftenItIsTold) {
  metrics::instruments in({.when = *core::resolve({}), .has_health = true});
  const api::published nothing;
  const auto page = [&] { return in.page(nothing, [] { return api::instant{}; }, 0); };
  in.health_is(core::health::healthy);
  EXPECT_THAT(page(), HasSubstr("\ntenure_workload_unhealthy_total 0\n"));
  in.health_is(core::health::unhealthy);
  in.health_is(core::health::unhealthy);
  EXPECT_THAT(page(), HasSubstr("\ntenure_workload_unhealthy_total 1\n"));
  in.health_is(core::health::unknown);
  in.health_is(core::health::unhealthy);
  EXPECT_THAT(page(), HasSubstr("\ntenure_workload_unhealthy_total 2\n"));
}

TEST(MetricsPage, SilenceOfTheLoopIsMeasuredWhenAsked) {
  dashboard d;
  d.now.at.now += 12s;
  EXPECT_THAT(d.page(), HasSubstr("\ntenure_loop_silence_seconds 12\n"));
}

/// With the thread sanitizer this is also the proof that nothing is shared without an atomic.
TEST(MetricsPage, NothingIsLostThatIsCountedWhileAPageIsMade) {
  dashboard d;
  for (int i = 0; i < 200; ++i) d.now.add("e" + std::to_string(i));
  constexpr int times = 20'000;
  std::thread election_thread([&] {
    for (int i = 0; i < times; ++i) {
      d.in.store_answered(operation::renew, outcome::done);
      d.in.renewal_took(1ms);
    }
  });
  for (int i = 0; i < 20; ++i) (void)d.page();
  election_thread.join();
  EXPECT_THAT(
      d.page(),
      AllOf(HasSubstr("tenure_store_requests_total{operation=\"renew\",outcome=\"done\"} 20000\n"),
            HasSubstr("tenure_lease_renewal_duration_seconds_count 20000\n"),
            HasSubstr("tenure_lease_renewal_duration_seconds_bucket{le=\"0.001\"} 20000\n")));
}

}  // namespace
}  // namespace tenure::tests
