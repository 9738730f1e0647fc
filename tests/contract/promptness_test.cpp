// When handlers are called, and when not.

#include <gmock/gmock.h>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using stores::acquire_outcome;
using stores::unknown;

TEST_P(StoreContract, CallWhoseDeadlineHasPassedIsUnknownAndNotCarriedOut) {
  auto a = join(settings("a"));
  std::optional<acquire_outcome> outcome;
  (*a)->acquire(core::election_index{0}, core::no_version, base::boot_now(),
                [&](acquire_outcome o) { outcome.emplace(std::move(o)); });
  EXPECT_FALSE(outcome) << "not even then from within the call";
  ASSERT_TRUE(loop_.run_until([&] { return outcome.has_value(); }));
  ASSERT_TRUE(std::holds_alternative<unknown>(*outcome));
  EXPECT_THAT(std::get<unknown>(*outcome).why, testing::HasSubstr("deadline"));
  EXPECT_THAT(a->read().holders, testing::IsEmpty());
}

TEST_P(StoreContract, NothingIsCalledAfterClose) {
  auto a = join(settings("a"));
  const auto watched = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return !watched->seen.empty(); }));
  const std::size_t told = watched->seen.size();
  int called = 0;
  (*a)->acquire(core::election_index{0}, core::no_version, soon(),
                [&](acquire_outcome) { ++called; });
  (*a)->read(core::election_index{0}, soon(), [&](stores::read_outcome) { ++called; });
  a->close();
  loop_.context().restart();
  loop_.context().run();  // ends, as nothing is left that could call
  EXPECT_EQ(called, 0);
  EXPECT_EQ(watched->seen.size(), told);
}

TEST_P(StoreContract, StoreMayBeClosedFromWithinItsOwnHandler) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  bool told = false;
  bool answered = false;
  (*b)->watch(core::election_index{0}, [&](auto) {
    told = true;
    b->close();
  });
  ASSERT_TRUE(loop_.run_until([&] { return told; }));
  (*a)->read(core::election_index{0}, soon(), [&](stores::read_outcome) {
    answered = true;
    a->close();
  });
  ASSERT_TRUE(loop_.run_until([&] { return answered; }));
  loop_.context().restart();
  loop_.context().run();
}

}  // namespace
}  // namespace tenure::tests
