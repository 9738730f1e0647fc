// How a store's contact is known from all requests, of any sender.

#include <gmock/gmock.h>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

/// Counts what a store tells.
struct ear {
  int answered = 0;
  int showed = 0;
  std::vector<std::string> failed;

  std::function<void(const core::contact_event&)> listener() {
    return [this](const core::contact_event& what) {
      if (std::holds_alternative<core::contact::answered>(what)) ++answered;
      if (std::holds_alternative<core::contact::showed>(what)) ++showed;
      if (const auto* one = std::get_if<core::contact::failed>(&what)) failed.push_back(one->why);
    };
  }
};

TEST_P(StoreContract, WatchIsVouchedForAgainAndAgainWithoutARequestOfOurs) {
  ear heard;
  stores::setup with = settings("a", std::chrono::seconds(2));
  with.hears = heard.listener();
  auto a = join(with);
  const auto watched = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return !watched->seen.empty(); }));
  const int before = heard.showed;
  const auto shown = watched->seen.size();
  ASSERT_TRUE(loop_.run_until([&] { return heard.showed >= before + 4; }));
  EXPECT_EQ(watched->seen.size(), shown) << "nothing has changed";
  EXPECT_THAT(heard.failed, testing::IsEmpty());
}

TEST_P(StoreContract, EveryRequestIsHeardToBeAnsweredAlsoByARefusal) {
  auto holder = join(settings("b"));
  const stores::grant held = holder->hold();
  ear heard;
  stores::setup with = settings("a");
  with.hears = heard.listener();
  auto a = join(with);
  const int before = heard.answered;
  ASSERT_TRUE(std::holds_alternative<stores::refusal>(a->acquire()));
  EXPECT_GT(heard.answered, before);
  const int refused = heard.answered;
  EXPECT_EQ(a->read().holders.front().version, held.version);
  EXPECT_GT(heard.answered, refused);
  EXPECT_THAT(heard.failed, testing::IsEmpty());
}

}  // namespace
}  // namespace tenure::tests
