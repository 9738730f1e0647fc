#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/printable_text.hpp"
#include "support/event_stream.hpp"
#include "wire/election.hpp"
#include "wire/event.hpp"
#include "wire/order.hpp"
#include "wire/problem.hpp"

/// What the writer of a document makes, its reader reads back: the same value, but that text which
/// does not print is made printable.
namespace tenure::wire {
namespace {

using core::version;
using testing::HasSubstr;

constexpr std::int64_t noon = 1'769'860'800'250;  ///< 2026-01-31T12:00:00.250Z

/// Texts as an attacker would choose them.
const std::vector<std::string>& texts() {
  static const std::vector<std::string> all{
      "plain",
      "quote\" backslash\\ slash/ </script> {\"a\":[1]}",
      "gr\u00fc\u00df \U0001F600",
      "x\u001b[2J\u009b1m\u202e\u2028\n\r\t\u007f\ufeff",
      "not UTF-8: \xff\xfe\xc0\x80\xed\xa0\x80\xf4",
      std::string("a zero \0 inside", 15),
      "null",
      "data: x\n\nevent: y",
      std::string(70'000, '['),
  };
  return all;
}

/// The same text, as a reader has it.
std::string read(const std::string& text) {
  // JSON has U+FFFD in place of what is not UTF-8, for each byte of it.
  const auto utf8 =
      nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return base::printable(nlohmann::json::parse(utf8).get<std::string>());
}

void expect_one_line_of_json(const std::string& body) {
  EXPECT_FALSE(body.contains('\n')) << body;
  EXPECT_FALSE(nlohmann::json::parse(body, nullptr, false).is_discarded()) << body;
}

/// An election in which `t` stands for each text and everything is there.
election_report full(const std::string& t) {
  return {.election = "e" + t,
          .identity = t,
          .agent = t,
          .index = UINT64_MAX,
          .state = "s" + t,
          .is_self = true,
          .holder = core::holder{.identity = t, .version = version{UINT64_MAX}, .slot = UINT32_MAX},
          .holders = {{.identity = t, .version = version{UINT64_MAX}, .slot = UINT32_MAX},
                      {.identity = "b", .version = version{1}}},
          .sequencer = t,
          .since_unix_ms = noon,
          .last_loss = t,
          .last_term = past_term{.who = {.identity = t, .version = version{7}},
                                 .is_self = true,
                                 .ended = true,
                                 .from_unix_ms = noon - 1,
                                 .to_unix_ms = noon,
                                 .reason = t,
                                 .outage_after = outage{noon, 5200, true}},
          .slots = 3,
          .next = t,
          .in_line = true,
          .members =
              std::vector<member_report>{{.identity = t,
                                          .state = t,
                                          .is_self = true,
                                          .ready = true,
                                          .priority = INT32_MIN,
                                          .ready_since_unix_ms = noon},
                                         {.identity = "b", .ready = false, .priority = INT32_MAX},
                                         {}},
          .gone = {{.identity = t, .last_seen_unix_ms = noon}},
          .paused = true,
          .workload_running = true,
          .health = health_report{core::health::unhealthy, t, noon},
          .cluster_id = t,
          .holder_known = false,
          .holder_age_ms = 12'000,
          .expires_in_ms = 0,
          .aside_for_ms = 1,
          .not_campaigning = obstacle{.reason = t, .text = t},
          .as_of_unix_ms = noon,
          .store = {.kind = t, .reachable = false, .last_answer_ms = 3, .why = t}};
}

election_report bare() {
  return {.election = "db", .state = "candidate"};
}

TEST(RoundTrip, Election) {
  for (const std::string& t : texts()) {
    const std::string body = write(full(t));
    expect_one_line_of_json(body);
    const auto back = read_elections(body);
    ASSERT_TRUE(back);
    ASSERT_EQ(back->size(), 1U);
    election_report expected = full(read(t));
    expected.election = read("e" + t);
    expected.state = read("s" + t);
    EXPECT_EQ(back->front(), expected) << body.substr(0, 500);
    EXPECT_EQ(index_in(body), UINT64_MAX);
  }
  EXPECT_EQ(read_elections(write(bare())).value(), std::vector{bare()});
}

TEST(RoundTrip, WhatIsNotKnownOfMembersIsNull) {
  election_report one = bare();
  one.members = std::vector<member_report>{{.identity = "b", .state = "standby"}};
  const auto written = nlohmann::json::parse(write(one));
  EXPECT_EQ(written["next"], nullptr);
  EXPECT_EQ(written["members"][0],
            nlohmann::json::parse(R"({"identity":"b","is_self":false,"state":"standby",
                                      "ready":null,"priority":0,"ready_since":null})"));
  one.next = "b";
  one.members->front() = {.identity = "b",
                          .state = "standby",
                          .ready = true,
                          .priority = -3,
                          .ready_since_unix_ms = noon};
  EXPECT_EQ(nlohmann::json::parse(write(one))["next"], "b");
  EXPECT_EQ(nlohmann::json::parse(write(one))["members"][0],
            nlohmann::json::parse(R"({"identity":"b","is_self":false,"state":"standby",
                "ready":true,"priority":-3,"ready_since":"2026-01-31T12:00:00.250Z"})"));
}

TEST(RoundTrip, EveryTextStaysPrintable) {
  for (const std::string& t : texts()) EXPECT_EQ(base::printable(read(t)), read(t));
  EXPECT_EQ(read("x\u001by"), "x\ufffdy");
  EXPECT_EQ(read(texts()[1]), texts()[1]) << "what prints is not touched";
}

TEST(RoundTrip, ListOfElections) {
  for (const std::size_t count : {0U, 1U, 3U}) {
    std::vector<election_report> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(full("e" + std::to_string(i)));
    const std::string body =
        write_list(count, [&](std::size_t i) { return all[i]; }, "run\"1", 12, noon);
    expect_one_line_of_json(body);
    EXPECT_EQ(read_elections(body), all);
    EXPECT_EQ(index_in(body), 12U);
    EXPECT_THAT(body, HasSubstr(R"(],"agent":"run\"1","index":12,"as_of":"2026-01-31T12:00:00)"));
  }
}

TEST(RoundTrip, WhatTimeAloneChangesDoesNotLast) {
  election_report later = full("x");
  later.holder_age_ms = 99;
  later.expires_in_ms.reset();
  later.aside_for_ms = 99;
  later.not_campaigning->text = "it campaigns again in 2s";
  later.as_of_unix_ms = noon + 99;
  later.store.last_answer_ms = 99;
  EXPECT_EQ(lasting_part(write(later)), lasting_part(write(full("x"))));
  later.next = "another";
  EXPECT_NE(lasting_part(write(later)), lasting_part(write(full("x"))));
  later.next = "x";
  later.paused = false;
  EXPECT_NE(lasting_part(write(later)), lasting_part(write(full("x"))));
}

TEST(RoundTrip, History) {
  for (const std::string& t : texts()) {
    const auto of = [](const std::string& text) {
      return history_report{
          .election = text,
          .identity = text,
          .agent = text,
          .complete_since_unix_ms = noon,
          .terms = {*full(text).last_term, {.who = {.identity = "b", .version = version{1}}}},
          .holder_known = false,
          .store = full(text).store,
          .as_of_unix_ms = noon};
    };
    const std::string body = write(of(t));
    expect_one_line_of_json(body);
    EXPECT_EQ(read_history(body), of(read(t)));
  }
}

TEST(RoundTrip, OlderStatus) {
  for (const std::string& t : texts()) {
    const auto of = [](const std::string& text) {
      return older_status{.name = text,
                          .is_leader = true,
                          .node = text,
                          .as_of_unix_ms = noon,
                          .election = text,
                          .version = version{7}};
    };
    const auto body = nlohmann::json::parse(write(of(t)));
    for (const char* name : {"name", "leader", "node", "election"}) {
      EXPECT_EQ(read(body[name].get<std::string>()), read(t)) << name;
    }
    EXPECT_EQ(body["version"], 7);
  }
  const older_status nobody{.node = "a", .as_of_unix_ms = noon, .election = "db"};
  EXPECT_EQ(nlohmann::json::parse(write(nobody))["name"], "") << "a client takes no other for it";
}

TEST(RoundTrip, Verification) {
  for (const std::string& t : texts()) {
    const auto of = [](const std::string& text) {
      return verification{
          .valid = false,
          .reason = text,
          .message = text,
          .action = text,
          .election = text,
          .asked = {.version = version{UINT64_MAX}, .holder = text, .sequencer = text},
          .holder = core::holder{.identity = text, .version = version{9}},
          .holders = {{.identity = text, .version = version{9}}},
          .source = text,
          .as_of_unix_ms = noon,
          .age_ms = 250,
          .expires_in_ms = 10'000,
          .identity = text,
          .store = full(text).store,
          .cluster_id = text};
    };
    const std::string body = write(of(t));
    expect_one_line_of_json(body);
    EXPECT_EQ(read_verification(body), of(read(t)));
  }
  const verification yes{
      .valid = true, .election = "db", .asked = {.version = version{7}}, .source = "cache"};
  EXPECT_EQ(read_verification(write(yes)), yes);
  const verification by_sequencer{
      .valid = true, .election = "db", .asked = {.sequencer = "proof"}, .source = "cache"};
  EXPECT_EQ(read_verification(write(by_sequencer)), by_sequencer);
}

TEST(RoundTrip, Problem) {
  for (const std::string& t : texts()) {
    const std::string body = write({.code = "c", .message = t, .action = "a" + t});
    expect_one_line_of_json(body);
    EXPECT_EQ(
        read_problem(body),
        (problem{.code = "c", .message = base::printable(t), .action = base::printable("a" + t)}));
    EXPECT_EQ(write(*read_problem(body)), body) << "it is printable on the wire already";
  }
  const problem no_advice{.code = "c", .message = "m"};
  EXPECT_EQ(write(no_advice), R"({"error":{"code":"c","message":"m"}})");
  EXPECT_EQ(read_problem(write(no_advice)), no_advice);
}

/// The order is for the agent, which compares names: nothing in them is replaced but what is not
/// UTF-8.
TEST(RoundTrip, Order) {
  using core::order_action;
  using namespace std::chrono_literals;
  const std::string name = texts()[3];
  const core::order resign{
      .what = order_action::resign, .member = name, .aside = 90s + 500ms + 7us, .heir = name};
  const core::order set{.what = order_action::set, .accept_versions = true};
  const core::order pause{.what = order_action::pause};
  for (const core::order& one : {resign, set, pause}) {
    expect_one_line_of_json(write(one));
    EXPECT_EQ(read_order(one.what, write(one)), one) << write(one);
  }
  for (const core::duration aside : {0ns, 1000ns, 1ns * 86'399'999'999'000, 86'400s + 0ns}) {
    const core::order one{.what = order_action::resign, .aside = aside};
    EXPECT_EQ(read_order(one.what, write(one)), one) << write(one);
  }
  EXPECT_EQ(write(pause), "{}");
  EXPECT_EQ(write({.what = order_action::resign, .aside = 30s}), R"({"aside":"30s"})");
}

TEST(RoundTrip, AcceptedOrder) {
  for (const std::string& t : texts()) {
    const auto of = [](const std::string& text) {
      return accepted_order{.accepted = true,
                            .election = text,
                            .action = text,
                            .by = text,
                            .to = text,
                            .accept_versions = true};
    };
    expect_one_line_of_json(write(of(t)));
    EXPECT_EQ(read_accepted_order(write(of(t))), of(read(t)));
  }
}

TEST(RoundTrip, Event) {
  const std::vector<event> all{{.id = "run-1", .name = "election", .data = write(full(texts()[3]))},
                               {.id = "run-2", .data = "{}"},
                               {.id = "run-3"}};
  std::string stream;
  for (const event& one : all) stream += write(one);
  for (const event& one : all) {
    ASSERT_EQ(tests::read_event(stream), one);
    stream.erase(0, write(one).size());
  }
  EXPECT_FALSE(tests::read_event(stream));
  EXPECT_FALSE(tests::read_event("id: x\ndata: {}\n")) << "it is not over yet";
}

}  // namespace
}  // namespace tenure::wire
