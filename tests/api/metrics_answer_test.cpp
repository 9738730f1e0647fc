#include "api/metrics_answer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/service.hpp"
#include "net/traffic.hpp"
#include "raw_client.hpp"
#include "scene.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;

/// A service with a page of metrics, whose traffic is counted.
struct served {
  served() {
    board.beat(start);
    api::service_settings with;
    with.api = net::listen_address{"127.0.0.1", 0};
    with.probe = net::listen_address{"127.0.0.1", 0};
    with.metrics = [] { return "a 1\n"; };
    with.api_traffic = &of_api;
    with.probe_traffic = &of_probe;
    auto started = api::service::start(
        board, with, {.boot = [] { return start; }, .unix_ms = [] { return start_unix_ms; }});
    if (started) service = std::move(*started);
  }

  api::board board;
  net::traffic of_api;
  net::traffic of_probe;
  std::unique_ptr<api::service> service;
};

std::uint64_t answers_of(const net::traffic& counted, unsigned status) {
  const auto at = std::ranges::find(net::traffic::statuses, status);
  return counted.answers(static_cast<std::size_t>(at - net::traffic::statuses.begin()));
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

TEST(MetricsAnswer, ApiTellsItToNoPageOfAStranger) {
  const served s;
  ASSERT_TRUE(s.service);
  const std::string by_another_name = "GET /metrics HTTP/1.1\r\nHost: evil.example\r\n\r\n";
  raw_client client(s.service->api_address().value());
  EXPECT_EQ(client.ask(by_another_name).status, 403);
  raw_client probe(s.service->probe_address().value());
  EXPECT_EQ(probe.ask(by_another_name).status, 200) << "a scraper uses the address of the pod";
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
