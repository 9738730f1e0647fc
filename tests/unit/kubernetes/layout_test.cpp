#include "stores/kubernetes/layout.hpp"

#include <gmock/gmock.h>

namespace tenure::stores::kubernetes {
namespace {

TEST(KubernetesLayout, TheFirstSlotIsNamedAsGoProgramsNameIt) {
  EXPECT_EQ(slot_name("db", 0), "db");
  EXPECT_EQ(slot_name("db", 12), "db.slot-12");
}

TEST(KubernetesLayout, ASlotIsKnownByItsNameAlone) {
  for (const std::uint32_t slot : {0U, 1U, 10U, 4294967295U}) {
    EXPECT_EQ(slot_named("db", slot_name("db", slot)), slot);
  }
  for (const char* name :
       {"d", "db0", "db.slot-", "db.slot-0", "db.slot-01", "db.slot--1", "db.slot-4294967296",
        "db.slot-1x", "db.member-1", "other", "other.slot-1", ""}) {
    EXPECT_FALSE(slot_named("db", name)) << name;
  }
}

TEST(KubernetesLayout, MembersAndSlotsAreToldApart) {
  EXPECT_EQ(member_name("db", "tenure-1"), "db.member-tenure-1");
  EXPECT_TRUE(is_member_name("db", "db.member-tenure-1"));
  EXPECT_FALSE(is_member_name("db", "db.slot-1"));
  EXPECT_FALSE(is_member_name("db", "dbx.member-tenure-1"));
}

TEST(KubernetesLayout, AnOrderIsAnAnnotationThatSaysWhenItWasLeft) {
  EXPECT_EQ(order_in("tenure.dev/order-0f"), "0f");
  EXPECT_FALSE(order_in("tenure.dev/slots"));
  const std::string text =
      order_note_text({.left_ms = 1'769'860'800'000, .order = "pause b 0 * *"});
  EXPECT_EQ(text, "1769860800000 pause b 0 * *");
  const auto read = parse_order_note(text);
  ASSERT_TRUE(read);
  EXPECT_EQ(read->left_ms, 1'769'860'800'000);
  EXPECT_EQ(read->order, "pause b 0 * *");
  for (const char* other : {"", "12", "pause b 0 * *", " pause b 0 * *"}) {
    EXPECT_FALSE(parse_order_note(other)) << other;
  }
}

TEST(KubernetesLayout, AnOrderOfKubernetesIsOfOneVersionOfTheLease) {
  EXPECT_TRUE(is_preference(preference_id("u", 3)));
  EXPECT_NE(preference_id("u", 3), preference_id("u", 4));
  EXPECT_NE(preference_id("u", 3), preference_id("v", 3));
  EXPECT_FALSE(is_preference("0123456789abcdef"));
}

TEST(KubernetesLayout, AHolderIsSignedWithItsMark) {
  const signature ours{.identity = "pod_7", .mark = mark_of("session")};
  EXPECT_THAT(ours.mark, testing::StartsWith("tenure-"));
  const signature read = parse_signature(signature_text(ours));
  EXPECT_EQ(read.identity, ours.identity);
  EXPECT_EQ(read.mark, ours.mark);
  EXPECT_EQ(mark_of("session"), ours.mark);
  EXPECT_NE(mark_of("another"), ours.mark);
}

TEST(KubernetesLayout, AHolderOfAnotherProgramHasNoMark) {
  for (const char* text : {"", "pod-7", "host_0d9f6b1e-9f3b-4b1c-8a53-0c7f7f3f9a11", "_", "a_",
                           "tenure-x", "a_tenurex"}) {
    EXPECT_EQ(parse_signature(text).identity, text);
    EXPECT_EQ(parse_signature(text).mark, "") << text;
  }
}

TEST(KubernetesLayout, AnIdentityThatCannotBePrintedIsMadeSo) {
  EXPECT_EQ(signature_text({.identity = "a\nb\xff", .mark = "tenure-1"}),
            "a\ufffd"
            "b\ufffd_tenure-1");
}

TEST(KubernetesLayout, ATermIsNotedAndReadBack) {
  const auto read =
      parse_term(term_text({.transitions = 3, .version = core::version{40}, .mark = "tenure-1"}));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->transitions, 3);
  EXPECT_EQ(read->version, core::version{40});
  EXPECT_EQ(read->mark, "tenure-1");
  EXPECT_EQ(read->released_ms, std::nullopt);
  const auto released = parse_term(
      term_text({.transitions = 3, .version = {}, .mark = "m", .released_ms = 1'769'860'800'250}));
  ASSERT_TRUE(released);
  EXPECT_EQ(released->released_ms, 1'769'860'800'250);
  for (const char* text : {"", "3", "3 40", "x 40 m", "3 -4 m", "3 40 m n", "3 40 m 1 2",
                           "3 18446744073709551616 m"}) {
    EXPECT_FALSE(parse_term(text)) << text;
  }
}

// Times -----------------------------------------------------------------------------------------

TEST(KubernetesLayout, ATimeIsReadWithAnyNumberOfDecimals) {
  for (const auto& [text, ms] : {std::pair("2026-01-31T12:00:00.250000Z", 1'769'860'800'250),
                                 std::pair("2026-01-31T12:00:00.250999999Z", 1'769'860'800'250),
                                 std::pair("2026-01-31T12:00:00.2Z", 1'769'860'800'200),
                                 std::pair("2026-01-31T12:00:00.Z", 1'769'860'800'000),
                                 std::pair("2026-01-31T12:00:00Z", 1'769'860'800'000)}) {
    EXPECT_EQ(read_micro_time(text), ms) << text;
  }
  for (const char* text :
       {"", "Z", "yesterday", "2026-01-31T12:00:00", "2026-01-31T12:00:00.250000",
        "2026-01-31T12:00:00+01:00", "2026-01-31T12:00:00,5Z", "2026-01-31 12:00:00.5Z",
        "2026-13-31T12:00:00Z", "2026-01-31T12:00:00.xZ"}) {
    EXPECT_FALSE(read_micro_time(text)) << text;
  }
}

TEST(KubernetesLayout, ARenewalIsOfALaterSecondThanTheOneBefore) {
  EXPECT_EQ(renewal_time(10'500, 0), 10'500) << "there was none";
  EXPECT_EQ(renewal_time(10'500, 9'999), 10'500);
  EXPECT_EQ(renewal_time(10'500, 10'100), 11'000) << "Go programs compare whole seconds";
  EXPECT_EQ(renewal_time(10'500, 11'999), 12'000);
  EXPECT_EQ(renewal_time(10'500, 60'000), 61'000) << "a clock that is ahead";
}

TEST(KubernetesLayout, ATimeThatIsFarAheadIsNotCarriedOn) {
  constexpr std::int64_t day_ms = 24 * 3600 * 1000;
  EXPECT_EQ(renewal_time(10'500, 10'000 + day_ms - 1000), 10'000 + day_ms);
  EXPECT_EQ(renewal_time(10'500, 11'500 + day_ms), 10'500);
}

}  // namespace
}  // namespace tenure::stores::kubernetes
