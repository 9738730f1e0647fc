#include "runtime/store_outage.hpp"

#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;
using enum store_request;

core::time_point at(core::duration since) {
  return core::time_point(1h + since);
}

const std::string refused = "127.0.0.1:2379: connection refused";
const std::string unknown_ca = "the certificate is from an unknown CA";

TEST(StoreOutage, BeginsOnceAndEndsOnce) {
  store_outage store;
  EXPECT_EQ(store.done(renewal, at(0s)), std::nullopt) << "there was none";
  EXPECT_TRUE(store.failed(renewal, refused, at(1s)));
  EXPECT_FALSE(store.failed(renewal, refused, at(2s)));
  EXPECT_FALSE(store.failed(watch, refused, at(3s)));
  EXPECT_EQ(store.done(renewal, at(4s)), std::nullopt) << "the watch is still broken";
  EXPECT_EQ(store.done(watch, at(6s)), core::duration(5s));
  EXPECT_TRUE(store.failed(watch, refused, at(7s))) << "the next one";
}

TEST(StoreOutage, OfALeaseThatIsLostNobodyAwaitsTheRenewal) {
  store_outage store;
  store.failed(renewal, refused, at(0s));
  store.failed(release, refused, at(1s));
  EXPECT_EQ(store.done(release, at(2s)), core::duration(2s));

  store.failed(renewal, refused, at(3s));
  EXPECT_EQ(store.done(acquire, at(5s)), core::duration(2s));
}

TEST(StoreOutage, WhatIsDeniedForGoodDoesNotComeAndGoWithTheRest) {
  store_outage store;
  EXPECT_TRUE(store.failed(acquire, refused, at(0s)));
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(store.done(renewal, at(i * 1s)), std::nullopt);
    EXPECT_EQ(store.done(watch, at(i * 1s)), std::nullopt) << "it has never been broken";
    EXPECT_FALSE(store.failed(acquire, refused, at(i * 1s)));
  }
}

TEST(StoreOutage, AWatchThatOpensAgainEndsIt) {
  store_outage store;
  store.failed(watch, refused, at(0s));
  store.failed(acquire, refused, at(1s));
  EXPECT_EQ(store.done(watch, at(2s)), core::duration(2s));
}

/// The server was only starting; what is wrong for good shows later.
TEST(StoreOutage, TellsAnotherReason) {
  store_outage store;
  EXPECT_TRUE(store.failed(watch, refused, at(0s)));
  EXPECT_FALSE(store.failed(watch, unknown_ca, at(9s))) << "not at once";
  EXPECT_TRUE(store.failed(watch, unknown_ca, at(10s)));
  EXPECT_FALSE(store.failed(watch, unknown_ca, at(3600s))) << "the same";
  EXPECT_TRUE(store.failed(watch, refused, at(3601s))) << "it is another again";
}

TEST(StoreOutage, TellsReasonsInTurnLessAndLessOften) {
  store_outage store;
  int told = 0;
  for (int second = 0; second < 3600; ++second) {
    told += store.failed(watch, second % 2 == 0 ? refused : unknown_ca, at(second * 1s)) ? 1 : 0;
  }
  EXPECT_EQ(told, 9) << "after 10 s, and then after pauses of 20, 40, ... 1280 s";
  store.done(watch, at(3600s));
  EXPECT_TRUE(store.failed(watch, refused, at(3601s)));
  EXPECT_TRUE(store.failed(watch, unknown_ca, at(3611s))) << "the next outage begins anew";
}

}  // namespace
}  // namespace tenure::runtime
