// Requests are written in the form that every release reads: 64 bits as strings, bytes as base64.
#include <gtest/gtest.h>

#include "stores/etcd/codec.hpp"

namespace tenure::stores::etcd {
namespace {

TEST(EtcdRequests, LeasesAreNamedByStrings) {
  EXPECT_EQ(grant_request(15, 9223372036854775807), R"({"TTL":"15","ID":"9223372036854775807"})");
  EXPECT_EQ(keep_alive_request(7777), "{\"ID\":\"7777\"}\n");
  EXPECT_EQ(revoke_request(7777), R"({"ID":"7777"})");
}

TEST(EtcdRequestsDeath, ALeaseOfOursHasATtlAndAnId) {
  EXPECT_DEATH(grant_request(0, 1), "check failed");
  EXPECT_DEATH(grant_request(1, 0), "check failed");
}

TEST(EtcdRequests, AnAcquireWritesUnderTheLeaseOrReadsWhoIsThere) {
  const transaction acquire{.when = {{.key = "e/1", .number = 0, .value = {}}},
                            .then = {put{.key = "e/1", .value = "me", .lease = 7777}},
                            .otherwise = {range{.key = "e/1", .end = {}}}};
  EXPECT_EQ(
      transaction_request(acquire),
      R"({"compare":[{"key":"ZS8x","result":"EQUAL","target":"CREATE","create_revision":"0"}],)"
      R"("success":[{"request_put":{"key":"ZS8x","value":"bWU=","lease":"7777"}}],)"
      R"("failure":[{"request_range":{"key":"ZS8x"}}]})");
}

TEST(EtcdRequests, EachConditionNamesItsFieldAndRelation) {
  using enum compare::field;
  using enum compare::relation;
  const transaction all{
      .when = {{.key = "k", .what = mod_revision, .is = less, .number = 9, .value = {}},
               {.key = "k", .what = lease, .is = greater, .number = 8, .value = {}},
               {.key = "k", .what = value, .is = not_equal, .value = "v"}},
      .then = {erase{"k"}},
      .otherwise = {}};
  EXPECT_EQ(transaction_request(all),
            R"({"compare":[{"key":"aw==","result":"LESS","target":"MOD","mod_revision":"9"},)"
            R"({"key":"aw==","result":"GREATER","target":"LEASE","lease":"8"},)"
            R"({"key":"aw==","result":"NOT_EQUAL","target":"VALUE","value":"dg=="}],)"
            R"("success":[{"request_delete_range":{"key":"aw=="}}],"failure":[]})");
}

TEST(EtcdRequests, AConditionMayHoldForEveryKeyOfARange) {
  const transaction nobody{
      .when = {{.key = "e/", .end = prefix_end("e/")}}, .then = {}, .otherwise = {}};
  EXPECT_EQ(transaction_request(nobody),
            R"({"compare":[{"key":"ZS8=","result":"EQUAL","range_end":"ZTA=","target":"CREATE",)"
            R"("create_revision":"0"}],"success":[],"failure":[]})");
}

TEST(EtcdRequests, ARangeSaysOnlyWhatDiffersFromTheDefault) {
  EXPECT_EQ(range_request({.key = "k", .end = {}}), R"({"key":"aw=="})");
  EXPECT_EQ(range_request({.key = "k",
                           .end = "l",
                           .limit = 2,
                           .by = range::order::create_ascend,
                           .serializable = true}),
            R"({"key":"aw==","range_end":"bA==","limit":"2","sort_target":"CREATE",)"
            R"("sort_order":"ASCEND","serializable":true})");
}

TEST(EtcdRequests, WatchesMakeOneBodyLineByLine) {
  EXPECT_EQ(watch_request("k", "", 0, 1) + watch_request("k", "l", 5, 2),
            "{\"create_request\":{\"key\":\"aw==\",\"progress_notify\":true,\"watch_id\":\"1\"}}\n"
            "{\"create_request\":{\"key\":\"aw==\",\"range_end\":\"bA==\",\"start_revision\":\"5\","
            "\"progress_notify\":true,\"watch_id\":\"2\"}}\n");
}

TEST(EtcdRequests, APasswordMayHaveAnyCharacter) {
  EXPECT_EQ(authenticate_request("u\"", "p\\\n\xc3\xa9"),
            "{\"name\":\"u\\\"\",\"password\":\"p\\\\\\n\xc3\xa9\"}");
  EXPECT_EQ(authenticate_request("u", "\xff"), "{\"name\":\"u\",\"password\":\"\xef\xbf\xbd\"}");
}

TEST(EtcdRequests, APrefixEndsBeforeTheNextKey) {
  EXPECT_EQ(prefix_end("election/"), "election0");
  EXPECT_EQ(prefix_end("a\xff"), "b");
  EXPECT_EQ(prefix_end("a\x7f"), "a\x80");
  EXPECT_EQ(prefix_end("\xff\xff"), std::string(1, '\0'));
  EXPECT_EQ(prefix_end(""), std::string(1, '\0'));
}

}  // namespace
}  // namespace tenure::stores::etcd
