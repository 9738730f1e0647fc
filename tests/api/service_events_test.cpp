#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>

#include "api/service.hpp"
#include "raw_client.hpp"
#include "scene.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using testing::HasSubstr;
using testing::Not;

/// A service whose scene and clock the test moves.
struct served_scene {
  served_scene() {
    published.beat(start);
    settings.api = settings::listen_address{"127.0.0.1", 0};
    settings.probe.reset();
    s.hold(phase::active);
    publish();
  }

  void begin() {
    auto started = api::service::start(
        published, settings,
        {.boot = [this] { return core::time_point(core::duration(now.load())); },
         .unix_ms = [] { return start_unix_ms; }});
    ASSERT_TRUE(started) << started.error().text;
    service = std::move(*started);
  }
  void publish() { published.publish(std::make_shared<const api::snapshot>(s.seen.share())); }
  void drain() {
    s.view().phase = phase::draining;
    s.publish_change();
    publish();
  }
  raw_client client() const { return raw_client(service->api_address().value()); }

  scene s;
  std::atomic<std::int64_t> now{start.time_since_epoch().count()};
  api::published published;
  api::service_settings settings;
  std::unique_ptr<api::service> service;
};

TEST(ServiceEvents, LongPollIsAnsweredAtTheNextChange) {
  served_scene served;
  served.begin();
  raw_client waiting = served.client();
  waiting.send(get("/v1/elections/db?index=1&wait=10m"));
  raw_client other = served.client();
  EXPECT_EQ(other.ask(get("/v1/elections/db?index=0&wait=10m")).status, 200) << "it has seen less";
  served.drain();
  const reply r = waiting.receive();
  EXPECT_EQ(r.status, 200);
  EXPECT_THAT(r.body, HasSubstr("\"state\":\"draining\""));
  EXPECT_THAT(r.head,
              HasSubstr("ETag: W/\"run1-" + std::to_string(served.s.seen.index) + "\"\r\n"));
}

TEST(ServiceEvents, LongPollWithoutAChangeIsAnsweredWithTheSameIndexOrWith304) {
  served_scene served;
  served.begin();
  raw_client client = served.client();
  const reply same = client.ask(get("/v1/elections/db?index=1&wait=1ms"));
  EXPECT_EQ(same.status, 200);
  EXPECT_THAT(same.body, HasSubstr("\"index\":1,"));
  client.send(get("/v1/elections/db?wait=1ms", "If-None-Match: W/\"run1-1\"\r\n"));
  const reply unmodified = client.receive(false);
  EXPECT_EQ(unmodified.status, 304);
  EXPECT_THAT(unmodified.head, HasSubstr("ETag: W/\"run1-1\"\r\n"));
}

TEST(ServiceEvents, TermThatIsOverByTimeAloneReachesThoseWhoWait) {
  served_scene served;
  // 50 ms before stop_at; nothing is published any more, as when the election thread hangs.
  served.now += std::chrono::nanoseconds(10s - 50ms).count();
  served.begin();
  raw_client waiting = served.client();
  raw_client streaming = served.client();
  waiting.send(get("/v1/elections/db?index=1&wait=10m"));
  streaming.send(get("/v1/elections/db/events"));
  streaming.receive_through("\"is_self\":true");
  served.now += std::chrono::nanoseconds(50ms).count();
  streaming.receive_through("\"is_self\":false");
  EXPECT_THAT(waiting.receive().body, HasSubstr("\"is_self\":false"));
}

TEST(ServiceEvents, StreamFollowsTheChangesOfAThread) {
  served_scene served;
  served.begin();
  raw_client client = served.client();
  client.send(get("/v1/elections/db/events"));
  EXPECT_THAT(client.receive_through("\n\n\r\n"), HasSubstr("Content-Type: text/event-stream"));
  constexpr std::uint64_t last = 5'000;
  {
    std::jthread election_thread([&] {
      for (std::uint64_t i = 8; i <= last; ++i) {
        served.s.view().lease->version = core::version{i};
        served.s.publish_change();
        served.publish();
      }
    });
  }
  client.receive_through("\"version_text\":\"" + std::to_string(last) + "\"");
}

TEST(ServiceEvents, UnixSocketServesTheApiToo) {
  const temporary_directory directory;
  served_scene served;
  served.settings.socket = (directory / "s").string();
  served.begin();
  raw_client client(served.settings.socket);
  EXPECT_EQ(client.ask("GET /v1/elections/db HTTP/1.1\r\nHost: tenure\r\n\r\n").status, 200)
      << "whatever name it is asked by";
}

TEST(ServiceEvents, UnixSocketThatIsInUseSaysWhatToDo) {
  const temporary_directory directory;
  served_scene first;
  first.settings.socket = (directory / "s").string();
  first.begin();
  served_scene second;
  const auto started = api::service::start(
      second.published,
      {.api = std::nullopt, .probe = std::nullopt, .socket = first.settings.socket}, {});
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().which, api::listener::socket);
  EXPECT_EQ(started.error().kind, http::listen_failure::in_use);
  EXPECT_THAT(started.error().text, HasSubstr("give another path with --socket"));
}

TEST(ServiceEvents, BoardMayOutliveTheServiceThatItTells) {
  served_scene served;
  served.begin();
  raw_client waiting = served.client();
  waiting.send(get("/v1/elections/db?index=1&wait=10m"));
  raw_client other = served.client();
  EXPECT_EQ(other.ask(get("/v1/elections/db?index=0&wait=10m")).status, 200) << "it waits now";
  served.service.reset();
  served.drain();
  EXPECT_EQ(served.published.current()->elections[0].view.phase, phase::draining);
  const reply last = waiting.receive();
  EXPECT_EQ(last.status, 200);
  EXPECT_THAT(last.body, Not(HasSubstr("draining"))) << "what it was told at the service's end";
}

}  // namespace
}  // namespace tenure::tests
