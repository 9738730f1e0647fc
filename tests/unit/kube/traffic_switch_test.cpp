#include "conversation.hpp"

namespace tenure::kube::test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::StartsWith;

/// The pods db-0 (ours), db-1 and db-2 show it.
struct TrafficOfPods : testing::Test {
  conversation talk{{.pod = "db-0"}};

  /// The list has three pods, of which db-1 has this sign.
  void list(marked_object second) {
    talk.reply(
        {object("db-0", named::nobody, 3), std::move(second), object("db-2", named::nobody, 3)});
  }
  void become_active(std::uint64_t version) {
    talk.want(active(version));
    talk.reply({object("db-0")});
    talk.done();
    talk.asked();
    ASSERT_THAT(talk.said(), ElementsAre("named " + std::to_string(version)));
  }
};

// --- a gain ----------------------------------------------------------------------------------

TEST_F(TrafficOfPods, ANewHolderTakesTheNameFromAllOthersBeforeItNamesItself) {
  talk.want(active(7));
  EXPECT_THAT(talk.asked(), ElementsAre("list"));
  list(object("db-1", named::other, 3));
  EXPECT_THAT(talk.asked(), ElementsAre("write db-1: nobody 7", "write db-2: nobody 7"));
  talk.done();
  EXPECT_THAT(talk.asked(), IsEmpty()) << "db-2 is not written yet";
  EXPECT_FALSE(talk.is_named());
  talk.done();
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: us 7"));
  talk.done();
  EXPECT_TRUE(talk.is_named());
  EXPECT_TRUE(talk.is_settled());
  EXPECT_THAT(talk.said(), ElementsAre("named 7"));
}

TEST_F(TrafficOfPods, OthersAreWrittenEvenIfTheyNameNobodySoThatWhatTheySendLateIsRefused) {
  talk.want(active(7));
  talk.asked();
  list(object("db-1", named::nobody, 3));
  EXPECT_THAT(talk.asked(), ElementsAre("write db-1: nobody 7", "write db-2: nobody 7"));
}

TEST_F(TrafficOfPods, APodThatHasEndedForGoodIsLeftAloneUnlessItIsNamed) {
  talk.want(active(7));
  talk.asked();
  marked_object ended = object("db-1");
  ended.is_over = true;
  marked_object evicted = object("db-2", named::other, 3);
  evicted.is_over = true;
  talk.reply({object("db-0"), ended, evicted});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-2: nobody 7"));
}

TEST_F(TrafficOfPods, WhileTheWorkloadDoesNotRunNobodyIsNamed) {
  talk.want(gaining(7));
  talk.asked();
  list(object("db-1", named::other, 3));
  EXPECT_THAT(talk.asked(), ElementsAre("write db-1: nobody 7", "write db-2: nobody 7"));
  talk.done();
  talk.done();
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_TRUE(talk.is_settled());
  EXPECT_TRUE(talk.never_wakes());
  talk.want(active(7));
  talk.asked();
  talk.reply({object("db-0", named::nobody, 3), object("db-1", named::nobody, 7),
              object("db-2", named::nobody, 7)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: us 7"));
}

TEST_F(TrafficOfPods, AnEarlierTermOfOurOwnIsTakenBackUntilTheWorkloadRunsAgain) {
  talk.want(gaining(7));
  talk.asked();
  talk.reply({object("db-0", named::us, 5)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 7"));
  talk.done();
  EXPECT_THAT(talk.said(), ElementsAre("not named"));
}

TEST_F(TrafficOfPods, APodThatNoListHasIsFoundByItsNameAndListedBeforeItIsNamed) {
  talk.want(active(7));
  talk.asked();
  talk.reply({object("db-1", named::nobody, 7)});
  EXPECT_THAT(talk.asked(), ElementsAre("read db-0"));
  marked_object bare = object("db-0");
  bare.is_listed = false;
  bare.is_complete = false;
  talk.reply({bare});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 7"));
  talk.done();
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: us 7"));
  talk.done();
  EXPECT_THAT(talk.said(), ElementsAre("named 7"));
}

TEST_F(TrafficOfPods, WhatIsAsItShouldBeIsNotWritten) {
  talk.want(active(7));
  talk.asked();
  talk.reply({object("db-0", named::us, 7), object("db-1", named::nobody, 7)});
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_TRUE(talk.is_named());
  EXPECT_THAT(talk.said(), ElementsAre("named 7")) << "of an agent that was started again";
}

// --- the end of a term -----------------------------------------------------------------------

TEST_F(TrafficOfPods, TheEndOfATermTakesOurNameAwayAtOnce) {
  become_active(7);
  talk.want(standby());
  EXPECT_THAT(talk.asked(), ElementsAre("read db-0"));
  talk.reply({object("db-0", named::us, 7)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 7"));
  EXPECT_TRUE(talk.is_named()) << "it is not known to be gone yet";
  talk.done();
  EXPECT_FALSE(talk.is_named());
  EXPECT_TRUE(talk.is_settled());
  EXPECT_THAT(talk.said(), ElementsAre("not named"));
}

TEST_F(TrafficOfPods, ATermThatEndsWhileItIsAnnouncedIsNotAnnounced) {
  talk.want(active(7));
  const traffic_request list_request = talk.oldest();
  talk.asked();
  talk.want(standby());
  EXPECT_THAT(talk.asked(), ElementsAre("read db-0"));
  talk.late(list_request, {object("db-0"), object("db-1")});
  EXPECT_THAT(talk.asked(), IsEmpty());
}

TEST_F(TrafficOfPods, AWriteThatWasUnderWayWhenTheTermEndedIsRefusedWhenItArrives) {
  talk.want(active(7));
  talk.reply({object("db-0", named::nobody, 3)});
  EXPECT_THAT(talk.asked(), ElementsAre("list", "write db-0: us 7"));
  talk.want(standby());
  EXPECT_THAT(talk.asked(), ElementsAre("read db-0"));
  talk.reply_to(1, {object("db-0", named::nobody, 3)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 7")) << "changes its resourceVersion";
}

TEST_F(TrafficOfPods, SoIsOneOfAnEarlierAgentWhoseTermIsKnown) {
  talk.want({.what = kind::standby, .version = core::version{5}});
  talk.asked();
  talk.reply({object("db-0", named::nobody, 3)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 5"));
}

TEST_F(TrafficOfPods, OneOfAnEarlierAgentWhoseTermIsNotKnownIsFoundByALook) {
  talk.want(standby());
  talk.asked();
  talk.reply({object("db-0", named::nobody, 3)});
  EXPECT_TRUE(talk.is_settled());
  EXPECT_EQ(talk.pause(), traffic_switch::look_every);
  talk.wake();
  EXPECT_THAT(talk.asked(), ElementsAre("read db-0"));
  talk.reply({object("db-0", named::us, 5)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 5"));
  talk.done();
  EXPECT_TRUE(talk.never_wakes()) << "a standby asks for nothing more";
}

TEST_F(TrafficOfPods, WhatTheNextHolderHasWrittenIsLeftAlone) {
  become_active(7);
  talk.want(standby());
  talk.asked();
  talk.reply({object("db-0", named::nobody, 9)});
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_TRUE(talk.is_settled());
}

// --- the start of an agent -------------------------------------------------------------------

TEST_F(TrafficOfPods, AnAgentPutsRightWhatACrashHasLeft) {
  talk.want(standby());
  EXPECT_THAT(talk.asked(), ElementsAre("read db-0"));
  talk.reply({object("db-0", named::us, 5)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 5"));
  talk.done();
  EXPECT_TRUE(talk.is_settled());
}

TEST_F(TrafficOfPods, AFreshPodIsMarkedAsAStandbyWithoutAWord) {
  talk.want(standby());
  talk.asked();
  marked_object fresh = object("db-0");
  fresh.is_complete = false;
  talk.reply({fresh});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: nobody 0"));
  talk.done();
  EXPECT_THAT(talk.said(), IsEmpty());
}

TEST_F(TrafficOfPods, NothingIsDoneWhileAnAdoptedWorkloadMayGoOn) {
  talk.want({.what = kind::as_it_is});
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_TRUE(talk.is_settled());
  talk.want(active(5));
  talk.asked();
  talk.reply({object("db-0", named::us, 5)});
  EXPECT_THAT(talk.asked(), IsEmpty());
}

// --- others who write ------------------------------------------------------------------------

TEST_F(TrafficOfPods, AConflictIsReadAgainAtOnce) {
  talk.want(active(7));
  talk.asked();
  list(object("db-1", named::nobody, 7));
  talk.asked();
  talk.refuse(api_refusal::conflict);
  EXPECT_THAT(talk.asked(), ElementsAre("list"));
  talk.reply({object("db-0"), object("db-2", named::other, 6)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-2: nobody 7"));
  EXPECT_EQ(talk.failures(), 0U);
}

TEST_F(TrafficOfPods, AConflictOverOurOwnPodIsReadAgainBeforeItIsNamed) {
  talk.want(active(7));
  talk.reply({object("db-0")});
  talk.asked();
  talk.refuse(api_refusal::conflict);
  EXPECT_THAT(talk.asked(), ElementsAre("list"));
  talk.reply({object("db-0", named::nobody, 9)});
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_THAT(talk.said(), ElementsAre("overtaken: db-0 has 9"));
}

TEST_F(TrafficOfPods, EndlessConflictsAreAFailure) {
  talk.want(active(7));
  for (std::uint32_t i = 0; i <= traffic_switch::most_overwritings; ++i) {
    EXPECT_THAT(talk.said(), IsEmpty());
    talk.reply({object("db-0")});
    talk.refuse(api_refusal::conflict);
  }
  EXPECT_THAT(talk.said(), ElementsAre(StartsWith("failed: somebody else writes")));
  EXPECT_EQ(talk.unanswered(), 0U);
  EXPECT_GT(talk.pause(), core::duration::zero());
  talk.wake();
  for (std::uint32_t i = 0; i < traffic_switch::most_overwritings; ++i) {
    talk.reply({object("db-0")});
    talk.refuse(api_refusal::conflict);
    EXPECT_EQ(talk.failures(), 1U) << "after a failure, conflicts are counted anew";
  }
  talk.reply({object("db-0")});
  talk.refuse(api_refusal::conflict);
  EXPECT_EQ(talk.failures(), 2U);
}

TEST_F(TrafficOfPods, ALaterTermIsNotOverwrittenAndLookedForFromTimeToTime) {
  talk.want(active(7));
  talk.asked();
  list(object("db-1", named::other, 9));
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_THAT(talk.said(), ElementsAre("overtaken: db-1 has 9"));
  EXPECT_EQ(talk.pause(), traffic_switch::look_every);
  talk.wake();
  EXPECT_THAT(talk.asked(), ElementsAre("list"));
  list(object("db-1", named::other, 9));
  EXPECT_THAT(talk.said(), IsEmpty()) << "once";
  talk.wake();
  talk.asked();
  list(object("db-1", named::other, 0));
  EXPECT_THAT(talk.asked(), ElementsAre("write db-1: nobody 7", "write db-2: nobody 7"))
      << "somebody has taken the annotation away";
}

TEST_F(TrafficOfPods, WhatSomebodyTakesAwayInTheMiddleOfATermIsWrittenAgain) {
  become_active(7);
  EXPECT_EQ(talk.pause(), traffic_switch::look_every);
  talk.wake();
  EXPECT_THAT(talk.asked(), ElementsAre("list"));
  talk.reply({object("db-0", named::us, 7)});
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_THAT(talk.said(), IsEmpty());
  talk.wake();
  talk.asked();
  talk.reply({object("db-0", named::nobody, 7), object("db-3", named::nobody, 0)});
  EXPECT_FALSE(talk.is_named());
  EXPECT_THAT(talk.asked(), ElementsAre("write db-3: nobody 7"));
  talk.done();
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: us 7"));
  talk.done();
  EXPECT_THAT(talk.said(), ElementsAre("named again 7"));
}

TEST_F(TrafficOfPods, ThatAnotherPodIsNewIsNoNews) {
  become_active(7);
  talk.wake();
  talk.asked();
  talk.reply({object("db-0", named::us, 7), object("db-3", named::nobody, 0)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db-3: nobody 7"));
  talk.done();
  EXPECT_THAT(talk.said(), IsEmpty());
}

// --- failures --------------------------------------------------------------------------------

TEST_F(TrafficOfPods, AFailureIsSaidOnceAndTriedAgainAfterGrowingPauses) {
  talk.want(active(7));
  core::duration last{};
  for (int i = 0; i < 12; ++i) {
    ASSERT_EQ(talk.asked().back(), "list");
    talk.refuse(api_refusal::unknown, "timeout");
    EXPECT_GE(talk.pause(), last / 2) << "half of each step is drawn";
    EXPECT_LE(talk.pause(), traffic_switch::pauses.most);
    last = talk.pause();
    talk.wake();
  }
  EXPECT_GE(last, traffic_switch::pauses.most / 2);
  EXPECT_THAT(talk.said(), ElementsAre("failed: timeout"));
  EXPECT_EQ(talk.failures(), 12U);
  talk.reply({object("db-0")});
  talk.done();
  EXPECT_THAT(talk.said(), ElementsAre("works again", "named 7"));
}

TEST_F(TrafficOfPods, AnotherFailureIsSaid) {
  talk.want(active(7));
  talk.refuse(api_refusal::unknown, "timeout");
  talk.wake();
  talk.refuse(api_refusal::forbidden, "may not list");
  talk.wake();
  talk.reply({object("db-0")});
  talk.refuse(api_refusal::forbidden, "may not patch");
  EXPECT_THAT(talk.said(),
              ElementsAre("failed: timeout", "failed: may not list", "failed: may not patch"));
}

TEST_F(TrafficOfPods, AFailureIsSaidAgainWhenItMeansMore) {
  talk.want(gaining(7));
  talk.refuse(api_refusal::forbidden, "may not list");
  EXPECT_THAT(talk.said(), ElementsAre("failed: may not list"));
  talk.want(active(7));
  talk.refuse(api_refusal::forbidden, "may not list");
  EXPECT_THAT(talk.said(), ElementsAre("failed: may not list")) << "nobody is served now";
}

TEST_F(TrafficOfPods, NobodyIsNamedWhileAnotherPodMayStillBe) {
  talk.want(active(7));
  talk.asked();
  list(object("db-1", named::other, 3));
  talk.asked();
  talk.refuse(api_refusal::unknown, "timeout");
  talk.done();
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_THAT(talk.said(), ElementsAre("failed: timeout"));
}

TEST_F(TrafficOfPods, APodThatIsGoneNamesNobody) {
  talk.want(active(7));
  talk.asked();
  list(object("db-1", named::other, 3));
  talk.asked();
  talk.refuse(api_refusal::missing);
  talk.done();
  EXPECT_THAT(talk.asked(), ElementsAre("write db-0: us 7"));
  EXPECT_EQ(talk.failures(), 0U);
}

TEST_F(TrafficOfPods, OurOwnPodThatDoesNotExistIsAFailure) {
  talk.want(standby());
  talk.refuse(api_refusal::missing, "not found");
  EXPECT_THAT(talk.said(), ElementsAre("failed: not found"));
  EXPECT_FALSE(talk.is_settled());
  EXPECT_GT(talk.pause(), core::duration::zero());
}

TEST_F(TrafficOfPods, APodThatCannotBeNamedIsNotAndItsFlawIsSaid) {
  marked_object flawed = object("db-0");
  flawed.flaw = "no readinessGate";
  talk.want(standby());
  talk.reply({flawed});
  EXPECT_THAT(talk.said(), ElementsAre("failed: no readinessGate")) << "before it matters";
  talk.want(active(7));
  talk.asked();
  talk.reply({flawed});
  EXPECT_THAT(talk.asked(), IsEmpty());
}

TEST_F(TrafficOfPods, AnotherWishDoesNotWaitForAPause) {
  talk.want(active(7));
  talk.refuse(api_refusal::unknown, "timeout");
  talk.asked();
  talk.want(standby());
  EXPECT_THAT(talk.asked(), ElementsAre("read db-0"));
}

// --- slices ----------------------------------------------------------------------------------

struct TrafficOfASlice : testing::Test {
  conversation talk{{.pod = "db-0", .slices = {"db"}}};
};

TEST_F(TrafficOfASlice, OneWriteMovesTheTraffic) {
  talk.want(active(7));
  EXPECT_THAT(talk.asked(), ElementsAre("read db"));
  talk.reply({object("db", named::other, 3)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db: us 7"));
  talk.done();
  EXPECT_THAT(talk.said(), ElementsAre("named 7"));
}

TEST_F(TrafficOfASlice, WhileTheWorkloadDoesNotRunNobodyIsNamed) {
  talk.want(gaining(7));
  talk.asked();
  talk.reply({object("db", named::other, 3)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db: nobody 7"));
  talk.done();
  EXPECT_TRUE(talk.is_settled());
}

TEST_F(TrafficOfASlice, IsLeftAloneByAStandby) {
  talk.want(standby());
  talk.asked();
  talk.reply({object("db", named::other, 3)});
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_TRUE(talk.is_settled());
}

TEST_F(TrafficOfASlice, IsEmptiedAtTheEndOfATermAndAfterACrash) {
  talk.want(standby());
  talk.asked();
  talk.reply({object("db", named::us, 5)});
  EXPECT_THAT(talk.asked(), ElementsAre("write db: nobody 5"));
}

TEST_F(TrafficOfASlice, ThatNamesUsByAnEarlierPodIsWrittenAnew) {
  talk.want(active(7));
  talk.asked();
  marked_object before = object("db", named::us, 7);
  before.is_complete = false;
  talk.reply({before});
  EXPECT_THAT(talk.asked(), ElementsAre("write db: us 7"));
}

TEST_F(TrafficOfASlice, OfALaterTermIsNotWritten) {
  talk.want(active(7));
  talk.asked();
  talk.reply({object("db", named::other, 8)});
  EXPECT_THAT(talk.asked(), IsEmpty());
  EXPECT_THAT(talk.said(), ElementsAre("overtaken: db has 8"));
}

/// A slice of the Service `db`.
marked_object slice(const std::string& name, named who = named::nobody, std::uint64_t version = 0) {
  marked_object out = object(name, who, version);
  out.service = "db";
  return out;
}

TEST_F(TrafficOfASlice, OfOthersIsLookedForOnceOursNamesUs) {
  talk.want(active(7));
  talk.asked();
  talk.reply({slice("db")});
  talk.asked();
  talk.reply({slice("db", named::us, 7)});
  EXPECT_THAT(talk.said(), ElementsAre("named 7")) << "that does not wait for the list";
  EXPECT_TRUE(talk.is_settled());
  EXPECT_THAT(talk.asked(), ElementsAre("list db"));
  talk.reply({slice("db", named::other), slice("db-x7k2p", named::other), slice("db-empty")});
  EXPECT_THAT(talk.said(), ElementsAre("led astray by db-x7k2p"));
  EXPECT_EQ(talk.pause(), seconds(30));
}

TEST_F(TrafficOfASlice, OfOthersIsSaidOnceUntilItIsGone) {
  talk.want(active(7));
  talk.reply({slice("db", named::us, 7)});
  talk.reply({slice("db-1", named::other)});
  talk.said();
  const auto look = [this](std::vector<marked_object> all) {
    talk.wake();
    talk.reply({slice("db", named::us, 7)});
    talk.reply(std::move(all));
    return talk.said();
  };
  EXPECT_THAT(look({slice("db-1", named::other)}), IsEmpty());
  EXPECT_THAT(look({slice("db-1", named::other), slice("db-2", named::other)}),
              ElementsAre("led astray by db-1 db-2"));
  talk.wake();
  talk.reply({slice("db", named::us, 7)});
  talk.refuse(api_refusal::forbidden);
  EXPECT_THAT(talk.said(), IsEmpty()) << "that says nothing about them";
  EXPECT_EQ(talk.failures(), 0) << "our pod is named all the same";
  EXPECT_THAT(look({slice("db-1")}), ElementsAre("led astray no more"));
  EXPECT_THAT(look({}), IsEmpty());
}

TEST_F(TrafficOfASlice, OfOthersIsLookedForAgainIfTheLookIsNotAnswered) {
  talk.want(active(7));
  talk.reply({slice("db", named::us, 7)});
  talk.asked();
  talk.wake();
  EXPECT_THAT(talk.asked(), ElementsAre("read db"));
  talk.want(standby());
  EXPECT_THAT(talk.asked(), ElementsAre("read db"));
  talk.reply_to(talk.unanswered() - 1, {slice("db", named::other, 8)});
  EXPECT_THAT(talk.asked(), IsEmpty()) << "a standby does not look";
}

struct TrafficOfTwoSlices : testing::Test {
  conversation talk{{.pod = "db-0", .slices = {"v4", "v6"}}};
};

TEST_F(TrafficOfTwoSlices, NameNobodyBeforeTheyNameAnother) {
  talk.want(active(7));
  EXPECT_THAT(talk.asked(), ElementsAre("read v4", "read v6"));
  talk.reply({object("v4", named::other, 3)});
  talk.reply({object("v6", named::nobody, 3)});
  EXPECT_THAT(talk.asked(), ElementsAre("write v4: nobody 7", "write v6: nobody 7"));
  talk.done();
  talk.done();
  EXPECT_THAT(talk.asked(), ElementsAre("write v4: us 7", "write v6: us 7"));
  talk.done();
  EXPECT_THAT(talk.said(), IsEmpty());
  talk.done();
  EXPECT_THAT(talk.said(), ElementsAre("named 7"));
}

TEST_F(TrafficOfTwoSlices, OneThatDoesNotExistDoesNotKeepTheOtherBack) {
  talk.want(active(7));
  talk.asked();
  talk.reply({object("v4", named::nobody, 7)});
  talk.refuse(api_refusal::missing, "no v6");
  EXPECT_THAT(talk.asked(), ElementsAre("write v4: us 7"));
  talk.done();
  EXPECT_THAT(talk.said(), ElementsAre("failed: no v6"));
  EXPECT_TRUE(talk.is_named());
}

TEST_F(TrafficOfTwoSlices, OneThatCannotBeReadMayNameAnother) {
  talk.want(active(7));
  talk.asked();
  talk.reply({object("v4", named::other, 3)});
  talk.refuse(api_refusal::unknown, "timeout");
  EXPECT_THAT(talk.asked(), ElementsAre("write v4: nobody 7"));
  talk.done();
  EXPECT_THAT(talk.asked(), IsEmpty());
}

TEST_F(TrafficOfTwoSlices, EachIsEmptiedAtTheEndOfATermWhateverBecomesOfTheOther) {
  talk.want(standby());
  talk.asked();
  talk.refuse(api_refusal::unknown, "timeout");
  talk.reply({object("v6", named::us, 7)});
  EXPECT_THAT(talk.asked(), ElementsAre("write v6: nobody 7"));
}

}  // namespace
}  // namespace tenure::kube::test
