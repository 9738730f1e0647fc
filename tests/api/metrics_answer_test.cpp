#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>

#include "api/service.hpp"
#include "http/server/traffic.hpp"
#include "raw_client.hpp"
#include "scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;

/// A service with a page of metrics, whose traffic is counted.
struct served {
  served() {
    published.beat(start);
    api::service_settings with;
    with.api = settings::listen_address{"127.0.0.1", 0};
    with.probe = settings::listen_address{"127.0.0.1", 0};
    with.metrics = [this] { return make_page(); };
    with.api_traffic = &of_api;
    with.probe_traffic = &of_probe;
    auto started = api::service::start(
        published, with, {.boot = [] { return start; }, .unix_ms = [] { return start_unix_ms; }});
    if (started) service = std::move(*started);
  }

  std::function<std::string()> make_page = [] { return "a 1\n"; };
  api::published published;
  http::traffic of_api;
  http::traffic of_probe;
  std::unique_ptr<api::service> service;
};

std::uint64_t answers_of(const http::traffic& counted, unsigned status) {
  const auto at = std::ranges::find(http::traffic::statuses, status);
  return counted.answers(static_cast<std::size_t>(at - http::traffic::statuses.begin()));
}

TEST(MetricsAnswer, IsOnBothListeners) {
  const served s;
  ASSERT_TRUE(s.service);
  for (const auto& where : {s.service->api_address(), s.service->probe_address()}) {
    raw_client client(where.value());
    const reply page = client.ask(get("/metrics"));
    EXPECT_EQ(page.status, 200);
    EXPECT_EQ(page.body, "a 1\n");
    EXPECT_THAT(page.head, HasSubstr("Content-Type: text/plain; version=0.0.4"));
  }
}

TEST(MetricsAnswer, IsForNoPageOfAStranger) {
  const served s;
  ASSERT_TRUE(s.service);
  for (const auto& where : {s.service->api_address(), s.service->probe_address()}) {
    raw_client client(where.value());
    EXPECT_EQ(client.ask("GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n").status, 403);
    EXPECT_EQ(client.ask("GET /metrics HTTP/1.1\r\nHost: 10.1.2.3:8081\r\n\r\n").status, 200)
        << "a scraper uses the address of the pod";
  }
}

/// A page of ten thousand elections takes a fifth of a second.
TEST(MetricsAnswer, OnePageIsMadeForAllWhoWaitForIt) {
  served s;
  ASSERT_TRUE(s.service);
  std::promise<void> begun;
  std::promise<void> go_on;
  int pages = 0;
  s.make_page = [&] {
    if (++pages == 1) {
      begun.set_value();
      go_on.get_future().wait();
    }
    return "page " + std::to_string(pages) + "\n";
  };
  raw_client first(s.service->probe_address().value());
  first.send(get("/metrics"));
  begun.get_future().wait();
  std::deque<raw_client> others;
  for (int i = 0; i < 20; ++i) {
    others.emplace_back(s.service->probe_address().value()).send(get("/metrics"));
  }
  go_on.set_value();
  EXPECT_EQ(first.receive().body, "page 1\n");
  for (raw_client& one : others) EXPECT_EQ(one.receive().body, "page 2\n");
}

TEST(MetricsAnswer, OtherMethodsAreRefused) {
  const served s;
  ASSERT_TRUE(s.service);
  raw_client probe(s.service->probe_address().value());
  EXPECT_EQ(probe.ask("POST /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n").status, 405);
  probe.send("HEAD /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(probe.receive(false).status, 200);
}

TEST(MetricsAnswer, TrafficIsCountedByListenerAndStatus) {
  const served s;
  ASSERT_TRUE(s.service);
  {
    raw_client probe(s.service->probe_address().value());
    EXPECT_EQ(probe.ask(get("/livez")).status, 200);
    EXPECT_EQ(probe.ask(get("/nothing")).status, 404);
    EXPECT_EQ(probe.ask("no HTTP\r\n\r\n").status, 400) << "what the server itself refuses counts";
  }
  s.service->stop();
  EXPECT_EQ(answers_of(s.of_probe, 200), 1U);
  EXPECT_EQ(answers_of(s.of_probe, 404), 1U);
  EXPECT_EQ(answers_of(s.of_probe, 400), 1U);
  EXPECT_EQ(s.of_probe.connections_opened(), 1U);
  EXPECT_EQ(s.of_probe.connections(), 0U);
  EXPECT_EQ(s.of_api.connections_opened(), 0U);
}

}  // namespace
}  // namespace tenure::tests
