#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using core::version;
using testing::HasSubstr;

TEST(Probe, LivezFailsOnceTheLoopHasBeenSilentForLongerThanItsBound) {
  scene s;
  s.alive.last_beat = start - 10s;
  EXPECT_EQ(s.probe("/livez").status, 200u);
  s.alive.last_beat = start - 10s - 1ns;
  EXPECT_EQ(s.probe("/livez").status, 503u);
  EXPECT_THAT(s.probe("/livez").body, HasSubstr("loop_stalled"));
}

TEST(Probe, LivezFailsWithoutItsGuard) {
  scene s;
  s.seen.guard_alive = false;
  EXPECT_EQ(s.probe("/livez").status, 503u);
  EXPECT_THAT(s.probe("/livez").body, HasSubstr("guard_dead"));
}

TEST(Probe, LivezDoesNotDependOnTheStore) {
  scene s;
  s.seen.store_opened = false;
  s.seen.elections.clear();
  EXPECT_EQ(s.probe("/livez").status, 200u) << "a restart does not mend a store";
}

TEST(Probe, ReadyzIs200OnAStandby) {
  const scene s;
  EXPECT_EQ(s.probe("/readyz").status, 200u);
}

TEST(Probe, ReadyzSaysWhyNot) {
  scene s;
  s.seen.store_opened = false;
  EXPECT_EQ(s.probe("/readyz").status, 503u);
  EXPECT_THAT(s.probe("/readyz").body, HasSubstr("store_not_opened"));
  s.seen.stopping = true;
  EXPECT_THAT(s.probe("/readyz").body, HasSubstr("stopping"));
}

TEST(Probe, LeaderIs200OnlyFromActiveUntilStopAt) {
  scene s;
  EXPECT_EQ(s.probe("/leader").status, 503u);
  s.hold(phase::pending);
  s.view().workload_running = true;
  EXPECT_EQ(s.probe("/leader").status, 503u);
  s.hold(phase::active);
  EXPECT_EQ(s.probe("/leader").status, 200u);
  EXPECT_EQ(s.probe("/primary").status, 200u);
  s.advance(10s);
  EXPECT_EQ(s.probe("/leader").status, 503u);
  s.hold(phase::draining);
  EXPECT_EQ(s.probe("/leader").status, 503u);
}

TEST(Probe, LeaderWaitsForTheWorkloadIfItIsOursToRun) {
  scene s;
  s.hold(phase::active);
  s.view().workload_running = false;
  EXPECT_EQ(s.probe("/leader").status, 503u);
  EXPECT_THAT(s.probe("/leader").body, HasSubstr("its workload does not run"));
  s.db().owns_workload = false;
  EXPECT_EQ(s.probe("/leader").status, 200u);
}

TEST(Probe, RefusalNamesTheHolder) {
  scene s;
  s.watch_shows({{.identity = "other", .version = version{5}}}, version{5});
  EXPECT_THAT(s.probe("/leader").body, HasSubstr("the holder is other"));
}

TEST(Probe, ReplicaIs200OnlyWhileNothingRunsHere) {
  scene s;
  EXPECT_EQ(s.probe("/replica").status, 200u);
  for (const phase in : {phase::pending, phase::active, phase::draining, phase::stopped}) {
    s.hold(in);
    EXPECT_EQ(s.probe("/replica").status, 503u) << core::name(in);
  }
}

TEST(Probe, ElectionCanBeChosen) {
  scene s;
  s.hold(phase::active);
  s.add("team/cache");
  EXPECT_EQ(s.probe("/leader?election=db").status, 200u);
  EXPECT_EQ(s.probe("/leader?election=team%2Fcache").status, 503u);
  EXPECT_EQ(s.probe("/leader?election=nope").status, 404u);
}

TEST(Probe, StatusIsTheSameForHeadAndOptions) {
  scene s;
  s.hold(phase::active);
  for (const char* path : {"/livez", "/readyz", "/leader", "/replica"}) {
    for (const char* method : {"HEAD", "OPTIONS"}) {
      http::request asked = scene::get(path);
      asked.method = method;
      EXPECT_EQ(s.probe(asked).status, s.probe(path).status);
    }
  }
}

TEST(Probe, PostIsRefused) {
  const scene s;
  http::request asked = scene::get("/leader");
  asked.method = "POST";
  const http::response r = s.probe(asked);
  EXPECT_EQ(r.status, 405u);
  EXPECT_EQ(r.headers.back().value, "GET, HEAD, OPTIONS");
}

TEST(Probe, NothingElseIsAnsweredThere) {
  const scene s;
  EXPECT_EQ(s.probe("/v1/elections").status, 404u) << "the probe port is open to the cluster";
  EXPECT_EQ(s.probe("/").status, 404u);
}

TEST(Probe, ApiListenerHasTheProbesToo) {
  const scene s;
  EXPECT_EQ(s.ask("/livez").status, 200u);
  EXPECT_EQ(s.ask("/leader").status, 503u);
}

}  // namespace
}  // namespace tenure::tests
