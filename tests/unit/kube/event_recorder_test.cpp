#include "kube/event_recorder.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "support/hand_loop.hpp"

namespace tenure::kube {
namespace {

using nlohmann::json;
using std::chrono::seconds;
using testing::EndsWith;

/// Answers when the test says so.
class slow_api_server final : public api_server {
 public:
  void call(api_request what, core::time_point, handler done) override {
    asked_.push_back(std::move(what));
    open_.push_back(std::move(done));
  }
  std::unique_ptr<api_stream> follow(api_request, core::time_point, stream_handlers) override {
    return nullptr;
  }
  void close() override { open_.clear(); }

  void answer_all() {
    for (handler& one : std::exchange(open_, {})) one("{}");
  }
  [[nodiscard]] std::size_t asked() const { return asked_.size(); }
  [[nodiscard]] std::string last_note() const {
    return json::parse(asked_.back().body)["note"].get<std::string>();
  }

 private:
  std::vector<api_request> asked_;
  std::vector<handler> open_;
};

class EventRecorder : public testing::Test {
 protected:
  void record(std::size_t times) {
    for (std::size_t i = 0; i < times; ++i) {
      recorder_.record(gain_of("db", core::version{7}, false), "db");
    }
  }

  tests::hand_loop loop_;
  slow_api_server api_;
  const settings::kubernetes its_{.events = true, .pod_name = "db-0", .pod_namespace = "team"};
  log::logger log_{log::log_form::logfmt, log::log_level::debug, [](const std::string&) {}};
  event_recorder recorder_{{.loop = loop_,
                            .through = api_,
                            .its = its_,
                            .lease_namespace = "team",
                            .identity = "db-0",
                            .to = log_,
                            .unix_ms = [] { return 0; },
                            .patience = seconds(5)}};
};

TEST_F(EventRecorder, SaysHowManyEventsTheLimitHasLeftOut) {
  for (std::uint32_t i = 0; i < event_limit::at_once + 3; ++i) {
    record(1);
    api_.answer_all();
  }
  EXPECT_EQ(api_.asked(), event_limit::at_once);
  loop_.pass(event_limit::then_one_in);
  record(1);
  EXPECT_THAT(api_.last_note(), EndsWith("; 3 Events before were left out"));
}

TEST_F(EventRecorder, SaysHowManyWereLeftOutWhileTheApiServerDidNotAnswer) {
  record(event_recorder::most_under_way + 2);
  EXPECT_EQ(api_.asked(), event_recorder::most_under_way);
  api_.answer_all();
  record(1);
  EXPECT_THAT(api_.last_note(), EndsWith("; 2 Events before were left out"));
}

}  // namespace
}  // namespace tenure::kube
