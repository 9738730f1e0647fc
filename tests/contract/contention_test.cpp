// Several processes that want the same lease.

#include <gmock/gmock.h>

#include <algorithm>
#include <cstdio>

#include "store_under_test.hpp"

namespace tenure::tests {
std::vector<std::string> contender_of(const store_under_test& store, const std::string& identity,
                                      const std::string& ttl_ms, const std::string& manner) {
  stores::setup access;
  store.give_access(access);
  return {CONTENDER, store.kind(),          store.endpoint(),         identity,         ttl_ms,
          manner,    access.secure.ca_file, access.secure.token_file, access.name_space};
}

namespace {

struct hold {
  core::version version{};
  long long from = 0;
  long long to = 0;
};

/// Reads from each contender until it has held `rounds` times.
std::vector<hold> collect(std::vector<child>& contenders, int rounds) {
  std::vector<hold> all;
  for (child& one : contenders) {
    for (int i = 0; i < rounds; ++i) {
      unsigned long long version = 0;
      unsigned long long released = 0;
      hold held;
      const auto gained = one.line();
      const auto ended = one.line();
      const bool read = gained && ended &&
                        std::sscanf(gained->c_str(), "+ %llu %lld", &version, &held.from) == 2 &&
                        std::sscanf(ended->c_str(), "- %llu %lld", &released, &held.to) == 2;
      EXPECT_TRUE(read) << "a contender has ended; its reason is on stderr";
      if (!read) return all;
      EXPECT_EQ(version, released);
      held.version = core::version{version};
      all.push_back(held);
    }
  }
  std::ranges::sort(all, {}, &hold::from);
  return all;
}

void expect_one_at_a_time(const std::vector<hold>& all) {
  for (std::size_t i = 1; i < all.size(); ++i) {
    ASSERT_LT(all[i - 1].to, all[i].from) << "two held at once";
    ASSERT_LT(all[i - 1].version, all[i].version) << "a later holder has a smaller version";
  }
}

TEST_P(StoreContract, OfFourProcessesNeverTwoHoldAndVersionsGrow) {
  std::vector<child> contenders;
  for (const char* identity : {"a", "b", "c", "d"}) {
    contenders.emplace_back(contender_of(*store_, identity, "10000"));
  }
  constexpr int rounds = 25;
  const std::vector<hold> all = collect(contenders, rounds);
  ASSERT_EQ(all.size(), 4u * rounds);
  expect_one_at_a_time(all);
}

TEST_P(StoreContract, ReleaseHandsOverToAWaitingProcessWithoutItsPolling) {
  std::vector<child> contenders;
  for (const char* identity : {"a", "b"}) {
    // With this TTL, a single hand-over by expiry instead of by the watch would end the test.
    contenders.emplace_back(contender_of(*store_, identity, "3600000", "polite"));
  }
  constexpr int rounds = 20;
  const std::vector<hold> all = collect(contenders, rounds);
  ASSERT_EQ(all.size(), 2u * rounds);
  expect_one_at_a_time(all);
}

}  // namespace
}  // namespace tenure::tests
