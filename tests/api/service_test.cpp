#include "api/service.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "raw_client.hpp"
#include "scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;

/// A service over published snapshots, with a clock that is moved by hand.
struct served {
  served() {
    published.beat(start);
    settings.api = settings::listen_address{"127.0.0.1", 0};
    settings.probe = settings::listen_address{"127.0.0.1", 0};
  }

  void publish(scene&& what) { publish(what); }
  void publish(scene& what) {
    published.publish(std::make_shared<const api::snapshot>(what.seen.share()));
  }
  api::clocks clocks() {
    return {.boot = [this] { return core::time_point(core::duration(now.load())); },
            .unix_ms = [] { return start_unix_ms; }};
  }
  auto begin() { return api::service::start(published, settings, clocks()); }

  api::published published;
  api::service_settings settings;
  std::atomic<std::int64_t> now{start.time_since_epoch().count()};
};

TEST(Service, AnswersFromTheBoardAtTheTimeOfTheAnswer) {
  served s;
  scene active;
  active.hold(core::phase::active);
  s.publish(active);
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  raw_client client((*service)->api_address().value());
  raw_client probe((*service)->probe_address().value());
  EXPECT_THAT(client.ask(get("/v1/elections/db")).body, HasSubstr("\"is_self\":true"));
  EXPECT_EQ(probe.ask(get("/leader")).status, 200);

  s.now += std::chrono::nanoseconds(10s).count();  // nothing new is published
  EXPECT_THAT(client.ask(get("/v1/elections/db")).body, HasSubstr("\"is_self\":false"));
  EXPECT_EQ(probe.ask(get("/leader")).status, 503);
}

TEST(Service, OnceStoppedUsesWhatItServedNoMore) {
  served s;
  auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  (*service)->stop();
  int changes = 0;
  s.published.on_change([&changes] { ++changes; });
  service->reset();
  scene next;
  next.seen.index = 7;
  s.publish(next);
  EXPECT_EQ(changes, 1) << "an agent's end destroys what was published before its listeners";
}

TEST(Service, NewSnapshotShowsInTheNextAnswer) {
  served s;
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  raw_client client((*service)->api_address().value());
  EXPECT_EQ(client.ask(get("/")).status, 503);
  s.publish(scene());
  EXPECT_EQ(client.ask(get("/")).status, 200);
}

TEST(Service, LivezFollowsTheBeatOfTheLoop) {
  served s;
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  raw_client probe((*service)->probe_address().value());
  EXPECT_EQ(probe.ask(get("/livez")).status, 200);
  s.now += std::chrono::nanoseconds(s.settings.beat_bound + 1ns).count();
  EXPECT_EQ(probe.ask(get("/livez")).status, 503);
  s.published.beat(core::time_point(core::duration(s.now.load())));
  EXPECT_EQ(probe.ask(get("/livez")).status, 200);
}

TEST(Service, ListenersCanBeOff) {
  served s;
  s.settings.probe.reset();
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  EXPECT_TRUE((*service)->api_address());
  EXPECT_FALSE((*service)->probe_address());
}

TEST(Service, PortInUseSaysWhichListenerAndWhatToDo) {
  served s;
  const auto first = s.begin();
  ASSERT_TRUE(first) << first.error().text;
  served other;
  other.settings.api = (*first)->api_address();
  const auto second = other.begin();
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().which, api::listener::api);
  EXPECT_EQ(second.error().kind, http::listen_failure::in_use);
  EXPECT_EQ(second.error().text,
            "cannot listen on " + settings::text(*(*first)->api_address()) +
                ": it is in use by another process; give another address with --listen, or "
                "--listen off");

  other.settings.api.reset();
  other.settings.probe = (*first)->probe_address();
  const auto third = other.begin();
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().which, api::listener::probe);
  EXPECT_THAT(third.error().text, HasSubstr("--probe-listen off"));
}

TEST(Service, AllowedHostNamesAreAnswered) {
  served s;
  s.settings.hosts = {"agent.svc"};
  s.publish(scene());
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  raw_client client((*service)->api_address().value());
  EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHost: agent.svc\r\n\r\n").status, 200);
  EXPECT_EQ(client.ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
}

TEST(Service, ProbesAreForNoPageOfAStranger) {
  served s;
  s.publish(scene());
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  raw_client probe((*service)->probe_address().value());
  EXPECT_EQ(probe.ask("GET /livez HTTP/1.1\r\nHost: 10.1.2.3:4041\r\n\r\n").status, 200);
  for (const char* path : {"/livez", "/leader", "/metrics"}) {
    const std::string asked =
        std::string("GET ") + path + " HTTP/1.1\r\nHost: [::1].evil.com\r\n\r\n";
    EXPECT_EQ(raw_client((*service)->probe_address().value()).ask(asked).status, 403) << path;
  }
}

TEST(Service, ReadersNeverSeeHalfASnapshot) {
  served s;
  scene one;
  one.hold(core::phase::active);
  s.publish(one);
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  std::jthread election_thread([&](const std::stop_token& stop) {
    for (std::uint64_t i = 1; !stop.stop_requested(); ++i) {
      scene next;
      next.hold(core::phase::active);
      next.view().lease->version = core::version{i};
      next.view().sequencer = std::to_string(i);
      s.publish(next);
      s.published.beat(start);
    }
  });
  raw_client client((*service)->api_address().value());
  for (int i = 0; i < 200; ++i) {
    const auto db = nlohmann::json::parse(client.ask(get("/v1/elections/db")).body);
    if (db["sequencer"] == "proof-7") continue;
    EXPECT_EQ(db["sequencer"], db["version_text"]);
  }
}

TEST(Service, StopEndsEverythingInOrder) {
  served s;
  const auto service = s.begin();
  ASSERT_TRUE(service) << service.error().text;
  raw_client client((*service)->api_address().value());
  EXPECT_EQ(client.ask(get("/livez")).status, 200);
  (*service)->stop();
  EXPECT_TRUE(client.closed_by_server());
  (*service)->stop();
}

}  // namespace
}  // namespace tenure::tests
