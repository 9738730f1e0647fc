#include "stores/sqlite/subscriptions.hpp"

#include <gmock/gmock.h>

namespace tenure::stores::sqlite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

constexpr core::election_index first{0};
constexpr core::election_index second{1};

core::observation at(std::uint64_t version) {
  core::observation seen;
  seen.as_of = core::version{version};
  return seen;
}

struct Subscriptions : testing::Test {
  watch_handler teller() {
    return [this](const auto& what) {
      if (const auto* seen = std::get_if<core::observation>(&what)) {
        told.push_back(core::number(seen->as_of));
      } else {
        ++failures;
      }
    };
  }
  subscriptions list{2};
  std::vector<std::uint64_t> told;
  int failures = 0;
};

TEST_F(Subscriptions, ChangesDuringALookAreOneMoreLookHoweverManyTheyAre) {
  list.add(first, teller());
  EXPECT_THAT(list.begin_look(), ElementsAre(first));
  EXPECT_THAT(list.begin_look(), IsEmpty());
  EXPECT_THAT(list.begin_look(), IsEmpty());
  EXPECT_TRUE(list.end_look());
  EXPECT_THAT(list.begin_look(), ElementsAre(first));
  EXPECT_FALSE(list.end_look());
}

TEST_F(Subscriptions, OnlyWhatIsWatchedIsLookedAt) {
  EXPECT_THAT(list.begin_look(), IsEmpty());
  list.add(second, teller());
  EXPECT_THAT(list.begin_look(), ElementsAre(second));
}

TEST_F(Subscriptions, TellsTheFirstStateAndThenChangesOnly) {
  list.add(first, teller());
  list.show(first, at(1));
  list.show(first, at(1));
  list.show(first, at(2));
  EXPECT_THAT(told, ElementsAre(1, 2));
}

TEST_F(Subscriptions, WatchOpenedDuringALookIsNotToldItsResult) {
  list.add(first, teller());
  list.begin_look();
  list.add(second, teller());
  EXPECT_TRUE(list.concerned(first));
  EXPECT_FALSE(list.concerned(second));
  list.end_look();
  list.begin_look();
  EXPECT_TRUE(list.concerned(second));
}

TEST_F(Subscriptions, BrokenWatchIsToldOnceAndThenSilentUntilItIsOpenedAgain) {
  list.add(first, teller());
  list.fail(first, unknown{"gone"});
  list.fail(first, unknown{"gone"});
  list.show(first, at(1));
  EXPECT_EQ(failures, 1);
  EXPECT_THAT(told, IsEmpty());
  list.add(first, teller());
  list.show(first, at(1));
  EXPECT_THAT(told, ElementsAre(1));
}

TEST_F(Subscriptions, HandlerMayOpenItsWatchAgain) {
  list.add(first, [this](const auto&) { list.add(first, teller()); });
  list.show(first, at(1));
  list.show(first, at(1));
  EXPECT_THAT(told, ElementsAre(1));
}

}  // namespace
}  // namespace tenure::stores::sqlite
