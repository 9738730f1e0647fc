#include "stores/kubernetes/open_slots.hpp"

#include <gmock/gmock.h>

namespace tenure::stores::kubernetes {
namespace {

using testing::ElementsAre;

TEST(OpenSlots, BeginAtZero) {
  EXPECT_EQ(first_slots(3), (open_slots{.epoch = 0, .numbers = {0, 1, 2}}));
}

TEST(OpenSlots, AreWrittenAndReadBack) {
  for (const open_slots& one :
       {first_slots(1), open_slots{.epoch = 7, .numbers = {2, 4294967295U}}}) {
    EXPECT_EQ(parse_slots(slots_text(one)), one);
  }
  EXPECT_EQ(slots_text({.epoch = 7, .numbers = {0, 3}}), "7 0 3");
}

TEST(OpenSlots, AnotherTextIsNotAList) {
  for (const char* text : {"", " ", "1", "1 ", "x 0", "1 x", "1 -1", "1 0 0", "1 2 1", "-1 0",
                           "1 4294967296", "18446744073709551616 0", "1,0"}) {
    EXPECT_FALSE(parse_slots(text)) << '"' << text << '"';
  }
}

TEST(OpenSlots, AnotherNumberOfThemIsALaterList) {
  EXPECT_EQ(resized(first_slots(1), {0}, 3), (open_slots{.epoch = 1, .numbers = {0, 1, 2}}));
  EXPECT_EQ(resized({.epoch = 4, .numbers = {0, 1, 2}}, {}, 1),
            (open_slots{.epoch = 5, .numbers = {0}}));
}

TEST(OpenSlots, WhatIsHeldStaysOpen) {
  EXPECT_THAT(resized(first_slots(4), {3}, 1).numbers, ElementsAre(3));
  EXPECT_THAT(resized(first_slots(4), {3, 1}, 2).numbers, ElementsAre(1, 3));
  EXPECT_THAT(resized(first_slots(4), {3}, 3).numbers, ElementsAre(0, 1, 3));
}

}  // namespace
}  // namespace tenure::stores::kubernetes
