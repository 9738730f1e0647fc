#include "stores/records/release_record_text.hpp"

#include <gtest/gtest.h>

namespace tenure::stores {
namespace {

using core::loss_reason;
using core::version;

TEST(EtcdReleaseNote, SaysWhatWasLeftBehind) {
  const release_details how{
      .clean = true, .why = loss_reason::workload_exited, .heir = "team a/b%1", .at_unix_ms = -5};
  const std::string text =
      release_record_text(version{18'446'744'073'709'551'615U}, "pod-0:7", how);
  EXPECT_EQ(text, "18446744073709551615 clean workload_exited -5 pod-0:7 team%20a/b%251");
  const auto note = parse_release_note(text);
  ASSERT_TRUE(note);
  EXPECT_TRUE(note->clean);
  const core::release_record expected{.version = version{18'446'744'073'709'551'615U},
                                      .holder = "pod-0:7",
                                      .why = loss_reason::workload_exited,
                                      .heir = "team a/b%1",
                                      .at_unix_ms = -5};
  EXPECT_EQ(note->said, expected);
}

TEST(EtcdReleaseNote, ANumberAloneIsACleanReleaseOfAnEarlierAgent) {
  const auto note = parse_release_note("42");
  ASSERT_TRUE(note);
  EXPECT_TRUE(note->clean);
  EXPECT_EQ(note->said, core::release_record{.version = version{42}});
}

TEST(EtcdReleaseNote, AReasonOfALaterAgentIsNotKnown) {
  const auto note = parse_release_note("42 unclean struck_by_lightning 1 a");
  ASSERT_TRUE(note);
  EXPECT_FALSE(note->clean);
  EXPECT_EQ(note->said.why, loss_reason::none);
}

TEST(EtcdReleaseNote, WhateverElseIsThereVouchesForNothing) {
  for (const char* text :
       {"", " ", "0", "-1", "42 ", "42x", "x", "42 clean", "42 maybe none 1 a",
        "42 clean none one a", "42 clean none 1 a b c", "42 clean none 1 a%2",
        "42 clean none 1 a%zz", "18446744073709551616", "42\n", "42 clean none 1"}) {
    EXPECT_FALSE(parse_release_note(text)) << text;
  }
}

}  // namespace
}  // namespace tenure::stores
