// The text of a member's file.

#include "stores/sqlite/member_record.hpp"

#include <gtest/gtest.h>

#include <cstdint>

namespace tenure::stores::sqlite {
namespace {

using namespace std::chrono_literals;

member_page a_page() {
  return {.record = {.file = {.inode = 7, .mark = UINT64_MAX},
                     .commits = 12,
                     .newest = core::version{199},
                     .until = core::time_point(25s)},
          .boot_id = "this boot",
          .started_at = core::time_point(10s),
          .identity = "a",
          .elections = {"one", "two"}};
}

TEST(MemberRecord, IsReadAsItWasWritten) {
  EXPECT_EQ(parse_page(text_of(a_page())), a_page());
  member_page unlisted = a_page();
  unlisted.elections.clear();
  EXPECT_EQ(parse_page(text_of(unlisted)), unlisted);
}

TEST(MemberRecord, IsAlwaysOfTheSameLength) {
  EXPECT_EQ(text_of(member_record{}).size(), text_of(a_page().record).size());
}

TEST(MemberRecord, OneThatIsHalfWrittenIsNotBelieved) {
  member_page later = a_page();
  later.record.newest = core::version{200};
  const std::string before = text_of(a_page());
  const std::string after = text_of(later);
  for (std::size_t written = 0; written < before.size(); ++written) {
    const auto page = parse_page(after.substr(0, written) + before.substr(written));
    if (page) EXPECT_TRUE(page == a_page() || page == later) << written;
  }
}

TEST(MemberRecord, OtherTextIsNone) {
  const std::string whole = text_of(a_page());
  for (std::size_t size = 0; size < whole.size() - std::string("one\ntwo\n").size(); ++size) {
    EXPECT_FALSE(parse_page(whole.substr(0, size))) << size;
  }
  EXPECT_FALSE(parse_page(whole + "without an end"));
  EXPECT_FALSE(parse_page("a\ndb0\n"));
}

TEST(MemberRecord, VersionThatIsNeverGrantedIsRefused) {
  member_page page = a_page();
  page.record.newest = core::version{UINT64_MAX};
  EXPECT_FALSE(parse_page(text_of(page)));
}

}  // namespace
}  // namespace tenure::stores::sqlite
