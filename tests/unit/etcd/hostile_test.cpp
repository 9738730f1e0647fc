// Replies that no etcd would give: malformed, never believed, never the end of the process.
#include <gmock/gmock.h>

#include <algorithm>

#include "base/printable_text.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/gateway_error.hpp"
#include "unit/etcd/captured.hpp"

namespace tenure::stores::etcd {
namespace {

using namespace std::string_literals;

const std::string header =
    R"("header":{"cluster_id":"1","member_id":"2","revision":"10","raft_term":"3"})";

/// A reply with this after its header.
std::string with(const std::string& rest) {
  return "{" + header + (rest.empty() ? "" : "," + rest) + "}";
}

std::string with_kv(const std::string& kv) {
  return with(R"("kvs":[{)" + kv + R"(}],"count":"1")");
}

/// How many of the parsers accept it.
int accepted(const std::string& body) {
  return int{parse_grant(body).has_value()} + int{parse_keep_alive(body).has_value()} +
         int{parse_revoke(body).has_value()} + int{parse_range(body).has_value()} +
         int{parse_transaction(body).has_value()} + int{parse_watch(body).has_value()} +
         int{parse_authenticate(body).has_value()} + int{parse_version(body).has_value()};
}

TEST(EtcdHostile, AReplyCutAnywhereIsRefused) {
  for (const auto& [name, body] : all_captured()) {
    const std::size_t last = body.find_last_not_of("\r\n");
    for (std::size_t size = 0; size < last; ++size) {
      const std::string cut = body.substr(0, size);
      // A stream of several documents has whole ones in it.
      if (std::ranges::count(cut, '\n') > 0) break;
      if (size > 0 && cut.ends_with("}}") && body[size] == '\n') continue;
      EXPECT_EQ(accepted(cut), 0) << name << " cut at " << size;
      EXPECT_NE(read_error(404, cut).meaning, error_meaning::lease_gone) << name;
    }
  }
}

TEST(EtcdHostile, AnyByteMayBeWrong) {
  // Each in turn: the replies are alike, so each of their fields meets each of these.
  const std::string wrong = "\0\xff\"}9"s;
  std::size_t turn = 0;
  for (const auto& [name, body] : all_captured()) {
    for (std::size_t at = 0; at < body.size(); ++at) {
      std::string changed = body;
      changed[at] = wrong[++turn % wrong.size()];
      accepted(changed);
      if (!name.ends_with("_gone") && !name.ends_with("lease_not_found")) {
        EXPECT_NE(read_error(404, changed).meaning, error_meaning::lease_gone) << name;
      }
    }
  }
}

TEST(EtcdHostile, ReadsTheReplyThatTheOthersDeviateFrom) {
  EXPECT_TRUE(parse_grant(with(R"("ID":"7","TTL":"5")")));
  EXPECT_TRUE(parse_keep_alive(with(R"("ID":"7")")));
  EXPECT_TRUE(parse_range(with_kv(R"("key":"YQ==","create_revision":"3","mod_revision":"4")")));
  EXPECT_TRUE(parse_transaction(with(R"("responses":[{"response_put":{}}])")));
  EXPECT_TRUE(parse_watch(with(R"("watch_id":"1","created":true)")));
}

TEST(EtcdHostile, AGrantIsBelievedOnlyIfItMakesSense) {
  for (const char* rest : {R"("ID":"7")",
                           R"("ID":"7","TTL":"0")",
                           R"("ID":"7","TTL":"-1")",
                           R"("ID":"7","TTL":"9000000001")",
                           R"("ID":"7","TTL":"99999999999999999999")",
                           R"("ID":"7","TTL":"5 ")",
                           R"("ID":"7","TTL":"+5")",
                           R"("ID":"7","TTL":"0x5")",
                           R"("ID":"7","TTL":"5.5")",
                           R"("ID":"7","TTL":5.0)",
                           R"("ID":"7","TTL":5e3)",
                           R"("ID":"7","TTL":"")",
                           R"("ID":"7","TTL":true)",
                           R"("ID":"7","TTL":{})",
                           R"("ID":"7","TTL":["5"])",
                           R"("ID":"7","TTL":"5","TTL":"50")",
                           R"("ID":"7","TTL":"5","ID":"8")",
                           R"("ID":"7","TTL":"5","error":"no")",
                           R"("TTL":"5")",
                           R"("ID":"0","TTL":"5")",
                           R"("ID":"-7","TTL":"5")"}) {
    EXPECT_FALSE(parse_grant(with(rest))) << rest;
  }
}

TEST(EtcdHostile, AKeepAliveIsGoneOnlyIfItMakesSense) {
  for (const char* rest : {"", R"("TTL":"5")", R"("ID":"7","TTL":"-1")", R"("ID":"7","TTL":[])",
                           R"("ID":"7","TTL":"9000000001")"}) {
    EXPECT_FALSE(parse_keep_alive(with(rest))) << rest;
  }
  EXPECT_FALSE(parse_keep_alive(R"({"ID":"7"})"));
  EXPECT_FALSE(parse_keep_alive(R"({"result":{"ID":"7"}})"));
  EXPECT_FALSE(parse_keep_alive(R"({"result":null})"));
  EXPECT_FALSE(parse_keep_alive("{\"result\":{" + header + ",\"ID\":\"7\"}}{}"));
}

TEST(EtcdHostile, AHeaderNamesItsServerAndRevision) {
  for (const char* bad :
       {R"({})", R"({"header":{}})", R"({"header":null})", R"({"header":[]})", R"({"header":"x"})",
        R"({"header":{"cluster_id":"1","member_id":"2"}})",
        R"({"header":{"cluster_id":"1","revision":"10"}})",
        R"({"header":{"member_id":"2","revision":"10"}})",
        R"({"header":{"cluster_id":"-1","member_id":"2","revision":"10"}})",
        R"({"header":{"cluster_id":"1","member_id":"2","revision":"-10"}})",
        R"({"header":{"cluster_id":"1","member_id":"2","revision":"9223372036854775808"}})",
        R"({"header":{"cluster_id":"1","clusterId":"1","member_id":"2","revision":"10"}})"}) {
    EXPECT_FALSE(parse_revoke(bad)) << bad;
    EXPECT_FALSE(parse_range(bad)) << bad;
    EXPECT_FALSE(parse_watch(bad)) << bad;
  }
}

TEST(EtcdHostile, AKeyIsNotOlderThanItselfNorNewerThanItsReply) {
  for (const char* kv :
       {R"("create_revision":"3","mod_revision":"4")",
        R"("key":"","create_revision":"3","mod_revision":"4")",
        R"("key":"YQ==","mod_revision":"4")", R"("key":"YQ==","create_revision":"3")",
        R"("key":"YQ==","create_revision":"4","mod_revision":"3")",
        R"("key":"YQ==","create_revision":"3","mod_revision":"11")",
        R"("key":"YQ","create_revision":"3","mod_revision":"4")",
        R"("key":"a","create_revision":"3","mod_revision":"4")",
        R"("key":"YQ==","create_revision":"3","mod_revision":"4","value":7)"}) {
    EXPECT_FALSE(parse_range(with_kv(kv))) << kv;
    EXPECT_FALSE(parse_watch(with(R"("events":[{"kv":{)"s + kv + "}}]"))) << kv;
    EXPECT_FALSE(parse_transaction(
        with(R"("responses":[{"response_range":{"count":"1","kvs":[{)"s + kv + "}]}}]")))
        << kv;
  }
}

TEST(EtcdHostile, ARangeDoesNotCountLessThanItHas) {
  const std::string kv = R"({"key":"YQ==","create_revision":"3","mod_revision":"4"})";
  EXPECT_TRUE(parse_range(with(R"("count":"1","kvs":[)" + kv + "]")));
  EXPECT_FALSE(parse_range(with(R"("kvs":[)" + kv + "]")));
  EXPECT_FALSE(parse_range(with(R"("count":"-1")")));
}

TEST(EtcdHostile, APartOfATransactionIsOneThing) {
  for (const char* parts :
       {R"([{}])", R"([7])", R"([null])", R"({})", R"("x")", R"([{"response_txn":{}}])",
        R"([{"response_put":7}])", R"([{"response_put":{},"response_range":{}}])",
        R"([{"response_delete_range":{"deleted":"-1"}}])", R"([{"response_range":[]}])"}) {
    EXPECT_FALSE(parse_transaction(with(R"("responses":)"s + parts))) << parts;
  }
  EXPECT_FALSE(parse_transaction(with(R"("succeeded":"true")")));
  EXPECT_FALSE(parse_transaction(with(R"("succeeded":1)")));
}

TEST(EtcdHostile, AWatchDoesNotContradictItself) {
  const std::string event =
      R"("events":[{"kv":{"key":"YQ==","create_revision":"3","mod_revision":"4"}}])";
  EXPECT_TRUE(parse_watch(with(event)));
  for (const std::string& rest :
       {R"("created":true,)" + event, R"("canceled":true,)" + event, R"("compact_revision":"3")"s,
        R"("cancel_reason":"x")"s, R"("events":[{"type":"PUT"}])"s,
        R"("events":[{"type":"MOVE","kv":{"key":"YQ=="}}])"s,
        R"("events":[{"type":1,"kv":{"key":"YQ==","mod_revision":"4"}}])"s,
        R"("events":[{"type":"DELETE","kv":{"key":"YQ=="}}])"s, R"("watch_id":"x")"s}) {
    EXPECT_FALSE(parse_watch(with(rest))) << rest;
  }
}

TEST(EtcdHostile, ATokenFitsAHeaderLine) {
  EXPECT_TRUE(parse_authenticate(with(R"("token":"abc.7")")));
  for (const char* rest : {"", R"("token":"")", R"("token":"a\r\nHost: b")", R"("token":"a\u0000")",
                           R"("token":"ä")", R"("token":7)"}) {
    EXPECT_FALSE(parse_authenticate(with(rest))) << rest;
  }
}

TEST(EtcdHostile, DeepNestingIsRefusedWithoutRecursion) {
  for (const char open : {'[', '{'}) {
    std::string deep = "{\"a\":";
    for (int i = 0; i < 200'000; ++i) deep += open == '[' ? "[" : "{\"a\":";
    EXPECT_EQ(accepted(deep), 0);
    EXPECT_FALSE(parse_error(deep));
  }
  const std::string closed = with("\"x\":" + std::string(17, '[') + std::string(17, ']'));
  EXPECT_FALSE(parse_revoke(closed));
}

TEST(EtcdHostile, FieldsThatAreNotOursAreLetPass) {
  EXPECT_TRUE(parse_grant(with(R"("ID":"7","TTL":"5","of_a_later_release":{"x":[1,null]})")));
}

TEST(EtcdHostile, ArbitraryBytesAreNoJson) {
  for (const std::string& body : {"\0"s, "\xff\xfe"s, "{\"header\":\"\xff\"}"s, "nan"s, "{}x"s,
                                  "{\"a\":1e999}"s, "\xef\xbb\xbf"s, "// {}"s}) {
    EXPECT_EQ(accepted(body), 0) << body;
    EXPECT_FALSE(parse_error(body)) << body;
  }
}

TEST(EtcdHostile, ARefusalRepeatsLittleAndNothingUnprintable) {
  const auto refused = parse_grant("\x1b[2J\xff\n" + std::string(100'000, 'x'));
  ASSERT_FALSE(refused);
  EXPECT_LE(refused.error().why.size(), 100U);
  EXPECT_EQ(refused.error().why, base::printable(refused.error().why));
}

}  // namespace
}  // namespace tenure::stores::etcd
