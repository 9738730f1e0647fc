#include <gmock/gmock.h>

#include <array>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "stores/consul/codec.hpp"
#include "stores/consul/reply_error.hpp"

/// The good ones are captured from Consul 1.8.7, without its blanks.
namespace tenure::stores::consul {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::Field;
using testing::HasSubstr;
using testing::IsEmpty;

const std::string id = "b3f59319-c29a-1858-5241-5d9b5415b25b";
const std::string held = R"({"LockIndex":1,"Key":"a/.lock","Flags":3304740253564472344,)"
                         R"("Value":"aGk=","Session":")" +
                         id + R"(","CreateIndex":14,"ModifyIndex":15})";
const std::string free_key = R"({"LockIndex":0,"Key":"a/x","Flags":0,"Value":null,)"
                             R"("CreateIndex":16,"ModifyIndex":16})";

std::string why(const auto& reply) {
  return reply ? "it was accepted" : reply.error().why;
}

/// `text` with the first `what` replaced.
std::string with(std::string text, const std::string& what, const std::string& other) {
  const auto at = text.find(what);
  EXPECT_NE(at, std::string::npos) << what;
  return text.replace(at, what.size(), other);
}

TEST(ConsulReply, ASessionHasItsId) {
  EXPECT_EQ(parse_session(R"({"ID":")" + id + R"("})").value_or(""), id);
  for (const char* bad : {"", "[]", "{}", R"({"ID":""})", R"({"ID":"../../v1/kv/a"})",
                          R"({"ID":"B3F59319-C29A-1858-5241-5D9B5415B25B"})", R"({"ID":7})",
                          R"({"ID":"b3f59319-c29a-1858-5241-5d9b5415b25b","ID":"x"})"}) {
    EXPECT_FALSE(parse_session(bad)) << bad;
  }
}

TEST(ConsulReply, ARenewalSaysForHowLong) {
  const std::string body = R"([{"ID":")" + id +
                           R"(","Name":"t","Node":"vm","LockDelay":0,"Behavior":"release",)"
                           R"("TTL":"15000ms","NodeChecks":[],"ServiceChecks":null,)"
                           R"("CreateIndex":13,"ModifyIndex":13}])";
  const auto ttl_in = [&](const std::string& text) { return parse_renewal(text, id).value(); };
  EXPECT_EQ(ttl_in(body), 15s);
  EXPECT_EQ(ttl_in(with(body, "15000ms", "1m30s")), 90s);
  EXPECT_EQ(ttl_in(with(body, "15000ms", "")), std::nullopt) << "it ends by checks alone";
  EXPECT_THAT(why(parse_renewal(body, "another")), HasSubstr("ID is that of another session"));
  for (const char* ttl : {"0s", "-1s", "15", "25h", "soon"}) {
    EXPECT_THAT(why(parse_renewal(with(body, "15000ms", ttl), id)), HasSubstr("TTL")) << ttl;
  }
  EXPECT_FALSE(parse_renewal("[]", id));
  EXPECT_FALSE(parse_renewal("[" + body.substr(1, body.size() - 2) + "," + body.substr(1), id));
  EXPECT_FALSE(parse_renewal(body.substr(1, body.size() - 2), id)) << "not a list";
}

TEST(ConsulReply, KeysAreReadWhole) {
  const auto keys = parse_keys("[" + held + "," + free_key + "]");
  ASSERT_TRUE(keys) << why(keys);
  EXPECT_THAT(*keys, ElementsAre(key_value{.key = "a/.lock",
                                           .value = "hi",
                                           .flags = 3304740253564472344,
                                           .lock_index = 1,
                                           .create_index = 14,
                                           .modify_index = 15,
                                           .session = id},
                                 key_value{.key = "a/x", .create_index = 16, .modify_index = 16}));
}

TEST(ConsulReply, AKeyThatContradictsItselfIsRefused) {
  for (const auto& [what, other, said] :
       {std::array{R"("Key":"a/.lock")", R"("Key":"")", "Key is empty"},
        std::array{R"("Value":"aGk=")", R"("Value":"aGk")", "Value is not base64"},
        std::array{R"("CreateIndex":14)", R"("CreateIndex":0)", "CreateIndex is missing"},
        std::array{R"("ModifyIndex":15)", R"("ModifyIndex":13)", "before the creation"},
        std::array{R"("ModifyIndex":15)", R"("ModifyIndex":-1)", "not a number of its kind"},
        std::array{R"("ModifyIndex":15)", R"("ModifyIndex":1.5)", "not a number of its kind"},
        std::array{R"("Session":")", R"("Session":"z)", "Session is not an id"},
        std::array{R"("Flags":3)", R"("Flags":"x)", "not JSON"}}) {
    EXPECT_THAT(why(parse_keys("[" + with(held, what, other) + "]")), HasSubstr(said)) << other;
  }
}

TEST(ConsulReply, AListOfKeysHasEachOnceAndInOrder) {
  EXPECT_THAT(why(parse_keys("[]")), HasSubstr("empty"));
  EXPECT_THAT(why(parse_keys("[" + held + "," + held + "]")), HasSubstr("twice"));
  EXPECT_THAT(why(parse_keys("[" + free_key + "," + held + "]")), HasSubstr("not in order"));
  EXPECT_FALSE(parse_keys(held)) << "not a list";
  EXPECT_FALSE(parse_keys("null"));
  EXPECT_FALSE(parse_keys("[" + held + "]" + '\0' + "garbage")) << "the parser stops at the NUL";
}

TEST(ConsulReply, ATransactionShowsWhatItHasWritten) {
  const std::string body = R"({"Results":[{"KV":)" + held + R"(}],"Errors":null})";
  const auto done = parse_transaction(200, body);
  ASSERT_TRUE(done) << why(done);
  EXPECT_THAT(done->shown, ElementsAre(Field(&key_value::modify_index, 15U)));
  EXPECT_THAT(done->failed, IsEmpty());
  EXPECT_THAT(why(parse_transaction(409, body)), HasSubstr("contradict the status"));
  EXPECT_FALSE(parse_transaction(200, R"({"Results":[{"Node":{}}],"Errors":null})"));
}

TEST(ConsulReply, AnOperationThatTheTokenMayNotDoIsARefusalAndNoConflict) {
  const auto refusal = [](const std::string& what) {
    return read_refusal(std::vector<failed_operation>{
        {.which = 0, .what = "failed to lock key \"a\", lock is already held"},
        {.which = 1, .what = what}});
  };
  for (const char* said : {"Permission denied",
                           "Permission denied: token with AccessorID 'x' lacks "
                           "permission 'key:write' on \"a\""}) {
    const auto found = refusal(said);
    ASSERT_TRUE(found) << said;
    EXPECT_EQ(found->meaning, error_meaning::denied);
    EXPECT_THAT(text(*found), testing::AllOf(HasSubstr(said), HasSubstr("give the agent a token")));
  }
  EXPECT_FALSE(refusal("key \"Permission denied\" exists")) << "a name";
  EXPECT_FALSE(read_refusal({}));
}

TEST(ConsulReply, ATransactionShowsEachKeyAsTheRequestLeavesIt) {
  const key_value mine{.key = "a", .modify_index = 7, .session = id};
  const key_value nobodys{.key = "a", .modify_index = 7};
  const auto contradicts = [](const std::vector<operation>& asked,
                              const std::vector<key_value>& shown) {
    return contradiction(asked, {.shown = shown, .failed = {}});
  };
  const struct {
    operation asked;
    key_value good;
    key_value bad;
  } all[] = {{check_session{.key = "a", .session = id}, mine, nobodys},
             {check_index{.key = "a", .index = 7}, mine, {.key = "a", .modify_index = 8}},
             {lock{.key = "a", .value = "", .session = id}, mine, nobodys},
             {unlock{.key = "a", .value = "", .session = id}, nobodys, mine},
             {write{.key = "a", .value = ""}, mine, {.key = "b", .modify_index = 7}},
             {fetch{"a"}, nobodys, {.key = "b", .modify_index = 7}}};
  for (const auto& one : all) {
    EXPECT_EQ(contradicts({one.asked}, {one.good}), "");
    EXPECT_THAT(contradicts({one.asked}, {one.bad}), HasSubstr("a is not shown as"));
    EXPECT_THAT(contradicts({one.asked}, {}), HasSubstr("a is not shown"));
    EXPECT_THAT(contradicts({one.asked}, {one.good, one.good}), HasSubstr("more keys"));
    key_value other = one.good;
    other.key = "A";
    EXPECT_NE(contradicts({one.asked}, {other}), "");
  }
  const std::vector<operation> silent{check_absent{"a"}, erase{.key = "a"}};
  EXPECT_EQ(contradicts(silent, {}), "");
  EXPECT_NE(contradicts(silent, {mine}), "");
}

TEST(ConsulReply, OnlyAnOperationOfTheRequestCanHaveFailed) {
  const auto failed = [](std::size_t which) {
    return contradiction(std::vector<operation>{check_absent{"a"}},
                         {.shown = {}, .failed = {{.which = which, .what = "so"}}});
  };
  EXPECT_EQ(failed(0), "");
  EXPECT_NE(failed(1), "");
}

TEST(ConsulReply, AFailedTransactionSaysWhichOperationAndWhy) {
  const std::string body =
      R"({"Results":null,"Errors":[{"OpIndex":2,"What":"key \"a/.lock\" exists"}],"Index":0,)"
      R"("LastContact":0,"KnownLeader":true,"ConsistencyLevel":""})";
  const auto refused = parse_transaction(409, body);
  ASSERT_TRUE(refused) << why(refused);
  ASSERT_EQ(refused->failed.size(), 1U);
  EXPECT_EQ(refused->failed[0].which, 2U);
  EXPECT_EQ(refused->failed[0].what, R"(key "a/.lock" exists)");
  EXPECT_THAT(why(parse_transaction(200, body)), HasSubstr("contradict the status"));
  EXPECT_FALSE(parse_transaction(409, with(body, ":2", ":64"))) << "there are no more than 64";
  EXPECT_FALSE(parse_transaction(409, with(body, ":2", ":-1")));
  EXPECT_FALSE(parse_transaction(
      409, with(body, R"("Results":null)", R"("Results":[{"KV":)" + held + "}]")));
}

TEST(ConsulReply, WhyAnOperationFailedIsReadFromItsWords) {
  const auto meaning = [](const std::string& said) {
    const auto reply = parse_transaction(
        409, nlohmann::json{{"Results", nullptr}, {"Errors", {{{"OpIndex", 0}, {"What", said}}}}}
                 .dump());
    return reply.value().failed.at(0).why;
  };
  EXPECT_EQ(meaning(R"(failed to lock key "a", lock is already held)"), failure::held);
  EXPECT_EQ(meaning(R"(failed to lock key "a" due to lock delay)"), failure::delayed);
  EXPECT_EQ(meaning("invalid session \"" + id + "\""), failure::no_session);
  for (const char* said :
       {R"(failed to unlock key "a", lock isn't held, or is held by another session)",
        R"(failed session check for key "a", current session "x" != "y")",
        R"(failed to check session, key "a" doesn't exist)",
        R"(failed index check for key "a", current modify index 15 != 3)",
        R"(failed to check index, key "a" doesn't exist)",
        R"(failed to set key "a", index is stale)", R"(failed to delete key "a", index is stale)",
        R"(key "a" exists)"}) {
    EXPECT_EQ(meaning(said), failure::changed) << said;
  }
  for (const char* said : {"No cluster leader", "failed to lock key", "lock is already held",
                           "Permission denied: invalid session"}) {
    EXPECT_EQ(meaning(said), failure::other) << said;
  }
}

TEST(ConsulReply, AnAgentTellsItsVersion) {
  const auto self = parse_agent(R"({"Config":{"Datacenter":"dc1","Version":"1.8.7"},"Member":{}})");
  ASSERT_TRUE(self) << why(self);
  EXPECT_EQ(self->version, "1.8.7");
  EXPECT_EQ(self->datacenter, "dc1");
  EXPECT_FALSE(parse_agent(R"({"Config":{"Datacenter":"dc1"}})"));
  EXPECT_FALSE(parse_agent(R"({"Config":{"Version":"1\u001b[2J"}})"));
  EXPECT_FALSE(parse_agent("{}"));
}

TEST(ConsulReply, PartitionsExistSince111) {
  for (const char* version : {"1.11.0", "1.21.0", "1.21.0+ent", "2.0.0", "1.100.1"}) {
    EXPECT_TRUE(has_partitions(version)) << version;
  }
  for (const char* version : {"1.8.7", "1.10.12", "0.11.0", "1", "", "x.11.0", "1.x"}) {
    EXPECT_FALSE(has_partitions(version)) << version;
  }
}

TEST(ConsulReply, AnErrorRepeatsOnlyTheBeginningOfABody) {
  const std::string said = why(parse_keys("\x1b[2J" + std::string(5000, 'x')));
  EXPECT_LT(said.size(), 200U);
  EXPECT_THAT(said, testing::Not(HasSubstr("\x1b")));
}

}  // namespace
}  // namespace tenure::stores::consul
