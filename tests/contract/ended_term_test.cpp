// What a member ends that has seen that everything of another member is dead.

#include <gmock/gmock.h>

#include <algorithm>

#include "store_under_test.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using stores::release_details;
using testing::ElementsAre;

const release_details died{
    .clean = true, .why = core::loss_reason::container_died, .at_unix_ms = 1'769'860'800'123};

/// What `by` is shown as the term of `of`.
core::holder shown_to(member& by, const grant& of) {
  const core::observation seen = by.read();
  const auto its = std::ranges::find(seen.holders, of.version, &core::holder::version);
  EXPECT_NE(its, seen.holders.end());
  return its == seen.holders.end() ? core::holder() : *its;
}

TEST_P(StoreContract, ATermThatAnotherMemberEndsIsFollowedCleanly) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const auto watched = b->watch();
  const grant first = a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(held_by("a")); }));
  EXPECT_EQ(words(b->end_term(watched->seen.back().holders.front(), died)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return watched->shows(nobody); }));
  const core::release_record expected{.version = first.version,
                                      .holder = "a",
                                      .why = core::loss_reason::container_died,
                                      .at_unix_ms = died.at_unix_ms};
  EXPECT_EQ(watched->seen.back().last_release, expected);
  const grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  EXPECT_TRUE(second.released_cleanly);
}

TEST_P(StoreContract, AHolderThatLivesIsToldThatItsTermWasEnded) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant first = a->hold();
  // It may have been renewed since it was shown.
  const core::holder its = shown_to(*b, first);
  EXPECT_EQ(words(a->renew(only(first.version))), "renewed");
  const auto watched = a->watch();
  EXPECT_EQ(words(b->end_term(its, died)), "released");
  EXPECT_EQ(words(a->renew(only(first.version))), "lost: revoked");
  EXPECT_TRUE(loop_.run_until([&] { return watched->shows(nobody); }));
  EXPECT_GT(a->hold().version, first.version);
}

TEST_P(StoreContract, ATermThatIsEndedUncleanlyLeavesADoubt) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const core::holder its = shown_to(*b, a->hold());
  EXPECT_EQ(words(b->end_term(its, {.clean = false})), "released");
  EXPECT_FALSE(b->hold().released_cleanly);
}

TEST_P(StoreContract, ATermIsEndedByItsVersionAndItsSequencer) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  const grant held = a->hold();
  const core::holder its = shown_to(*b, held);
  core::holder other_version = its;
  other_version.version = core::version{core::number(its.version) + 1};
  core::holder other_sequencer = its;
  other_sequencer.sequencer.insert(0, "x");
  for (const core::holder& wrong : {other_version, other_sequencer}) {
    EXPECT_EQ(words(b->end_term(wrong, died)), "released") << "there is no such term";
    EXPECT_THAT(b->read().holders, ElementsAre(its));
    EXPECT_FALSE(b->read().last_release);
  }
  EXPECT_EQ(words(a->renew(only(held.version))), "renewed");
}

TEST_P(StoreContract, ATermOfOurOwnIsReleasedAndNotEnded) {
  auto a = join(settings("a"));
  const grant held = a->hold();
  EXPECT_EQ(words(a->end_term(shown_to(*a, held), died)), "released");
  EXPECT_EQ(words(a->renew(only(held.version))), "renewed");
}

TEST_P(StoreContract, TheEndOfATermThatIsOverTouchesNoLaterOne) {
  auto a = join(settings("a"));
  auto b = join(settings("b"));
  auto c = join(settings("c"));
  const core::holder its = shown_to(*b, a->hold());
  EXPECT_EQ(words(b->end_term(its, died)), "released");
  EXPECT_EQ(words(c->end_term(its, died)), "released") << "before anybody else holds";
  // Of the same session, so only the term is another one.
  const grant next = a->hold();
  EXPECT_EQ(words(b->end_term(its, died)), "released");
  EXPECT_EQ(words(c->end_term(its, died)), "released");
  EXPECT_EQ(words(a->renew(only(next.version))), "renewed");
  EXPECT_THAT(b->read().holders, ElementsAre(other("a", next.version)));
  ASSERT_TRUE(b->read().last_release);
  EXPECT_EQ(b->read().last_release->version, its.version);
}

TEST_P(StoreContract, OfSeveralHoldersTheOneThatIsMeantEnds) {
  const auto with = [&](const char* identity) {
    return settings(identity, std::chrono::seconds(10), 2);
  };
  auto a = join(with("a"));
  auto b = join(with("b"));
  auto c = join(with("c"));
  const grant first = a->hold();
  const grant second = b->hold();
  EXPECT_EQ(words(c->end_term(shown_to(*c, first), died)), "released");
  EXPECT_THAT(c->read().holders, ElementsAre(other("b", second.version, second.slot)));
  EXPECT_EQ(words(b->renew(only(second.version))), "renewed");
  const grant third = c->hold();
  EXPECT_TRUE(third.released_cleanly);
  EXPECT_EQ(third.slot, first.slot);
  EXPECT_EQ(words(a->renew(only(first.version))), "lost: taken_over");
}

}  // namespace
}  // namespace tenure::tests
