// What a mirror makes of the states that Consul shows, one after the other.

#include "stores/consul/mirror.hpp"

#include <gmock/gmock.h>

#include "stores/consul/requests.hpp"
#include "stores/records/release_record_text.hpp"

namespace tenure::stores::consul {
namespace {

const std::string our_session = "aaaaaaaa-1111-1111-1111-111111111111";
const std::string other_session = "bbbbbbbb-1111-1111-1111-111111111111";
const std::string third_session = "cccccccc-1111-1111-1111-111111111111";

class ConsulMirror : public testing::Test {
 protected:
  mirror of(std::uint32_t slots = 1) const { return {{.name = "db", .slots = slots}, self_}; }

  static key_value lock(std::uint64_t index, const std::string& session, std::uint64_t turns,
                        const std::string& who = "b", std::uint64_t created = 1) {
    return {.key = "db/.lock",
            .value = session.empty() ? "" : who + " tenure-b",
            .flags = lock_flags,
            .lock_index = turns,
            .create_index = created,
            .modify_index = index,
            .session = session};
  }

  static key_value record(std::uint64_t index, std::uint64_t version, bool clean) {
    return {.key = "db/.tenure/release",
            .value = release_record_text(core::version{version}, "b", {.clean = clean}),
            .create_index = 1,
            .modify_index = index};
  }

  static key_value semaphore_key(std::uint64_t index, std::uint32_t limit,
                                 const std::vector<std::string>& holders, std::uint64_t changes) {
    return {.key = "db/.lock",
            .value = semaphore_text({.limit = limit, .holders = holders, .changes = changes}),
            .flags = semaphore_flags,
            .create_index = 1,
            .modify_index = index};
  }

  static key_value contender(std::uint64_t index, const std::string& session, bool alive = true) {
    return {.key = "db/" + session,
            .value = "b tenure-b",
            .flags = semaphore_flags,
            .lock_index = 1,
            .create_index = index,
            .modify_index = index,
            .session = alive ? session : ""};
  }

  own_run self_{.mark = "tenure-a", .identity = "a", .sessions = {our_session}};
};

TEST_F(ConsulMirror, NothingIsKnownOfASlotThatWasFreeAtFirst) {
  mirror m = of();
  m.replace({}, 7);
  EXPECT_TRUE(m.has_room());
  EXPECT_FALSE(m.basis_now().is_clean);
  EXPECT_EQ(m.basis_now().index, 0U);
  EXPECT_EQ(core::number(m.observe().as_of), 7U);
}

TEST_F(ConsulMirror, ACleanReleaseThatWasWatchedIsBelieved) {
  mirror m = of();
  m.replace({{lock(10, other_session, 1)}}, 10);
  EXPECT_FALSE(m.has_room());
  m.follow({{lock(12, "", 1), record(12, 10, true)}}, 12);
  EXPECT_TRUE(m.basis_now().is_clean);
  EXPECT_EQ(m.basis_now().index, 12U);
}

TEST_F(ConsulMirror, AnotherMembersTermIsKnownByItsSessionAndTheNumberOfItsLock) {
  mirror m = of();
  const auto shows = [&](const key_value& what) { m.replace({{what}}, 20); };
  shows(lock(10, other_session, 1));
  const core::holder shown = m.observe().holders.at(0);
  ASSERT_NE(m.find_term(shown), nullptr);
  EXPECT_EQ(m.find_term(shown)->session, other_session);
  for (const key_value& later :
       {lock(11, other_session, 1), lock(10, third_session, 1), lock(10, other_session, 2)}) {
    shows(later);
    EXPECT_EQ(m.find_term(shown), nullptr) << "a restored store may give an index again";
  }
  shows(lock(10, our_session, 1));
  EXPECT_EQ(m.find_term(m.observe().holders.at(0)), nullptr);
  key_value foreign = lock(10, other_session, 1);
  foreign.value = "host";
  shows(foreign);
  EXPECT_EQ(m.find_term(m.observe().holders.at(0)), nullptr) << "another program has no terms";
}

/// Its key is not that of a contender, and is not for us to delete.
TEST_F(ConsulMirror, AHolderThatIsAliveByAnotherKeyHasNoTermToEnd) {
  mirror m = of(2);
  key_value beside = contender(11, other_session);
  beside.key = "db/anything";
  m.replace({{semaphore_key(12, 2, {other_session}, 1), beside}}, 20);
  ASSERT_EQ(m.observe().holders.size(), 1U);
  EXPECT_EQ(m.find_term(m.observe().holders.at(0)), nullptr);
}

TEST_F(ConsulMirror, ALockThatIsPassedOnBeginsAsItsHolderHasEnded) {
  for (const bool clean : {true, false}) {
    mirror m = of();
    m.replace({{lock(10, other_session, 1)}}, 10);
    m.follow({{lock(12, our_session, 2), record(12, 10, clean)}}, 12);
    EXPECT_EQ(m.began_clean(), clean ? core::version{12} : core::no_version);
    // The next one, of which nobody says how this one has ended.
    m.follow({{lock(14, third_session, 3), record(12, 10, clean)}}, 14);
    EXPECT_EQ(m.began_clean(), core::no_version);
  }
}

TEST_F(ConsulMirror, APassedLockIsInDoubtIfAHolderWasMissedOrTheWatchWas) {
  mirror m = of();
  m.replace({{lock(10, other_session, 1)}}, 10);
  m.follow({{lock(14, our_session, 3), record(14, 10, true)}}, 14);
  EXPECT_EQ(m.began_clean(), core::no_version) << "somebody held between them";
  m.replace({{lock(10, other_session, 1)}}, 10);
  m.follow({{lock(12, our_session, 2), record(12, 10, true)}}, 12);
  m.replace({{lock(12, our_session, 2), record(12, 10, true)}}, 12);
  EXPECT_EQ(m.began_clean(), core::no_version);
}

TEST_F(ConsulMirror, OffersOfOthersThatAreReadyAreTakenInTheOrderInWhichTheyWereMade) {
  const auto member = [](const std::string& session, const std::string& who) {
    return key_value{.key = "db/.tenure/members/" + session,
                     .value = who + " tenure-" + who,
                     .create_index = 3,
                     .modify_index = 3,
                     .session = session};
  };
  const auto entry = [](const std::string& session, std::uint64_t index, const std::string& says) {
    return key_value{.key = "db/.tenure/ready/" + session,
                     .value = says,
                     .create_index = 3,
                     .modify_index = index,
                     .session = session};
  };
  const std::string place = "dddddddd-1111-1111-1111-111111111111";
  const std::string earlier = "eeeeeeee-1111-1111-1111-111111111111";
  mirror m = of();
  m.replace(
      {{lock(10, our_session, 1, "a"), member(third_session, "c"), member(other_session, "b"),
        entry(third_session, 9, "5 0 1 " + place), entry(other_session, 8, "7 0 1 " + earlier)}},
      10);
  ASSERT_TRUE(m.offer_of(""));
  EXPECT_EQ(m.offer_of("")->session, earlier);
  EXPECT_EQ(m.offer_of("")->identity, "b");
  EXPECT_EQ(m.offer_of("")->mark, "tenure-b");
  EXPECT_EQ(m.offer_of("c")->session, place);
  EXPECT_FALSE(m.offer_of("d"));
  // Not ready; something that is no session; an offer of ours.
  m.replace({{lock(10, our_session, 1, "a"), member(third_session, "c"), member(other_session, "a"),
              member(our_session, "b"), entry(third_session, 9, "0 0 1 " + place),
              entry(our_session, 9, "5 0 1 127.0.0.1:4041")}},
            10);
  EXPECT_FALSE(m.offer_of(""));
  mirror several = of(2);
  several.replace({{semaphore_key(9, 2, {}, 1), member(third_session, "c"),
                    entry(third_session, 9, "5 0 1 " + place)}},
                  9);
  EXPECT_FALSE(several.offer_of("")) << "nobody knows whose slot it would be";
}

TEST_F(ConsulMirror, TheSameStateReadAnewIsNotBelieved) {
  mirror m = of();
  m.replace({{lock(10, other_session, 1)}}, 10);
  m.follow({{lock(12, "", 1), record(12, 10, true)}}, 12);
  m.replace({{lock(12, "", 1), record(12, 10, true)}}, 12);
  EXPECT_FALSE(m.basis_now().is_clean) << "it may be a restored one";
}

TEST_F(ConsulMirror, AnUncleanReleaseOrNoneLeavesADoubt) {
  for (const bool said : {false, true}) {
    mirror m = of();
    m.replace({{lock(10, other_session, 1)}}, 10);
    std::vector<key_value> next{lock(12, "", 1)};
    if (said) next.push_back(record(12, 10, false));
    m.follow(next, 12);
    EXPECT_FALSE(m.basis_now().is_clean) << said;
  }
}

TEST_F(ConsulMirror, AHolderBetweenTwoStatesIsNoticedByLockIndex) {
  mirror m = of();
  m.replace({{lock(10, other_session, 1)}}, 10);
  // 10 released cleanly, somebody held, and ended; 10's record is still the last.
  m.follow({{lock(15, "", 2), record(12, 10, true)}}, 15);
  EXPECT_FALSE(m.basis_now().is_clean);
}

TEST_F(ConsulMirror, AKeyThatWasDeletedAndMadeAgainIsInDoubt) {
  mirror m = of();
  m.replace({{lock(10, other_session, 1)}}, 10);
  m.follow({{lock(15, "", 1, "b", 14), record(12, 10, true)}}, 15);
  EXPECT_FALSE(m.basis_now().is_clean);
}

TEST_F(ConsulMirror, ADoubtIsWaitedForOnce) {
  mirror m = of();
  m.replace({{lock(10, "", 1)}}, 10);
  m.follow({{lock(11, other_session, 2)}}, 11);
  m.follow({{lock(12, "", 2), record(12, 11, true)}}, 12);
  EXPECT_TRUE(m.basis_now().is_clean) << "the one in between has waited";
}

TEST_F(ConsulMirror, OursIsKnownByItsMarkAndByItsSession) {
  mirror m = of();
  m.replace({{lock(10, other_session, 1)}}, 10);
  EXPECT_EQ(m.find_own(), nullptr);
  key_value of_an_earlier_run = lock(10, other_session, 1);
  of_an_earlier_run.value = "a tenure-a";
  m.follow({{of_an_earlier_run}}, 10);
  ASSERT_NE(m.find_own(), nullptr);
  EXPECT_EQ(m.find_own()->identity, "a");
  key_value written_over = lock(11, our_session, 2);
  written_over.value = "x";
  m.follow({{written_over}}, 11);
  ASSERT_NE(m.find_own(), nullptr);
  EXPECT_EQ(m.find_own()->identity, "x");
}

TEST_F(ConsulMirror, ATermThatWasMovedKeepsItsVersion) {
  mirror m = of();
  key_value moved = lock(30, other_session, 1);
  moved.value = "b tenure-b 10";
  m.replace({{moved}}, 30);
  EXPECT_EQ(core::number(m.holders().front().version), 10U);
  EXPECT_EQ(m.holders().front().index, 30U);
}

/// Whatever else a key says: members remember the largest version that they have seen.
TEST_F(ConsulMirror, AVersionThatIsNotBelowItsKeysIndexIsNotOne) {
  for (const char* version : {"30", "31", "18446744073709551615", "0"}) {
    mirror m = of();
    key_value bad = lock(30, other_session, 1);
    bad.value = std::string("b tenure-b ") + version;
    m.replace({{bad}}, 30);
    EXPECT_EQ(core::number(m.holders().front().version), 30U) << version;
  }
}

TEST_F(ConsulMirror, ALockIsLeftByASessionThatEndedIfItStillSaysWhatItsHolderWrote) {
  mirror m = of();
  const key_value held = lock(10, our_session, 3, "a");
  m.replace({{held}}, 10);
  EXPECT_FALSE(m.lock_is_left_as(held.value, 3)) << "it is held";
  key_value left = held;
  left.session.clear();
  left.modify_index = 12;
  m.follow({{left}}, 12);
  EXPECT_TRUE(m.lock_is_left_as(held.value, 3));
  EXPECT_FALSE(m.lock_is_left_as(held.value, 2)) << "locked again since";
  m.follow({{lock(14, "", 3)}}, 14);
  EXPECT_FALSE(m.lock_is_left_as(held.value, 3)) << "released";
  left.flags = 0;
  m.follow({{left}}, 15);
  EXPECT_FALSE(m.lock_is_left_as(held.value, 3)) << "written by another program";
  m.follow({}, 16);
  EXPECT_FALSE(m.lock_is_left_as("", 0)) << "deleted";
}

TEST_F(ConsulMirror, AHolderOfASemaphoreIsNamedAndAlive) {
  mirror m = of(3);
  m.replace({{semaphore_key(20, 3, {other_session, third_session}, 2), contender(15, other_session),
              contender(16, third_session, false), contender(17, our_session)}},
            20);
  ASSERT_EQ(m.holders().size(), 1U);
  EXPECT_EQ(m.holders().front().session, other_session);
  EXPECT_EQ(core::number(m.holders().front().version), 15U);
  const basis now = m.basis_now();
  EXPECT_THAT(now.body.holders, testing::ElementsAre(other_session)) << "the dead are pruned";
  ASSERT_EQ(now.dead.size(), 1U);
  EXPECT_EQ(now.dead.front().key, "db/" + third_session);
}

TEST_F(ConsulMirror, AHolderIsAliveByAnyKeyThatItLocksWhateverItsFlags) {
  mirror m = of(3);
  key_value plain = contender(15, other_session);
  plain.flags = 0;
  key_value elsewhere = contender(16, third_session);
  elsewhere.key = "db/elsewhere";
  elsewhere.value = "a tenure-a 7";
  m.replace({{semaphore_key(20, 3, {other_session, third_session}, 2), plain, elsewhere}}, 20);
  ASSERT_EQ(m.holders().size(), 2U);
  EXPECT_EQ(m.holders()[0].session, other_session);
  EXPECT_EQ(m.holders()[1].identity, "session " + third_session);
  EXPECT_EQ(core::number(m.holders()[1].version), 16U);
  EXPECT_EQ(m.find_own(), nullptr) << "that key does not say who holds";
  EXPECT_EQ(m.holders()[1].mark, "");
}

TEST_F(ConsulMirror, WeHoldByOurContendersKeyAlone) {
  mirror m = of(2);
  key_value elsewhere = contender(16, our_session);
  elsewhere.key = "db/x/" + our_session;
  m.replace({{semaphore_key(20, 2, {our_session}, 2), elsewhere}}, 20);
  EXPECT_TRUE(m.holders().empty());
  EXPECT_TRUE(m.basis_now().body.holders.empty());
}

TEST_F(ConsulMirror, OnlyContendersAreDeletedWhenTheirSessionsHaveEnded) {
  mirror m = of(2);
  key_value plain = contender(15, other_session, false);
  plain.flags = 0;
  key_value listed = contender(16, third_session, false);
  listed.flags = 0;
  m.replace({{semaphore_key(20, 2, {third_session}, 2), contender(14, our_session, false), plain,
              listed}},
            20);
  ASSERT_EQ(m.basis_now().dead.size(), 1U);
  EXPECT_EQ(m.basis_now().dead.front().key, "db/" + third_session);
}

TEST_F(ConsulMirror, WhatWasThereAndIsNotShownHasVanished) {
  mirror m = of(2);
  EXPECT_THAT(m.vanished({}, 7), testing::IsEmpty());
  const auto at = [](std::uint64_t index, std::vector<std::string> holders) {
    return semaphore_key(index, 2, holders, index);
  };
  m.replace({{at(20, {other_session, third_session}), contender(15, other_session),
              contender(16, third_session)}},
            20);
  EXPECT_THAT(m.vanished({}, 21), testing::ElementsAre("db/.lock"));
  EXPECT_THAT(
      m.vanished({{at(21, {other_session, third_session}), contender(15, other_session)}}, 21),
      testing::ElementsAre("db/" + third_session));
  EXPECT_THAT(m.vanished({{at(21, {other_session}), contender(15, other_session)}}, 21),
              testing::IsEmpty())
      << "who releases takes itself out of the holders";
}

TEST_F(ConsulMirror, WhatWeHaveWrittenIsExpectedFromThenOn) {
  mirror m = of();
  m.replace({}, 7);
  m.expect("db/.lock", 9);
  EXPECT_THAT(m.vanished({}, 8), testing::IsEmpty()) << "a state of before";
  EXPECT_THAT(m.vanished({}, 9), testing::ElementsAre("db/.lock"));
  m.follow({}, 9);
  EXPECT_THAT(m.vanished({}, 10), testing::IsEmpty()) << "it was deleted";
}

TEST_F(ConsulMirror, ASlotThatWasReleasedCleanlyIsBelievedAndAMissedHolderIsNot) {
  const auto watched = [this](std::uint64_t changes) {
    mirror m = of(2);
    m.replace({{semaphore_key(20, 2, {other_session, third_session}, 2),
                contender(15, other_session), contender(16, third_session)}},
              20);
    m.follow({{semaphore_key(22, 2, {other_session}, changes), contender(15, other_session),
               record(22, 16, true)}},
             22);
    return m.basis_now().is_clean;
  };
  EXPECT_TRUE(watched(3));
  EXPECT_FALSE(watched(5)) << "somebody came and went";
}

TEST_F(ConsulMirror, ASemaphoreThatAnotherProgramHasWrittenIsInDoubt) {
  mirror m = of(2);
  m.replace({{semaphore_key(20, 2, {other_session, third_session}, 2), contender(15, other_session),
              contender(16, third_session)}},
            20);
  key_value rewritten = semaphore_key(22, 2, {other_session}, 0);
  rewritten.value = semaphore_text({.limit = 2, .holders = {other_session}});
  m.follow({{rewritten, contender(15, other_session), record(22, 16, true)}}, 22);
  EXPECT_FALSE(m.basis_now().is_clean);
}

TEST_F(ConsulMirror, AnotherProgramsKeyIsTroubleAndOneThatSaysNothingIsNot) {
  mirror m = of();
  key_value foreign = lock(10, "", 0);
  foreign.flags = 5;
  m.replace({{foreign}}, 10);
  EXPECT_THAT(m.trouble(), testing::HasSubstr("db/.lock is not a lock: its flags are 5"));
  foreign.flags = 0;
  m.follow({{foreign}}, 10);
  EXPECT_EQ(m.trouble(), "");
  EXPECT_EQ(m.basis_now().index, 10U) << "it has to be unchanged when it is locked";
  foreign.value = "x";
  m.follow({{foreign}}, 11);
  EXPECT_NE(m.trouble(), "");
}

TEST_F(ConsulMirror, AnotherNumberOfSlotsIsSeenInTheKey) {
  mirror m = of(2);
  m.replace({{lock(10, other_session, 1)}}, 10);
  EXPECT_FALSE(m.agrees());
  EXPECT_EQ(m.observe().agreed.slots, 1U);
  m.follow({{lock(11, "", 1)}}, 11);
  EXPECT_TRUE(m.agrees()) << "nobody holds, so it may become ours";
  m.follow({{semaphore_key(12, 2, {}, 1)}}, 12);
  EXPECT_TRUE(m.agrees());
}

TEST_F(ConsulMirror, OfALockDelayItIsSaidWhenToTryAgainUntilSomebodyHolds) {
  mirror m = of();
  m.replace({{lock(10, "", 1)}}, 10);
  EXPECT_EQ(m.observe().retry_at, core::never);
  m.delay(core::time_point(std::chrono::seconds(5)));
  EXPECT_EQ(m.observe().retry_at, core::time_point(std::chrono::seconds(5)));
  m.follow({{lock(11, other_session, 2)}}, 11);
  m.follow({{lock(12, "", 2)}}, 12);
  EXPECT_EQ(m.observe().retry_at, core::never);
}

TEST_F(ConsulMirror, TheAnswerForATombstoneThatIsForgottenTakesNothingBack) {
  mirror m = of();
  m.replace({{lock(10, other_session, 1)}}, 25);
  m.follow({{lock(10, other_session, 1)}}, 10);
  EXPECT_EQ(core::number(m.observe().as_of), 25U);
}

TEST(ConsulSemaphore, IsReadInBothShapesAndWrittenAsItWas) {
  for (const char* text :
       {R"({"Limit":2,"Holders":["x","y"]})", R"({"Limit":2,"Holders":{"x":true,"y":true}})",
        R"({"Limit":3,"Holders":{},"Changes":7})"}) {
    const auto read = parse_semaphore(text);
    ASSERT_TRUE(read) << text;
    EXPECT_EQ(semaphore_text(*read), text);
  }
  EXPECT_TRUE(parse_semaphore(R"({"Limit":1,"Holders":null})"));
  for (const char* text : {"", "1", "{}", R"({"Limit":0})", R"({"Limit":-1,"Holders":[]})",
                           R"({"Limit":2,"Holders":5})", R"({"Limit":2,"Holders":[5]})",
                           R"({"Limit":2,"Holders":{"x":1}})", R"({"Limit":2,"Holders":["x","x"]})",
                           R"({"Limit":2,"Holders":[],"Changes":"x"})"}) {
    EXPECT_FALSE(parse_semaphore(text)) << text;
  }
}

TEST(ConsulLayout, ASignatureIsReadAsItWasWrittenAndAnythingElseIsAName) {
  for (const signature& one :
       {signature{.identity = "api-7f9c", .mark = mark_of("s")},
        signature{.identity = "a b%\xff", .mark = mark_of("s"), .version = core::version{42}},
        signature{.identity = "a", .mark = mark_of("s"), .slot = 3},
        signature{
            .identity = "slot=7", .mark = mark_of("s"), .version = core::version{42}, .slot = 4}}) {
    const signature read = parse_signature(signature_text(one));
    EXPECT_EQ(read.identity, one.identity);
    EXPECT_EQ(read.mark, one.mark);
    EXPECT_EQ(read.version, one.version);
    EXPECT_EQ(read.slot, one.slot);
  }
  for (const char* text : {"", "worker-1", "a b", "a tenure-1 x", "a tenure-1 2 3", "%zz tenure-1",
                           "a tenure-1 slot=", "a tenure-1 slot=-1", "a tenure-1 slot=1 2",
                           "a tenure-1 2 3 slot=1", "slot=1"}) {
    EXPECT_EQ(parse_signature(text).identity, text);
    EXPECT_EQ(parse_signature(text).mark, "");
  }
}

using testing::HasSubstr;
using testing::StartsWith;

basis free_lock(std::uint64_t index) {
  return {.shape = index == 0 ? lock_shape::none : lock_shape::single, .index = index};
}

TEST(ConsulRequests, ACampaignReliesOnTheLockKeyAsItWasSeen) {
  const settings::election one{.name = "db"};
  EXPECT_THAT(transaction_request(campaign_transaction(one, free_lock(0), "s", "a")),
              AllOf(StartsWith(R"([{"KV":{"Verb":"check-not-exists","Key":"db/.lock"}},)"),
                    HasSubstr(R"("Verb":"lock","Key":"db/.lock")")));
  EXPECT_THAT(transaction_request(campaign_transaction(one, free_lock(7), "s", "a")),
              StartsWith(R"([{"KV":{"Verb":"check-index","Key":"db/.lock","Index":7}},)"));

  const settings::election two{.name = "db", .slots = 2};
  const basis seen{.shape = lock_shape::semaphore,
                   .index = 9,
                   .body = {.limit = 2, .holders = {"x"}, .changes = 4},
                   .dead = {{.key = "db/y", .index = 5}}};
  const auto taken = campaign_transaction(two, seen, "s", "a");
  ASSERT_EQ(taken.size(), 3U);
  const auto& rewritten = std::get<write>(taken[0]);
  EXPECT_EQ(rewritten.index, 9U);
  EXPECT_EQ(rewritten.value, R"({"Limit":2,"Holders":{"x":true,"s":true},"Changes":5})");
  EXPECT_EQ(std::get<lock>(taken[1]).key, "db/s");
  EXPECT_EQ(std::get<erase>(taken[2]).key, "db/y");

  basis ousted = seen;
  ousted.ousted = {"other", "s"};
  const auto taken_anew = campaign_transaction(two, ousted, "s", "a");
  EXPECT_EQ(std::get<unlock>(taken_anew.at(1)).key, "db/s") << "so that Consul writes it anew";
  EXPECT_EQ(std::get<lock>(taken_anew.at(2)).key, "db/s");
}

TEST(ConsulRequests, TheNumberOfSlotsBecomesThatOfTheOneThatCampaigns) {
  const settings::election two{.name = "db", .slots = 2};
  basis single = free_lock(7);
  single.dead = {{.key = "db/y", .index = 5}};
  const auto to_semaphore = campaign_transaction(two, single, "s", "a");
  ASSERT_EQ(to_semaphore.size(), 5U);
  EXPECT_EQ(std::get<check_index>(to_semaphore[0]).index, 7U);
  EXPECT_EQ(std::get<lock>(to_semaphore[1]).key, "db/.lock") << "so that a lock-delay refuses it";
  EXPECT_EQ(std::get<unlock>(to_semaphore[2]).value,
            R"({"Limit":2,"Holders":{"s":true},"Changes":1})");
  EXPECT_EQ(std::get<unlock>(to_semaphore[2]).flags, semaphore_flags);
  EXPECT_EQ(std::get<lock>(to_semaphore[3]).key, "db/s");
  EXPECT_EQ(std::get<erase>(to_semaphore[4]).key, "db/y");

  const settings::election one{.name = "db"};
  const basis three{.shape = lock_shape::semaphore,
                    .index = 9,
                    .body = {.limit = 3, .holders = {}, .changes = 4}};
  const auto to_lock = campaign_transaction(one, three, "s", "a");
  ASSERT_EQ(to_lock.size(), 2U);
  EXPECT_EQ(std::get<check_index>(to_lock[0]).index, 9U);
  EXPECT_EQ(std::get<lock>(to_lock[1]).key, "db/.lock");
  EXPECT_EQ(std::get<lock>(to_lock[1]).flags, lock_flags);
  const auto to_two = campaign_transaction(two, three, "s", "a");
  EXPECT_EQ(std::get<write>(to_two[0]).value, R"({"Limit":2,"Holders":{"s":true},"Changes":5})");

  basis shared_by_one = three;
  shared_by_one.body.limit = 1;
  const auto as_it_is = campaign_transaction(one, shared_by_one, "s", "a");
  EXPECT_EQ(std::get<lock>(as_it_is.at(1)).key, "db/s")
      << "another program made a semaphore for one";
}

TEST(ConsulRequests, AReleaseThatIsExecutedLateFindsALaterTermChanged) {
  const auto of_a_lock = release_transaction("db", free_lock(7), "db/.lock", 7, "s", "note");
  ASSERT_EQ(of_a_lock.size(), 3U);
  EXPECT_EQ(std::get<check_index>(of_a_lock[0]).index, 7U);
  EXPECT_EQ(std::get<unlock>(of_a_lock[1]).session, "s");
  EXPECT_EQ(std::get<write>(of_a_lock[2]).key, "db/.tenure/release");

  const basis seen{.shape = lock_shape::semaphore,
                   .index = 9,
                   .body = {.limit = 2, .holders = {"x", "s"}, .changes = 4}};
  const auto of_a_slot = release_transaction("db", seen, "db/s", 8, "s", "");
  ASSERT_EQ(of_a_slot.size(), 3U);
  EXPECT_EQ(std::get<check_index>(of_a_slot[0]).index, 8U);
  EXPECT_EQ(std::get<write>(of_a_slot[1]).index, 9U);
  EXPECT_EQ(std::get<write>(of_a_slot[1]).value, R"({"Limit":2,"Holders":{"x":true},"Changes":5})");
  EXPECT_EQ(std::get<erase>(of_a_slot[2]).index, 8U);
}

TEST(ConsulRequests, ALockIsPassedOnInTheStepThatReleasesIt) {
  const place_offer next{.session = "n", .identity = "c d", .mark = "tenure-c"};
  const auto all = release_transaction("db", free_lock(7), "db/.lock", 7, "s", "note", next);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_EQ(std::get<check_index>(all[0]).index, 7U);
  EXPECT_EQ(std::get<unlock>(all[1]).session, "s");
  EXPECT_EQ(std::get<lock>(all[2]).session, "n");
  EXPECT_EQ(std::get<lock>(all[2]).flags, lock_flags);
  EXPECT_EQ(parse_signature(std::get<lock>(all[2]).value).identity, "c d");
  EXPECT_EQ(parse_signature(std::get<lock>(all[2]).value).mark, "tenure-c");
  EXPECT_EQ(std::get<write>(all[3]).key, "db/.tenure/release");
}

TEST(ConsulRequests, FewElectionsAreWatchedAloneAndManyByTheirFolders) {
  std::vector<settings::election> few{{.name = "f/a"}, {.name = "f/b"}};
  EXPECT_EQ(folders_of(few).size(), 2U);
  std::vector<settings::election> many{{.name = "alone"}, {.name = "g/x"}};
  for (int i = 0; i < 20; ++i) many.push_back({.name = "f/" + std::to_string(i)});
  const auto folders = folders_of(many);
  ASSERT_EQ(folders.size(), 3U);
  EXPECT_EQ(folders[0].prefix, "alone/");
  EXPECT_EQ(folders[1].prefix, "f/");
  EXPECT_EQ(folders[1].elections.size(), 20U);
}

/// A transaction of Consul has 64 operations at the most, and the write needs some of them itself.
TEST_F(ConsulMirror, OfManyDeadContendersAWriteTakesAFewAlong) {
  std::vector<key_value> all{semaphore_key(20, 2, {other_session}, 1),
                             contender(10, other_session)};
  for (int i = 10; i < 40; ++i) {
    all.push_back(
        contender(5, "dddddddd-1111-1111-1111-1111111111" + std::to_string(i), /*alive=*/false));
  }
  mirror m = of(2);
  m.replace(all, 20);
  EXPECT_EQ(m.basis_now().dead.size(), 8U);
}

}  // namespace
}  // namespace tenure::stores::consul
