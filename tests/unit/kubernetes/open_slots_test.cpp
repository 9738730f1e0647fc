#include "stores/kubernetes/open_slots.hpp"

#include <gmock/gmock.h>

namespace tenure::stores::kubernetes {
namespace {

using testing::ElementsAre;

TEST(OpenSlots, BeginAtZero) {
  EXPECT_EQ(slots_around({}, 3), (open_slots{.epoch = 0, .numbers = {0, 1, 2}}));
}

TEST(OpenSlots, AreAtLeastThoseThatAreHeld) {
  EXPECT_EQ(slots_around({5, 1}, 3, 4), (open_slots{.epoch = 4, .numbers = {0, 1, 5}}));
  EXPECT_THAT(slots_around({5, 1}, 1).numbers, ElementsAre(1, 5));
}

TEST(OpenSlots, AreWrittenAndReadBack) {
  for (const open_slots& one :
       {slots_around({}, 1), open_slots{.epoch = 7, .numbers = {2, 4294967295U}}}) {
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

TEST(OpenSlots, AnEpochIsANumberThatCanBeCountedOn) {
  EXPECT_EQ(parse_epoch(""), 0U) << "never closed";
  EXPECT_EQ(parse_epoch("7"), 7U);
  for (const char* text : {" ", "soon", "-1", "7 ", "9223372036854775808"}) {
    EXPECT_FALSE(parse_epoch(text)) << '"' << text << '"';
  }
}

}  // namespace
}  // namespace tenure::stores::kubernetes
