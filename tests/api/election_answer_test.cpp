#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using core::phase;
using core::version;
using testing::AllOf;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;

TEST(ElectionAnswer, ActiveHolderIsItself) {
  scene s;
  s.hold(phase::active);
  const auto db = s.db_json();
  EXPECT_EQ(db["election"], "db");
  EXPECT_EQ(db["state"], "active");
  EXPECT_EQ(db["is_self"], true);
  EXPECT_EQ(db["holder"], "me");
  EXPECT_EQ(db["version"], 7);
  EXPECT_EQ(db["version_text"], "7");
  EXPECT_EQ(db["sequencer"], "proof-7");
  EXPECT_EQ(db["holders"].size(), 1u);
  EXPECT_EQ(db["slots"], 1);
  EXPECT_EQ(db["store"]["kind"], "etcd");
  EXPECT_EQ(db["cluster_id"], "c1");
  EXPECT_EQ(db["since"], "2026-01-31T12:00:00.000Z");
  EXPECT_EQ(db["last_loss"], nullptr);
  EXPECT_EQ(db["workload_running"], true);
}

TEST(ElectionAnswer, HolderIsNotClaimedFromStopAtAlthoughTheSnapshotStillSaysActive) {
  scene s;
  s.hold(phase::active);
  s.watch_shows({{.identity = "me", .version = version{7}, .ours = true}}, version{7});
  s.advance(10s - 1ns);
  EXPECT_EQ(s.db_json()["is_self"], true);
  s.advance(1ns);
  const auto db = s.db_json();
  EXPECT_EQ(db["is_self"], false);
  EXPECT_EQ(db["holder"], nullptr);
  EXPECT_EQ(db["version"], nullptr);
  EXPECT_EQ(db["holders"].size(), 0u);
  EXPECT_EQ(db["sequencer"], nullptr);
  EXPECT_EQ(db["expires_in_ms"], nullptr);
  EXPECT_EQ(db["state"], "draining") << "a reader of `state` must not be told active either";
}

TEST(ElectionAnswer, SinceOfAnExpiredTermIsItsStopAt) {
  scene s;
  s.hold(phase::active);
  s.advance(12s);
  EXPECT_EQ(s.db_json()["since"], "2026-01-31T12:00:10.000Z");
}

TEST(ElectionAnswer, HealthIsShownIfItIsCheckedAndElseNotMentioned) {
  scene s;
  EXPECT_FALSE(s.db_json().contains("health"));
  s.seen.health = api::health_report{.since_unix_ms = start_unix_ms};
  EXPECT_EQ(s.db_json()["health"], nlohmann::json({{"state", "unknown"},
                                                   {"reason", nullptr},
                                                   {"since", "2026-01-31T12:00:00.000Z"}}));
  s.seen.health->state = core::health::unhealthy;
  s.seen.health->reason = "/run/ok is 42s old; at most 30s is allowed";
  EXPECT_EQ(s.db_json()["health"]["state"], "unhealthy");
  EXPECT_EQ(s.db_json()["health"]["reason"], "/run/ok is 42s old; at most 30s is allowed");
  EXPECT_EQ(s.seen.share().health, s.seen.health) << "snapshots that are shared show it, too";
}

TEST(ElectionAnswer, ExpiresInIsComputedWhenTheAnswerIsWritten) {
  scene s;
  s.hold(phase::active);
  EXPECT_EQ(s.db_json()["expires_in_ms"], 10'000);
  s.advance(4s);
  EXPECT_EQ(s.db_json()["expires_in_ms"], 6'000);
  EXPECT_EQ(s.db_json()["as_of"], "2026-01-31T12:00:04.000Z");
  s.advance(500us);
  EXPECT_EQ(s.db_json()["expires_in_ms"], 5'999) << "rounded down: nobody may rely on more";
}

TEST(ElectionAnswer, PendingHoldsByTheStoresWordButIsNotSelf) {
  scene s;
  s.hold(phase::pending);
  s.watch_shows({{.identity = "previous", .version = version{5}}}, version{5});
  const auto db = s.db_json();
  EXPECT_EQ(db["state"], "pending");
  EXPECT_EQ(db["is_self"], false);
  EXPECT_EQ(db["holder"], "me");
  EXPECT_EQ(db["holders"].size(), 1u) << "with one slot nobody else can hold as well";
}

TEST(ElectionAnswer, OrderlyDrainIsStillTheHolderButNotSelf) {
  scene s;
  s.hold(phase::draining);
  s.view().last_loss = core::loss_reason::resigned;
  EXPECT_EQ(s.db_json()["holder"], "me");
  EXPECT_EQ(s.db_json()["is_self"], false);
  EXPECT_EQ(s.db_json()["last_loss"], "resigned");
}

TEST(ElectionAnswer, DrainAfterALossDoesNotClaimTheLeaseAnyMore) {
  scene s;
  s.hold(phase::draining);
  s.view().last_loss = core::loss_reason::session_invalid;
  s.watch_shows({{.identity = "me", .version = version{7}, .ours = true}}, version{7});
  EXPECT_EQ(s.db_json()["holder"], nullptr) << "the watch is behind the store's own word";
  s.watch_shows({{.identity = "other", .version = version{9}}}, version{9});
  EXPECT_EQ(s.db_json()["holder"], "other");
}

TEST(ElectionAnswer, OrderlyDrainThatTheWatchShowsAsTakenOverNamesTheOther) {
  scene s;
  s.hold(phase::draining);
  s.view().last_loss = core::loss_reason::resigned;
  s.watch_shows({{.identity = "other", .version = version{9}}}, version{9});
  EXPECT_EQ(s.db_json()["holder"], "other");
}

TEST(ElectionAnswer, StandbyNamesWhatTheWatchHasShown) {
  scene s;
  s.watch_shows({{.identity = "other", .version = version{5}}}, version{5});
  s.view().seen->expires_at = start + 3s;
  EXPECT_EQ(s.db_json()["holder"], "other");
  EXPECT_EQ(s.db_json()["version"], 5);
  EXPECT_EQ(s.db_json()["sequencer"], nullptr) << "the proof of a term is its holder's";
  EXPECT_EQ(s.db_json()["expires_in_ms"], 3000);
  s.advance(5s);
  EXPECT_EQ(s.db_json()["expires_in_ms"], 0) << "never negative";
}

TEST(ElectionAnswer, AnotherSessionThatIsNamedLikeUsIsShownAsTheHolder) {
  scene s;
  s.watch_shows({{.identity = "me", .version = version{5}, .ours = false}}, version{5});
  EXPECT_EQ(s.db_json()["holder"], "me");
  EXPECT_EQ(s.db_json()["version"], 5);
  EXPECT_EQ(s.db_json()["holders"].size(), 1u);
  EXPECT_EQ(s.db_json()["is_self"], false) << "it is not this agent";
  s.watch_shows({{.identity = "me", .version = version{5}, .ours = true}}, version{5});
  EXPECT_EQ(s.db_json()["holder"], nullptr) << "of our own session the watch is not believed";
}

TEST(ElectionAnswer, StandbySaysHowOldItsNewsIs) {
  scene s;
  EXPECT_EQ(s.db_json()["holder_known"], false) << "nothing was seen yet";
  EXPECT_EQ(s.db_json()["holder_age_ms"], nullptr);
  s.watch_shows({{.identity = "b", .version = version{9}}}, version{9});
  EXPECT_EQ(s.db_json()["holder_known"], true);
  s.advance(1500ms);
  EXPECT_EQ(s.db_json()["holder_age_ms"], 1500);
  s.store_says(core::contact::showed{});
  EXPECT_EQ(s.db_json()["holder_age_ms"], 0);
  s.db().watched = false;
  s.db().seen_at = s.at.now;
  s.advance(12s);
  const nlohmann::json db = s.db_json();
  EXPECT_EQ(db["holder"], "b") << "what was last seen";
  EXPECT_EQ(db["holder_known"], false);
  EXPECT_EQ(db["holder_age_ms"], 12'000);
}

TEST(ElectionAnswer, NobodyIsKnownToHoldOnlyIfTheStoreVouchesForIt) {
  scene s;
  s.watch_shows({}, version{9});
  EXPECT_EQ(s.db_json()["holder"], nullptr);
  EXPECT_EQ(s.db_json()["holder_known"], true);
  s.store_says(core::contact::failed{.asked_at = s.at.now, .why = "connection refused"});
  EXPECT_EQ(s.db_json()["holder"], nullptr);
  EXPECT_EQ(s.db_json()["holder_known"], false);
}

TEST(ElectionAnswer, OwnLeaseIsKnownWithoutTheStoreUntilStopAt) {
  scene s;
  s.hold(phase::active);
  s.store_says(core::contact::failed{.asked_at = s.at.now, .why = "connection refused"});
  EXPECT_EQ(s.db_json()["holder_known"], true);
  EXPECT_EQ(s.db_json()["holder_age_ms"], 0);
  s.advance(10s);
  EXPECT_EQ(s.db_json()["holder_known"], false);
  s.db().slots = 2;
  s.hold(phase::active);
  s.view().lease->stop_at += 20s;
  EXPECT_EQ(s.db_json()["holder_known"], false) << "our lease says nothing of the other slot";
}

TEST(ElectionAnswer, SaysHowTheStoreAnswers) {
  scene s;
  s.seen.contact = core::store_contact(15s);
  EXPECT_EQ(s.db_json()["store"],
            nlohmann::json::parse(R"({"kind":"etcd","reachable":false,"last_answer_ms":null,
                                      "why":"it has not answered yet"})"));
  s.store_says(core::contact::answered{});
  s.advance(2s);
  EXPECT_EQ(s.db_json()["store"], nlohmann::json::parse(R"({"kind":"etcd","reachable":true,
                                      "last_answer_ms":2000,"why":null})"));
  s.advance(8s);
  EXPECT_EQ(s.db_json()["store"], nlohmann::json::parse(R"({"kind":"etcd","reachable":false,
      "last_answer_ms":10000,"why":"it has not answered for more than 10s"})"));
  s.store_says(core::contact::failed{.asked_at = s.at.now, .why = "connection refused"});
  EXPECT_EQ(s.db_json()["store"]["why"], "connection refused");
}

TEST(ElectionAnswer, MembersThatNobodyVouchesForAreInAnUnknownState) {
  scene s;
  s.watch_shows({{.identity = "b", .version = version{9}}}, version{9});
  s.view().seen->members = members_named({"b", "c", "me"});
  const auto states = [&] {
    std::string out;
    for (const auto& m : s.db_json()["members"]) out += m["state"].get<std::string>() + " ";
    return out;
  };
  EXPECT_EQ(states(), "active standby standby ");
  s.db().watched = false;
  EXPECT_EQ(states(), "unknown unknown standby ");
}

/// "b unready 3 -" is the member b, which is not ready and of priority 3; "?" is not known.
std::string readiness_in(const nlohmann::json& members) {
  std::string out;
  for (const nlohmann::json& one : members) {
    const nlohmann::json& ready = one["ready"];
    out += one["identity"].get<std::string>();
    out += ready.is_null() ? " ?" : ready.get<bool>() ? " ready" : " unready";
    out += " " + std::to_string(one["priority"].get<int>());
    out +=
        " " + (one["ready_since"].is_null() ? "-" : one["ready_since"].get<std::string>()) + "; ";
  }
  return out;
}

TEST(ElectionAnswer, StandbysSayWhetherTheyAreReadyAndHoldersDoNot) {
  scene s;
  s.watch_shows({{.identity = "b", .version = version{9}}}, version{9});
  s.view().seen->members = std::vector<core::member>{
      {.identity = "b", .says = core::readiness{.since_unix_ms = start_unix_ms, .priority = 5}},
      {.identity = "c", .says = core::readiness{.since_unix_ms = start_unix_ms, .priority = -1}},
      {.identity = "d", .says = core::readiness{.priority = 7}},
      {.identity = "me", .says = core::readiness{.since_unix_ms = start_unix_ms + 1}},
      {.identity = "old"}};
  EXPECT_EQ(readiness_in(s.db_json()["members"]),
            "b ? 5 -; c ready -1 2026-01-31T12:00:00.000Z; d unready 7 -; "
            "me ready 0 2026-01-31T12:00:00.001Z; old ? 0 -; ");
  s.db().watched = false;
  EXPECT_EQ(readiness_in(s.db_json()["members"]),
            "b ? 5 -; c ? -1 -; d ? 7 -; me ready 0 2026-01-31T12:00:00.001Z; old ? 0 -; ")
      << "what they said may not be so any more";
}

TEST(ElectionAnswer, AHolderHasSaidThatItIsReadyBeforeItsTerm) {
  scene s;
  s.hold(phase::active);
  s.watch_shows({{.identity = "me", .version = version{7}, .ours = true}}, version{7});
  s.view().seen->members = std::vector<core::member>{
      {.identity = "me", .says = core::readiness{.since_unix_ms = start_unix_ms, .priority = 2}}};
  EXPECT_EQ(readiness_in(s.db_json()["members"]), "me ? 2 -; ");
  s.view().phase = phase::draining;
  s.view().last_loss = core::loss_reason::session_invalid;
  EXPECT_EQ(s.db_json()["holder"], nullptr);
  EXPECT_EQ(readiness_in(s.db_json()["members"]), "me ? 2 -; ") << "its workload still stops";
}

TEST(ElectionAnswer, NamesWhoComesNextWhileTheStoreSaysWhoHolds) {
  scene s;
  s.watch_shows({{.identity = "b", .version = version{9}}}, version{9});
  EXPECT_EQ(s.db_json()["next"], nullptr) << "nobody is ready";
  s.view().next = core::member{.identity = "c"};
  EXPECT_EQ(s.db_json()["next"], "c");
  s.db().watched = false;
  EXPECT_EQ(s.db_json()["holder"], "b") << "what was last seen";
  EXPECT_EQ(s.db_json()["next"], nullptr) << "others may have come since";
}

TEST(ElectionAnswer, AHolderNamesWhoComesNextWithoutTheStore) {
  scene s;
  s.hold(phase::active);
  s.view().next = core::member{.identity = "c"};
  s.store_says(core::contact::failed{.asked_at = s.at.now, .why = "connection refused"});
  EXPECT_EQ(s.db_json()["next"], "c");
  s.advance(10s);
  EXPECT_EQ(s.db_json()["next"], nullptr);
}

TEST(ElectionAnswer, StandbyNeverNamesItselfFromAWatchThatIsBehind) {
  scene s;
  s.watch_shows({{.identity = "me", .version = version{5}, .ours = true}}, version{5});
  EXPECT_EQ(s.db_json()["holder"], nullptr);
}

TEST(ElectionAnswer, VacantOrUnknownIsNull) {
  scene s;
  for (const bool watched : {false, true}) {
    if (watched) s.watch_shows({}, version{5});
    const auto db = s.db_json();
    EXPECT_EQ(db["holder"], nullptr);
    EXPECT_EQ(db["version"], nullptr);
    EXPECT_EQ(db["version_text"], nullptr);
    EXPECT_EQ(db["expires_in_ms"], nullptr);
    EXPECT_TRUE(db["holders"].is_array());
  }
}

TEST(ElectionAnswer, AllHoldersOfSeveralSlotsAreListedWithOurselvesAsTheHolder) {
  scene s;
  s.db().slots = 3;
  s.hold(phase::active);
  s.watch_shows({{.identity = "a", .version = version{4}},
                 {.identity = "me", .version = version{7}, .ours = true},
                 {.identity = "b", .version = version{9}}},
                version{9});
  const auto db = s.db_json();
  EXPECT_EQ(db["holder"], "me");
  ASSERT_EQ(db["holders"].size(), 3u);
  EXPECT_EQ(db["holders"][0]["identity"], "a");
  EXPECT_EQ(db["holders"][1]["identity"], "me");
  EXPECT_EQ(db["holders"][2]["version"], 9);
}

TEST(ElectionAnswer, VersionsAboveTwoToThe53AreExactInBothForms) {
  scene s;
  s.watch_shows({{.identity = "other", .version = version{18'446'744'073'709'551'615u}}},
                version{1});
  EXPECT_EQ(s.db_json()["version"], 18'446'744'073'709'551'615u);
  EXPECT_EQ(s.db_json()["version_text"], "18446744073709551615");
}

TEST(ElectionAnswer, WorkloadIsNullIfItIsNotOursToRun) {
  scene s;
  s.db().owns_workload = false;
  EXPECT_EQ(s.db_json()["workload_running"], nullptr);
}

TEST(ElectionAnswer, NameMayHaveASlashIfItIsEncoded) {
  scene s;
  s.add("team/db 1");
  EXPECT_EQ(s.json("/v1/elections/team%2Fdb%201")["election"], "team/db 1");
  EXPECT_EQ(s.ask("/v1/elections/team/db").status, 404u);
}

TEST(ElectionAnswer, UnknownNameSaysWhichThereAre) {
  scene s;
  s.add("cache");
  const http::response r = s.ask("/v1/elections/nope");
  EXPECT_EQ(r.status, 404u);
  const auto error = nlohmann::json::parse(r.body)["error"];
  EXPECT_EQ(error["code"], "unknown_election");
  EXPECT_THAT(std::string(error["message"]), HasSubstr("this agent has: db, cache"));
  EXPECT_FALSE(std::string(error["action"]).empty());
}

TEST(ElectionAnswer, ListOfNamesInAnErrorIsBounded) {
  scene s;
  for (int i = 0; i < 1000; ++i) s.add("election-" + std::to_string(i));
  const http::response r = s.ask("/v1/elections/nope");
  EXPECT_THAT(r.body, HasSubstr("and 993 more"));
  EXPECT_LT(r.body.size(), 1000u);
}

TEST(ElectionAnswer, ListHasEveryElection) {
  scene s;
  s.add("cache");
  const auto list = s.json("/v1/elections");
  ASSERT_EQ(list["elections"].size(), 2u);
  EXPECT_EQ(list["elections"][1]["election"], "cache");
  EXPECT_EQ(s.json("/v1/elections/")["elections"].size(), 2u) << "a slash at the end is harmless";
}

TEST(ElectionAnswer, AnswersAreNeverCached) {
  const scene s;
  for (const char* target : {"/", "/v1/elections", "/v1/elections/nope", "/nothing"}) {
    const http::response r = s.ask(target);
    ASSERT_FALSE(r.headers.empty()) << target;
    EXPECT_EQ(r.headers[0].name, "Cache-Control");
    EXPECT_EQ(r.headers[0].value, "no-store");
  }
}

TEST(ElectionAnswer, HeadIsAnsweredLikeGet) {
  const scene s;
  http::request asked = scene::get("/v1/elections");
  asked.method = "HEAD";
  EXPECT_EQ(s.ask(asked).body, s.ask("/v1/elections").body);
}

TEST(ElectionAnswer, OtherMethodsAreToldWhichWork) {
  const scene s;
  for (const char* method : {"POST", "DELETE", "BREW"}) {
    http::request asked = scene::get("/v1/elections/db");
    asked.method = method;
    const http::response r = s.ask(asked);
    EXPECT_EQ(r.status, 405u) << method;
    EXPECT_EQ(r.headers.back().name, "Allow");
    EXPECT_EQ(r.headers.back().value, "GET, HEAD");
  }
}

TEST(ElectionAnswer, UnknownPathSaysWhereToBegin) {
  const scene s;
  const http::response r = s.ask("/metricz");
  EXPECT_EQ(r.status, 404u);
  EXPECT_THAT(r.body, HasSubstr("/v1/elections"));
}

TEST(ElectionAnswer, SaysWhyAStandbyDoesNotCampaign) {
  scene s;
  EXPECT_EQ(s.db_json()["not_campaigning"], nullptr);
  s.view().held_back = {.why = core::campaign_obstacle::paused};
  EXPECT_EQ(s.db_json()["not_campaigning"]["reason"], "paused");
  s.view().held_back = {.why = core::campaign_obstacle::resigned, .until = s.at.now + 2500ms};
  EXPECT_EQ(s.db_json()["not_campaigning"]["text"],
            "it was told to resign; it campaigns again in 3s");
  s.advance(2500ms);
  EXPECT_EQ(s.db_json()["not_campaigning"], nullptr) << "over by time alone";
  s.view().held_back = {.why = core::campaign_obstacle::unhealthy};
  s.seen.health = api::health_report{.state = core::health::unhealthy, .reason = "GET failed"};
  EXPECT_EQ(s.db_json()["not_campaigning"]["text"], "its workload is unhealthy: GET failed");
  s.view().held_back = {.why = core::campaign_obstacle::heir_first, .until = s.at.now + 1s};
  s.watch_shows({}, version{9});
  s.view().seen->last_release =
      core::release_record{.version = version{8}, .holder = "a", .heir = "b"};
  EXPECT_EQ(s.db_json()["not_campaigning"]["text"],
            "it lets b come first, as the last holder has asked");
}

TEST(ElectionAnswer, StandbyThatWasGrantedAnOldVersionSaysHowFarBackAndBothWaysOut) {
  scene s;
  s.view().held_back = {.why = core::campaign_obstacle::old_version};
  s.view().regressed = core::regression{.granted = version{5}, .seen = version{12}};
  const nlohmann::json why = s.db_json()["not_campaigning"];
  EXPECT_EQ(why["reason"], "old_version");
  EXPECT_THAT(why["text"].get<std::string>(),
              AllOf(HasSubstr("granted version 5 after version 12 was seen, 7 versions back"),
                    HasSubstr("; restore it again with larger ones (etcdutl snapshot restore FILE "
                              "--data-dir DIR --bump-revision 1000000000 --mark-compacted), or, "),
                    HasSubstr("tenure set db --accept-versions")));
}

TEST(ElectionAnswer, StandbyThatWasGrantedAVersionTwiceSaysThat) {
  scene s;
  s.view().held_back = {.why = core::campaign_obstacle::old_version};
  s.view().regressed = core::regression{.granted = version{12}, .seen = version{12}};
  EXPECT_THAT(s.db_json()["not_campaigning"]["text"].get<std::string>(),
              HasSubstr("granted version 12 a second time, as after a restore; "));
}

TEST(ElectionAnswer, WaysOutOfAnOldVersionAreThoseOfTheStore) {
  scene s;
  s.view().held_back = {.why = core::campaign_obstacle::old_version};
  s.view().regressed = core::regression{.granted = version{5}, .seen = version{12}};
  const auto text = [&s](const char* store) {
    s.seen.store = store;
    return s.db_json()["not_campaigning"]["text"].get<std::string>();
  };
  const std::string accept =
      "if all that checks versions may see smaller ones, say: tenure set db --accept-versions";
  EXPECT_THAT(text("kubernetes"),
              AllOf(HasSubstr("; restore the cluster's etcd again with larger revisions (etcdutl "
                              "snapshot restore FILE"),
                    EndsWith(accept)));
  EXPECT_THAT(
      text("consul"),
      AllOf(HasSubstr("; wait until Consul's index, which grows with each write, is larger, or, "),
            EndsWith(accept), Not(HasSubstr("etcdutl"))));
  // Which refuses `--accept-versions`.
  EXPECT_THAT(text("sqlite"), AllOf(EndsWith("; end all members and raise the version in the file "
                                             "(docs/operations.md)"),
                                    Not(HasSubstr("accept-versions"))));
}

TEST(ElectionAnswer, MembersThatHaveVanishedAreKeptApart) {
  scene s;
  EXPECT_EQ(s.db_json()["gone"], nlohmann::json::array());
  s.db().gone = std::make_shared<const api::gone_list>(
      api::gone_list{{.identity = "b", .last_seen_unix_ms = start_unix_ms}});
  EXPECT_EQ(s.db_json()["gone"],
            nlohmann::json::parse(R"([{"identity":"b","last_seen":"2026-01-31T12:00:00.000Z"}])"));
}

/// The very revision of our grant is one at which we should be shown.
TEST(ElectionAnswer, DrainOfATermThatIsMissingWhereItBeganDoesNotClaimTheLease) {
  scene s;
  s.hold(core::phase::draining);
  s.view().last_loss = core::loss_reason::shutdown;
  s.watch_shows({}, core::version{6});
  EXPECT_EQ(s.db_json()["holder"], "me") << "from before our grant";
  s.watch_shows({}, core::version{7});
  EXPECT_EQ(s.db_json()["holder"], nullptr);
}

}  // namespace
}  // namespace tenure::tests
