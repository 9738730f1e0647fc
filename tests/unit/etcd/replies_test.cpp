// What real servers of the oldest and the newest release answered is read as what it says.
#include <gmock/gmock.h>

#include "stores/etcd/codec.hpp"
#include "unit/etcd/captured.hpp"

namespace tenure::stores::etcd {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

class EtcdReplies : public ::testing::TestWithParam<const char*> {
 protected:
  static std::string body(const std::string& name) { return captured(GetParam(), name); }
  static std::vector<std::string> documents(const std::string& name) {
    return captured_documents(GetParam(), name);
  }
};

INSTANTIATE_TEST_SUITE_P(Captured, EtcdReplies, ::testing::ValuesIn(captured_releases),
                         [](const auto& info) {
                           return std::string("Release") + info.param[0] + info.param[2];
                         });

const key_value* only_value(const transaction_reply& reply) {
  if (reply.parts.size() != 1) return nullptr;
  const auto* const read = std::get_if<range_reply>(&reply.parts.front());
  return read == nullptr || read->values.size() != 1 ? nullptr : &read->values.front();
}

TEST_P(EtcdReplies, AGrantSaysWhichLeaseAndForHowLong) {
  const auto reply = parse_grant(body("grant"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_EQ(reply->id, 7777);
  EXPECT_EQ(reply->ttl_seconds, 60);
  EXPECT_NE(reply->header.cluster_id, 0U);
  EXPECT_EQ(reply->header.revision, 1U);
  EXPECT_GE(reply->header.raft_term, 1U);
}

TEST_P(EtcdReplies, AKeepAliveSaysForHowLong) {
  const auto reply = parse_keep_alive(body("keep_alive"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_EQ(reply->id, 7777);
  EXPECT_EQ(reply->ttl_seconds, 60);
}

TEST_P(EtcdReplies, AKeepAliveWithoutTtlMeansTheLeaseIsGone) {
  const auto reply = parse_keep_alive(body("keep_alive_gone"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_EQ(reply->id, 9999);
  EXPECT_EQ(reply->ttl_seconds, 0);
}

TEST_P(EtcdReplies, SeveralKeepAlivesInOneBodyAreAnsweredInOrder) {
  const auto all = documents("keep_alive_several");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(parse_keep_alive(all[0])->ttl_seconds, 60);
  EXPECT_EQ(parse_keep_alive(all[1])->ttl_seconds, 0);
}

TEST_P(EtcdReplies, ARevokeIsAcknowledged) {
  const auto reply = parse_revoke(body("revoke"));
  EXPECT_TRUE(reply) << reply.error().why;
}

TEST_P(EtcdReplies, ATransactionWhoseConditionsHoldHasWritten) {
  const auto reply = parse_transaction(body("txn_put"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_TRUE(reply->succeeded);
  EXPECT_EQ(reply->header.revision, 2U);
  ASSERT_THAT(reply->parts, SizeIs(1));
  EXPECT_TRUE(std::holds_alternative<put_done>(reply->parts[0]));
}

TEST_P(EtcdReplies, ARefusedTransactionShowsWhoHasTheKey) {
  const auto reply = parse_transaction(body("txn_refused"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_FALSE(reply->succeeded);
  const key_value* const holder = only_value(*reply);
  ASSERT_NE(holder, nullptr);
  EXPECT_EQ(holder->key, "election/1e61");
  EXPECT_EQ(holder->value, "pod-a");
  EXPECT_EQ(holder->create_revision, 2U);
  EXPECT_EQ(holder->mod_revision, 2U);
  EXPECT_EQ(holder->lease, 7777);
}

TEST_P(EtcdReplies, AReadInATransactionHasTheHeaderOfTheTransaction) {
  const auto reply = parse_transaction(body("txn_get"));
  ASSERT_TRUE(reply) << reply.error().why;
  ASSERT_THAT(reply->parts, SizeIs(2));
  const auto& first = std::get<range_reply>(reply->parts[1]);
  EXPECT_EQ(first.header.revision, reply->header.revision);
  EXPECT_EQ(first.header.cluster_id, reply->header.cluster_id);
  EXPECT_TRUE(first.more);
  ASSERT_THAT(first.values, SizeIs(1));
  EXPECT_EQ(first.values[0].key, "election/1e61");
}

TEST_P(EtcdReplies, AnEraseSaysWhetherThereWasAKey) {
  const auto one = parse_transaction(body("txn_erase"));
  const auto none = parse_transaction(body("txn_erase_nothing"));
  ASSERT_TRUE(one && none);
  EXPECT_EQ(std::get<erase_done>(one->parts.at(0)).count, 1);
  EXPECT_EQ(std::get<erase_done>(none->parts.at(0)).count, 0);
}

TEST_P(EtcdReplies, ARangeHasItsKeysInOrder) {
  const auto reply = parse_range(body("range"));
  ASSERT_TRUE(reply) << reply.error().why;
  ASSERT_THAT(reply->values, SizeIs(2));
  EXPECT_EQ(reply->values[0].create_revision, 2U);
  EXPECT_EQ(reply->values[1].create_revision, 3U);
  EXPECT_FALSE(reply->more);
}

TEST_P(EtcdReplies, ARangeSaysThatTheLimitCutIt) {
  const auto reply = parse_range(body("range_more"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_THAT(reply->values, SizeIs(1));
  EXPECT_TRUE(reply->more);
}

TEST_P(EtcdReplies, ARangeOverNothingIsEmpty) {
  const auto reply = parse_range(body("range_empty"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_THAT(reply->values, IsEmpty());
}

TEST_P(EtcdReplies, EveryCreateOfOneBodyIsAnsweredUnderItsId) {
  const auto all = documents("watch_created");
  ASSERT_THAT(all, SizeIs(2));
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto reply = parse_watch(all[i]);
    ASSERT_TRUE(reply) << reply.error().why;
    EXPECT_TRUE(reply->created);
    EXPECT_FALSE(reply->canceled);
    EXPECT_EQ(reply->watch_id, static_cast<std::int64_t>(i + 1));
  }
}

TEST_P(EtcdReplies, AWatchTellsPutAndDeletionApart) {
  const auto all = documents("watch_events");
  ASSERT_THAT(all, SizeIs(2));
  const auto reply = parse_watch(all[1]);
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_EQ(reply->watch_id, 2);
  ASSERT_THAT(reply->events, SizeIs(2));
  EXPECT_FALSE(reply->events[0].erased);
  EXPECT_EQ(reply->events[0].kv.value, "pod-a");
  EXPECT_EQ(reply->events[0].kv.lease, 7777);
  EXPECT_TRUE(reply->events[1].erased);
  EXPECT_EQ(reply->events[1].kv.key, "election/1e62");
  EXPECT_EQ(reply->events[1].kv.mod_revision, 4U);
  EXPECT_EQ(reply->events[1].kv.create_revision, 0U);
}

TEST_P(EtcdReplies, ProgressHasARevisionAndNothingElse) {
  std::size_t seen = 0;
  for (const std::string& document : documents("watch_progress")) {
    const auto reply = parse_watch(document);
    ASSERT_TRUE(reply) << reply.error().why;
    if (reply->created) continue;
    ++seen;
    EXPECT_EQ(reply->watch_id, -1);
    EXPECT_EQ(reply->header.revision, 4U);
    EXPECT_THAT(reply->events, IsEmpty());
  }
  EXPECT_EQ(seen, 1U);
}

TEST_P(EtcdReplies, AWatchFromACompactedRevisionIsCanceledAfterItsCreation) {
  const auto all = documents("watch_compacted");
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_TRUE(parse_watch(all[0])->created);
  const auto reply = parse_watch(all[1]);
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_TRUE(reply->canceled);
  EXPECT_EQ(reply->watch_id, 1);
  EXPECT_EQ(reply->compact_revision, 3U);
  EXPECT_EQ(reply->header.revision, 0U);
}

TEST_P(EtcdReplies, ACreateThatFailsIsCanceledUnderNoId) {
  for (const char* name :
       {"watch_duplicate", "watch_denied", "watch_no_token", "watch_bad_token"}) {
    const auto reply = parse_watch(documents(name).back());
    ASSERT_TRUE(reply) << name << ": " << reply.error().why;
    EXPECT_TRUE(reply->created && reply->canceled) << name;
    EXPECT_EQ(reply->watch_id, -1) << name;
    EXPECT_NE(reply->cancel_reason, "") << name;
  }
}

TEST_P(EtcdReplies, AuthenticationGivesAToken) {
  const auto reply = parse_authenticate(body("authenticate"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_THAT(reply->token, ::testing::SizeIs(::testing::Ge(8U)));
}

TEST_P(EtcdReplies, TheVersionIsThatOfServerAndCluster) {
  const auto reply = parse_version(body("version"));
  ASSERT_TRUE(reply) << reply.error().why;
  EXPECT_EQ(reply->server.substr(0, 4), std::string(GetParam()) + ".");
  EXPECT_EQ(reply->cluster, std::string(GetParam()) + ".0");
}

TEST(EtcdErrors, OnlyErrorsAreReadAsErrors) {
  for (const auto& [name, body] : all_captured()) {
    const bool is_error = name.find("/error_") != std::string::npos;
    const bool is_json = body.starts_with('{');
    if (is_error && is_json) {
      EXPECT_TRUE(parse_error(body)) << name;
      EXPECT_FALSE(parse_transaction(body)) << name;
    }
    if (!is_error && name != "3.7/keep_alive_bad_token") EXPECT_FALSE(parse_error(body)) << name;
  }
}

TEST_P(EtcdReplies, BothSpellingsOfProtoAreRead) {
  std::string camel = body("txn_refused");
  for (const auto& [snake, other] : {std::pair<std::string, std::string>{"cluster_id", "clusterId"},
                                     {"member_id", "memberId"},
                                     {"raft_term", "raftTerm"},
                                     {"response_range", "responseRange"},
                                     {"create_revision", "createRevision"},
                                     {"mod_revision", "modRevision"}}) {
    const auto at = camel.find(snake);
    ASSERT_NE(at, std::string::npos) << snake;
    camel.replace(at, snake.size(), other);
  }
  const auto reply = parse_transaction(camel);
  ASSERT_TRUE(reply) << reply.error().why;
  ASSERT_NE(only_value(*reply), nullptr);
  EXPECT_EQ(only_value(*reply)->create_revision, 2U);
}

}  // namespace
}  // namespace tenure::stores::etcd
