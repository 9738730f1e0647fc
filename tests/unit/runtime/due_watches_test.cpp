#include "runtime/due_watches.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tenure::runtime {
namespace {

using core::election_index;
using testing::ElementsAre;
using testing::IsEmpty;

core::time_point at(int seconds) {
  return core::time_point(std::chrono::seconds(seconds));
}

TEST(DueWatches, EachIsTakenOnceAndNotBeforeItsTime) {
  due_watches all;
  all.begin(3);
  EXPECT_EQ(all.first(), core::never);
  EXPECT_THAT(all.take(at(1)), IsEmpty());
  all.add(election_index{2}, at(5));
  all.add(election_index{0}, at(9));
  EXPECT_EQ(all.first(), at(5));
  EXPECT_THAT(all.take(at(4)), IsEmpty());
  EXPECT_THAT(all.take(at(5)), ElementsAre(election_index{2}));
  EXPECT_THAT(all.take(at(8)), IsEmpty());
  EXPECT_EQ(all.first(), at(9));
}

TEST(DueWatches, ThoseOfOneInstantAreTakenTogether) {
  due_watches all;
  all.begin(2);
  all.add(election_index{1}, at(5));
  all.add(election_index{0}, at(5));
  EXPECT_THAT(all.take(at(6)), ElementsAre(election_index{0}, election_index{1}));
  EXPECT_EQ(all.first(), core::never);
}

TEST(DueWatches, ALaterTimeReplacesAnEarlierOne) {
  due_watches all;
  all.begin(1);
  all.add(election_index{0}, at(5));
  all.add(election_index{0}, at(9));
  EXPECT_THAT(all.take(at(5)), IsEmpty());
  EXPECT_EQ(all.first(), at(9));
}

}  // namespace
}  // namespace tenure::runtime
