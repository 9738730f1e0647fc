// One agent, many elections.

#include <gmock/gmock.h>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using stores::renewal;

constexpr std::uint32_t many = 100;

TEST_P(StoreContract, OneRenewalKeepsAllTermsAndNamesThoseThatAreLost) {
  auto a = join(settings("a", std::chrono::seconds(20), 1, many));
  std::vector<core::renewal_item> terms;
  for (std::uint32_t i = 0; i < many; ++i) {
    terms.push_back({core::election_index{i}, a->hold(i).version});
  }
  store_->delete_lock("db7");
  store_->delete_lock("db42");
  const auto outcome = a->renew(terms);
  ASSERT_TRUE(std::holds_alternative<renewal>(outcome));
  std::vector<std::size_t> lost;
  for (const auto& one : std::get<renewal>(outcome).lost) lost.push_back(core::place(one.which));
  EXPECT_THAT(lost, testing::ElementsAre(7, 42));
}

TEST_P(StoreContract, ElectionsHaveNothingToDoWithEachOther) {
  auto a = join(settings("a", std::chrono::seconds(10), 1, 2));
  auto b = join(settings("b", std::chrono::seconds(10), 1, 2));
  const auto of_a = a->hold(0);
  const auto of_b = b->hold(1);
  EXPECT_THAT(a->read(0).holders, testing::ElementsAre(own("a", of_a.version)));
  EXPECT_THAT(a->read(1).holders, testing::ElementsAre(other("b", of_b.version)));
  a->release(0);
  EXPECT_EQ(b->read(1).holders.size(), 1u);
}

TEST_P(StoreContract, ManyCallsAtOnceAreAllAnswered) {
  auto a = join(settings("a", std::chrono::seconds(20), 1, many));
  std::uint32_t granted = 0;
  for (std::uint32_t i = 0; i < many; ++i) {
    (*a)->acquire(core::election_index{i}, core::no_version, soon(),
                  [&](stores::acquire_outcome outcome) {
                    if (std::holds_alternative<stores::grant>(outcome)) ++granted;
                  });
  }
  EXPECT_TRUE(loop_.run_until([&] { return granted == many; })) << granted << " were granted";
}

}  // namespace
}  // namespace tenure::tests
