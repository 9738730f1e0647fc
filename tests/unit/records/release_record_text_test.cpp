#include "stores/records/release_record_text.hpp"

#include <gtest/gtest.h>

namespace tenure::stores {
namespace {

using core::loss_reason;
using core::version;

TEST(ReleaseRecordText, SaysWhatWasLeftBehind) {
  const release_details how{
      .clean = true, .why = loss_reason::workload_exited, .heir = "team a/b%1", .at_unix_ms = -5};
  const std::string text =
      release_record_text(version{18'446'744'073'709'551'615U}, "pod-0:7", how);
  EXPECT_EQ(text, "18446744073709551615 clean workload_exited -5 pod-0:7 team%20a/b%251");
  const auto record = parse_release_record(text);
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->clean);
  const core::release_record expected{.version = version{18'446'744'073'709'551'615U},
                                      .holder = "pod-0:7",
                                      .why = loss_reason::workload_exited,
                                      .heir = "team a/b%1",
                                      .at_unix_ms = -5};
  EXPECT_EQ(record->said, expected);
}

TEST(ReleaseRecordText, NamesThePlaceThatWasTold) {
  for (const std::string heir : {"", "b"}) {
    const std::string text = release_record_text(
        version{7}, "a", {.clean = true, .heir = heir, .at_unix_ms = 1}, version{9});
    EXPECT_EQ(text, "7 clean none 1 a " + heir + " 9");
    const auto record = parse_release_record(text);
    ASSERT_TRUE(record) << text;
    EXPECT_EQ(record->told, version{9});
    EXPECT_EQ(record->said.heir, heir);
  }
  EXPECT_EQ(parse_release_record("7 clean none 1 a b")->told, core::no_version);
}

TEST(ReleaseRecordText, ANumberAloneIsACleanReleaseOfAnEarlierAgent) {
  const auto record = parse_release_record("42");
  ASSERT_TRUE(record);
  EXPECT_TRUE(record->clean);
  EXPECT_EQ(record->said, core::release_record{.version = version{42}});
}

TEST(ReleaseRecordText, AReasonOfALaterAgentIsNotKnown) {
  const auto record = parse_release_record("42 unclean struck_by_lightning 1 a");
  ASSERT_TRUE(record);
  EXPECT_FALSE(record->clean);
  EXPECT_EQ(record->said.why, loss_reason::none);
}

TEST(ReleaseRecordText, AnythingElseVouchesForNothing) {
  for (const char* text :
       {"", " ", "0", "-1", "42 ", "42x", "x", "42 clean", "42 maybe none 1 a",
        "42 clean none one a", "42 clean none 1 a b c", "42 clean none 1 a b -1",
        "42 clean none 1 a b ", "42 clean none 1 a b 1 c", "42 clean none 1 a%2",
        "42 clean none 1 a%zz", "18446744073709551616", "42\n", "42 clean none 1"}) {
    EXPECT_FALSE(parse_release_record(text)) << text;
  }
}

}  // namespace
}  // namespace tenure::stores
