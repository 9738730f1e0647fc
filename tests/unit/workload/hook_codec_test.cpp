#include "workload/hook_codec.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::workload {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> known{"TENURE_ELECTION=db", "TENURE_IDENTITY=a", "TENURE_VERSION=7",
                                     "TENURE_SEQUENCER=x=y", "TENURE_SLOT=2"};

TEST(HookCodec, GainHasAllThatAWorkloadIsToldOfItsTerm) {
  const hook_order said = order_of(
      {.event = "gain", .version = core::version{7}, .expires_in = 12350ms, .left = {}}, known);
  EXPECT_EQ(said.body,
            R"({"event":"gain","election":"db","identity":"a","version":7,"sequencer":"x=y",)"
            R"("slot":2,"expires_in_ms":12350})");
  EXPECT_THAT(said.environment, Contains("TENURE_EVENT=gain"));
  EXPECT_THAT(said.environment, Contains("TENURE_EXPIRES_IN_MS=12350"));
  EXPECT_THAT(said.environment, Contains("TENURE_VERSION=7"));
  EXPECT_THAT(said.environment, Not(Contains(StartsWith("TENURE_LEFT_MS="))));
}

TEST(HookCodec, StopAlsoSaysHowLongIsLeft) {
  const hook_order said =
      order_of({.event = "stop", .version = core::version{7}, .expires_in = 0s, .left = 2s}, known);
  EXPECT_THAT(said.body, HasSubstr(R"("expires_in_ms":0,"left_ms":2000})"));
  EXPECT_THAT(said.environment, Contains("TENURE_LEFT_MS=2000"));
}

TEST(HookCodec, TimeThatIsOverIsZero) {
  const hook_order said = order_of(
      {.event = "stop", .version = core::version{7}, .expires_in = -5s, .left = -1ms}, known);
  EXPECT_THAT(said.body, HasSubstr(R"("expires_in_ms":0,"left_ms":0})"));
}

TEST(HookCodec, WhatIsNoUtf8IsReplacedAndNeverThrows) {
  const hook_order said =
      order_of({.event = "gain", .version = core::version{7}, .expires_in = 1s, .left = {}},
               {"TENURE_ELECTION=\xff\"\n"});
  EXPECT_THAT(said.body, HasSubstr("\"election\":\"\xEF\xBF\xBD\\\"\\n\""));
}

}  // namespace
}  // namespace tenure::workload
