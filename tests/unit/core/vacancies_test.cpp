#include "core/vacancies.hpp"

#include <gtest/gtest.h>

namespace tenure::core {
namespace {

TEST(Vacancies, NewcomerNeedNotWaitWhereEverybodyHasReleased) {
  vacancies v(0);
  EXPECT_TRUE(v.taken());
  v.freed(true);
  EXPECT_TRUE(v.taken());
}

TEST(Vacancies, EachHolderThatVanishedIsWaitedForOnce) {
  vacancies v(0);
  v.freed(false);
  v.freed(false);
  v.freed(true);
  EXPECT_FALSE(v.taken());
  EXPECT_FALSE(v.taken());
  EXPECT_TRUE(v.taken());
}

TEST(Vacancies, NoMoreThanTheFreeSlotsAreInDoubt) {
  vacancies v(5);
  v.limit(1);
  EXPECT_EQ(v.doubtful(), 1U);
  EXPECT_FALSE(v.taken());
  EXPECT_TRUE(v.taken());
  v.limit(3);
  EXPECT_EQ(v.doubtful(), 0U) << "a limit adds none";
}

}  // namespace
}  // namespace tenure::core
