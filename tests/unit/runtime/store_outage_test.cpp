#include "runtime/store_outage.hpp"

#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;
using enum store_request;

core::time_point at(core::duration since) {
  return core::time_point(1h + since);
}

TEST(StoreOutage, BeginsOnceAndEndsOnce) {
  store_outage store;
  EXPECT_EQ(store.done(renewal, at(0s)), std::nullopt) << "there was none";
  EXPECT_TRUE(store.failed(renewal, at(1s)));
  EXPECT_FALSE(store.failed(renewal, at(2s)));
  EXPECT_FALSE(store.failed(watch, at(3s)));
  EXPECT_EQ(store.done(renewal, at(4s)), std::nullopt) << "the watch is still broken";
  EXPECT_EQ(store.done(watch, at(6s)), core::duration(5s));
  EXPECT_TRUE(store.failed(watch, at(7s))) << "the next one";
}

TEST(StoreOutage, OfALeaseThatIsLostNobodyAwaitsTheRenewal) {
  store_outage store;
  store.failed(renewal, at(0s));
  store.failed(release, at(1s));
  EXPECT_EQ(store.done(release, at(2s)), core::duration(2s));

  store.failed(renewal, at(3s));
  EXPECT_EQ(store.done(acquire, at(5s)), core::duration(2s));
}

TEST(StoreOutage, WhatIsDeniedForGoodDoesNotComeAndGoWithTheRest) {
  store_outage store;
  EXPECT_TRUE(store.failed(acquire, at(0s)));
  for (int i = 1; i < 10; ++i) {
    EXPECT_EQ(store.done(renewal, at(i * 1s)), std::nullopt);
    EXPECT_EQ(store.done(watch, at(i * 1s)), std::nullopt) << "it has never been broken";
    EXPECT_FALSE(store.failed(acquire, at(i * 1s)));
  }
}

TEST(StoreOutage, AWatchThatOpensAgainEndsIt) {
  store_outage store;
  store.failed(watch, at(0s));
  store.failed(acquire, at(1s));
  EXPECT_EQ(store.done(watch, at(2s)), core::duration(2s));
}

}  // namespace
}  // namespace tenure::runtime
