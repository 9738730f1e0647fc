#include "api/verdict.hpp"

#include <gtest/gtest.h>

#include "scene.hpp"

/// `b` holds version 9 unless a test says otherwise; we are "me".
namespace tenure::tests {
namespace {

using api::source;
using api::validity;
using core::phase;
using core::version;

const std::vector<core::holder> b_holds{{.identity = "b", .version = version{9}}};

struct judged : scene {
  api::verdict from_cache(std::uint64_t version, std::optional<std::string> holder = {}) {
    return api::judge({.version = core::version{version}, .holder = std::move(holder)}, db(), seen,
                      at);
  }
  api::verdict from_store(std::vector<core::holder> holders, std::uint64_t as_of,
                          std::uint64_t version, std::optional<std::string> holder = {}) {
    return api::judge({.version = core::version{version}, .holder = std::move(holder)}, db(), at,
                      {.seen = {.as_of = core::version{as_of}, .holders = std::move(holders)},
                       .asked_at = at.now - 5ms});
  }
};

TEST(Verdict, WatchedTermInForceIsValidForItsHolderAlone) {
  judged s;
  s.watch_shows(b_holds, version{9});
  s.advance(3ms);
  EXPECT_EQ(s.from_cache(9).is, validity::valid);
  EXPECT_EQ(s.from_cache(9, "b").is, validity::valid);
  EXPECT_EQ(s.from_cache(9, "c").is, validity::other_holder);
  EXPECT_EQ(s.from_cache(9).from, source::cache);
  EXPECT_EQ(s.from_cache(9).age, 3ms);
}

TEST(Verdict, OlderVersionIsSupersededAlsoIfTheSameMemberHoldsAgain) {
  judged s;
  s.watch_shows(b_holds, version{9});
  EXPECT_EQ(s.from_cache(7, "b").is, validity::superseded);
  EXPECT_EQ(s.from_store(b_holds, 9, 7, "b").is, validity::superseded);
}

TEST(Verdict, BrokenWatchIsNeitherYesNorNo) {
  judged s;
  EXPECT_EQ(s.from_cache(9).is, validity::unwatched) << "nothing was seen yet";
  s.watch_shows(b_holds, version{9});
  s.db().watched = false;
  for (const std::uint64_t version : {7U, 9U, 11U}) {
    EXPECT_EQ(s.from_cache(version).is, validity::unwatched) << version;
  }
}

TEST(Verdict, AStoreThatSaysNothingVouchesForNothing) {
  judged s;
  s.store_answers(15s);
  s.watch_shows(b_holds, version{9});
  s.advance(10s - 1ms);
  EXPECT_EQ(s.from_cache(9).is, validity::valid);
  s.advance(1ms);
  EXPECT_EQ(s.from_cache(9).is, validity::unwatched) << "the watch has not broken";
}

TEST(Verdict, CacheIsAsOldAsTheNewestSignOfTheWatch) {
  judged s;
  s.store_answers(15s);
  s.watch_shows(b_holds, version{9});
  s.advance(4s);
  EXPECT_EQ(s.from_cache(9).age, 4s);
  s.store_says(core::contact::answered{});
  EXPECT_EQ(s.from_cache(9).age, 4s) << "that is not about what the watch shows";
  s.store_says(core::contact::showed{});
  s.advance(1s);
  EXPECT_EQ(s.from_cache(9).age, 1s);
}

TEST(Verdict, VersionThatIsNewerThanTheCacheMayHaveBeenGrantedSince) {
  judged s;
  s.watch_shows(b_holds, version{20});
  EXPECT_EQ(s.from_cache(21).is, validity::behind);
  EXPECT_EQ(s.from_cache(15).is, validity::behind) << "a store may queue those who wait";
  EXPECT_EQ(s.from_store(b_holds, 20, 21).is, validity::not_granted);
  EXPECT_EQ(s.from_store(b_holds, 20, 15).is, validity::not_held);
}

TEST(Verdict, VacantElectionHasNoTermInForce) {
  judged s;
  s.watch_shows({}, version{9});
  EXPECT_EQ(s.from_cache(9).is, validity::not_held);
  EXPECT_EQ(s.from_cache(10).is, validity::behind);
  EXPECT_EQ(s.from_store({}, 9, 9).is, validity::not_held);
}

TEST(Verdict, LeaseThatHasRunOutInTheCacheIsNotVouchedFor) {
  judged s;
  s.watch_shows(b_holds, version{9});
  s.view().seen->expires_at = s.at.now + 10ms;
  EXPECT_EQ(s.from_cache(9).is, validity::valid);
  s.advance(10ms);
  EXPECT_EQ(s.from_cache(9).is, validity::expired);
  EXPECT_EQ(s.from_cache(7).is, validity::superseded) << "that stays true";
}

TEST(Verdict, OwnTermIsVouchedForByTheLeaseUntilStopAtAndNotLonger) {
  judged s;
  s.hold(phase::active);  // version 7 until 10 s
  EXPECT_EQ(s.from_cache(7, "me").is, validity::valid) << "no watch is needed for that";
  EXPECT_EQ(s.from_cache(7).from, source::lease);
  EXPECT_EQ(s.from_cache(7).expires_in_ms, 10'000);
  EXPECT_EQ(s.from_cache(6).is, validity::superseded);
  const std::vector<core::holder> ours{{.identity = "me", .version = version{7}, .ours = true}};
  s.watch_shows(ours, version{7});
  s.advance(10s);
  EXPECT_EQ(s.from_cache(7).is, validity::ending);
  EXPECT_EQ(s.from_store(ours, 7, 7).is, validity::ending) << "whatever the store still shows";
  EXPECT_TRUE(s.from_store(ours, 7, 7).holders.empty());
}

TEST(Verdict, StoreIsBelievedAgainstOurOwnLease) {
  judged s;
  s.hold(phase::active);
  const std::vector<core::holder> other{{.identity = "b", .version = version{8}}};
  EXPECT_EQ(s.from_store(other, 8, 7).is, validity::superseded) << "an operator deleted the lock";
  EXPECT_EQ(s.from_store(other, 8, 8).is, validity::valid);
}

TEST(Verdict, TermOfOurIdentityThatWeDoNotHoldIsNotValid) {
  judged s;  // a candidate; the store shows an earlier life of ours
  const std::vector<core::holder> earlier{{.identity = "me", .version = version{5}, .ours = true}};
  s.watch_shows(earlier, version{5});
  EXPECT_EQ(s.from_cache(5).is, validity::ending);
  EXPECT_EQ(s.from_store(earlier, 5, 5).is, validity::ending);
}

TEST(Verdict, AnyOfSeveralHoldersIsValidAndNoVersionSupersedesAnother) {
  judged s;
  s.db().slots = 2;
  s.watch_shows(
      {{.identity = "b", .version = version{3}}, {.identity = "c", .version = version{9}}},
      version{9});
  EXPECT_EQ(s.from_cache(3, "b").is, validity::valid);
  EXPECT_EQ(s.from_cache(9, "c").is, validity::valid);
  EXPECT_EQ(s.from_cache(3, "c").is, validity::other_holder);
  EXPECT_EQ(s.from_cache(5).is, validity::not_held);
  EXPECT_EQ(s.from_cache(5).holders.size(), 2U);
}

TEST(Verdict, OwnSlotIsVouchedForByTheLeaseAndTheOthersByTheWatch) {
  judged s;
  s.db().slots = 2;
  s.hold(phase::active);
  EXPECT_EQ(s.from_cache(7).is, validity::valid);
  EXPECT_EQ(s.from_cache(9).is, validity::unwatched);
  s.watch_shows({{.identity = "me", .version = version{7}, .ours = true},
                 {.identity = "b", .version = version{9}}},
                version{9});
  EXPECT_EQ(s.from_cache(9).from, source::cache);
  EXPECT_EQ(s.from_cache(9).is, validity::valid);
}

// Sequencers ------------------------------------------------------------------------------------

const std::vector<core::holder> b_holds_by_proof{
    {.identity = "b", .version = version{9}, .sequencer = "proof"}};

struct judged_by_sequencer : judged {
  static wire::term_question question(std::uint64_t version, const std::string& sequencer) {
    return {.version = core::version{version}, .sequencer = sequencer};
  }
  api::validity cached(std::uint64_t version, const std::string& sequencer) {
    return api::judge(question(version, sequencer), db(), seen, at).is;
  }
  api::validity stored(std::uint64_t version, const std::string& sequencer) {
    return api::judge(question(version, sequencer), db(), at,
                      {.seen = {.as_of = core::version{20}, .holders = b_holds_by_proof},
                       .asked_at = at.now})
        .is;
  }
};

TEST(Verdict, ASequencerIsInForceWhileItsTermIs) {
  judged_by_sequencer s;
  s.watch_shows(b_holds_by_proof, version{9});
  for (const std::uint64_t asked : {0U, 9U}) {
    EXPECT_EQ(s.cached(asked, "proof"), validity::valid);
    EXPECT_EQ(s.stored(asked, "proof"), validity::valid);
  }
  EXPECT_EQ(s.cached(7, "proof"), validity::superseded) << "both must be those of one term";
}

TEST(Verdict, AnotherSequencerMayBeNewerThanTheCacheAndIsANoOfTheStore) {
  judged_by_sequencer s;
  s.watch_shows(b_holds_by_proof, version{9});
  EXPECT_EQ(s.cached(0, "other"), validity::behind);
  EXPECT_EQ(s.cached(9, "other"), validity::behind) << "a term may go on by another one";
  EXPECT_EQ(s.stored(0, "other"), validity::not_held);
  EXPECT_EQ(s.stored(9, "other"), validity::other_sequencer);
}

TEST(Verdict, OwnSequencerIsVouchedForByTheLeaseAndNoOtherWhileItLasts) {
  judged_by_sequencer s;
  s.hold(phase::active);  // version 7 by "proof-7" until 10 s
  EXPECT_EQ(s.cached(0, "proof-7"), validity::valid);
  EXPECT_EQ(s.cached(7, "proof-7"), validity::valid);
  EXPECT_EQ(s.cached(0, "other"), validity::not_held);
  EXPECT_EQ(s.cached(7, "other"), validity::other_sequencer);
  s.db().slots = 2;
  EXPECT_EQ(s.cached(0, "proof-7"), validity::valid);
  EXPECT_EQ(s.cached(0, "other"), validity::unwatched) << "of another slot, perhaps";
  s.watch_shows({{.identity = "me", .version = version{7}, .ours = true, .sequencer = "proof-7"}},
                version{7});
  s.advance(10s);
  EXPECT_EQ(s.stored(0, "proof-7"), validity::not_held);
  EXPECT_EQ(s.cached(0, "proof-7"), validity::ending);
}

TEST(Verdict, FreshOneIsAsOldAsItsQuestion) {
  judged s;
  EXPECT_EQ(s.from_store(b_holds, 9, 9).is, validity::valid);
  EXPECT_EQ(s.from_store(b_holds, 9, 9).from, source::store);
  EXPECT_EQ(s.from_store(b_holds, 9, 9).age, 5ms);
}

}  // namespace
}  // namespace tenure::tests
