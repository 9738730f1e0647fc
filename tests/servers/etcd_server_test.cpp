// What Tenure builds on in etcd holds for the real servers of both ends, and the cluster that
// tests run against does what it says.
#include "servers/etcd_server.hpp"

#include <gmock/gmock.h>

#include <array>
#include <cstdio>

#include "servers/plain_http.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/gateway_error.hpp"

namespace tenure::servers {
namespace {

using namespace tenure::stores::etcd;
using namespace std::string_literals;
using ::testing::HasSubstr;

class RealEtcd : public ::testing::TestWithParam<server_release> {
 protected:
  void SetUp() override {
    if (GetParam().binary.empty()) GTEST_SKIP() << GetParam().why;
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, RealEtcd, ::testing::ValuesIn(etcd_releases()),
                         [](const auto& info) { return info.param.name; });

/// How many of `wanted` creates a watch stream with this body confirms.
std::size_t confirmed(const etcd_cluster& etcd, const std::string& body, std::size_t wanted) {
  const std::string answer = plain_http(etcd.port(), "POST", "/v3/watch", body)
                                 .read_until(R"("created":true)", wanted, patience);
  std::size_t found = 0;
  for (auto at = answer.find(R"("created":true)"); at != std::string::npos;
       at = answer.find(R"("created":true)", at + 1)) {
    ++found;
  }
  return found;
}

TEST_P(RealEtcd, OneBodyCreatesManyWatchesIfItsConnectionCloses) {
  const etcd_cluster etcd(GetParam());
  constexpr std::size_t watches = 300;  // 30 kB: many times what the server reads at once
  std::string body;
  for (std::size_t i = 0; i < watches; ++i) {
    body += watch_request("election/" + std::to_string(i), "", 0, static_cast<std::int64_t>(i + 1));
  }
  EXPECT_EQ(confirmed(etcd, body, watches), watches);
}

TEST_P(RealEtcd, AnOpenWatchTakesMoreRequestsIfItsConnectionCloses) {
  const etcd_cluster etcd(GetParam());
  plain_http stream(etcd.port(), "POST", "/v3/watch", "",
                    "Connection: close\r\nTransfer-Encoding: chunked\r\n");
  const auto send = [&stream](const std::string& document) {
    std::array<char, 20> size{};
    std::snprintf(size.data(), size.size(), "%zx\r\n", document.size());
    stream.send(size.data() + document + "\r\n");
  };
  send(watch_request("k", "", 0, 1));
  EXPECT_THAT(stream.read_until(R"("created":true)", 1, patience), HasSubstr(R"("watch_id":"1")"));
  send(watch_request("l", "", 0, 2));
  EXPECT_THAT(stream.read_until(R"("created":true)", 2, patience), HasSubstr(R"("watch_id":"2")"));
  send(progress_request());
  EXPECT_THAT(stream.read_until(R"("watch_id":"-1")", 1, patience),
              HasSubstr(R"("watch_id":"-1")"));
}

TEST_P(RealEtcd, AKeyIsNotWrittenUnderALeaseThatIsGone) {
  const etcd_cluster etcd(GetParam());
  const transaction acquire{.when = {{.key = "e/1", .value = {}}},
                            .then = {put{.key = "e/1", .value = "me", .lease = 1}},
                            .otherwise = {}};
  EXPECT_EQ(read_error(404, etcd.post("/v3/kv/txn", transaction_request(acquire))).meaning,
            error_meaning::lease_gone);
  EXPECT_TRUE(parse_grant(etcd.post("/v3/lease/grant", grant_request(60, 1))));
  const auto done = parse_transaction(etcd.post("/v3/kv/txn", transaction_request(acquire)));
  ASSERT_TRUE(done) << done.error().why;
  EXPECT_TRUE(done->succeeded);
}

TEST_P(RealEtcd, AConditionOverARangeHoldsOnlyIfItHoldsForEveryKey) {
  const etcd_cluster etcd(GetParam());
  const transaction claim{.when = {{.key = "e/", .end = prefix_end("e/")}},
                          .then = {put{.key = "e/1", .value = "me"}},
                          .otherwise = {}};
  const auto first = parse_transaction(etcd.post("/v3/kv/txn", transaction_request(claim)));
  const auto second = parse_transaction(etcd.post("/v3/kv/txn", transaction_request(claim)));
  ASSERT_TRUE(first && second);
  EXPECT_TRUE(first->succeeded);
  EXPECT_FALSE(second->succeeded);
}

TEST_P(RealEtcd, EveryRequestOfOursIsUnderstood) {
  const etcd_cluster etcd(GetParam());
  ASSERT_TRUE(parse_grant(etcd.post("/v3/lease/grant", grant_request(60, 1))));
  using enum compare::field;
  using enum compare::relation;
  const range all{.key = "e/",
                  .end = prefix_end("e/"),
                  .limit = 5,
                  .by = range::order::create_ascend,
                  .serializable = true};
  const transaction every{
      .when = {{.key = "e/1", .what = create_revision, .is = equal, .number = 0, .value = {}},
               {.key = "e/1", .what = mod_revision, .is = less, .number = 1, .value = {}},
               {.key = "e/1",
                .what = stores::etcd::compare::field::lease,
                .is = equal,
                .number = 0,
                .value = {}},
               {.key = "e/\xff", .what = mod_revision, .is = not_equal, .number = 7, .value = {}}},
      .then = {put{.key = "e/1", .value = "a\0\xff"s, .lease = 1}, all, erase{"e/2"}},
      .otherwise = {}};
  const auto done = parse_transaction(etcd.post("/v3/kv/txn", transaction_request(every)));
  ASSERT_TRUE(done) << done.error().why;
  EXPECT_TRUE(done->succeeded);
  ASSERT_EQ(done->parts.size(), 3U);
  const auto read =
      parse_range(etcd.post("/v3/kv/range", range_request({.key = "e/1", .end = {}})));
  ASSERT_TRUE(read) << read.error().why;
  ASSERT_EQ(read->values.size(), 1U);
  EXPECT_EQ(read->values[0].value, "a\0\xff"s);
  EXPECT_TRUE(parse_range(etcd.post("/v3/kv/range", range_request(all))));
  EXPECT_TRUE(parse_revoke(etcd.post("/v3/lease/revoke", revoke_request(1))));
}

TEST_P(RealEtcd, AuthenticationWantsATokenAndGivesOne) {
  etcd_cluster etcd(GetParam());
  etcd.enable_auth("secret");
  EXPECT_EQ(
      read_error(400, etcd.post("/v3/kv/range", range_request({.key = "k", .end = {}}))).meaning,
      error_meaning::unauthenticated);
  EXPECT_TRUE(parse_authenticate(
      etcd.post("/v3/auth/authenticate", authenticate_request("root", "secret"))));
  EXPECT_EQ(read_error(400, etcd.post("/v3/auth/authenticate", authenticate_request("root", "no")))
                .meaning,
            error_meaning::denied);
}

TEST_P(RealEtcd, AClusterSurvivesTheLossOfItsLeader) {
  etcd_cluster etcd(GetParam(), {.members = 3, .tls = {}, .flags = {}});
  const std::size_t first = etcd.wait_for_leader();
  etcd.kill(first);
  EXPECT_NE(etcd.wait_for_leader(), first);
  etcd.start(first);
  etcd.wait_until_healthy();
  EXPECT_TRUE(etcd.healthy(first));
}

TEST_P(RealEtcd, AFrozenMemberAnswersNothingUntilItThaws) {
  etcd_cluster etcd(GetParam());
  etcd.freeze(0);
  EXPECT_FALSE(etcd.healthy(0));
  etcd.thaw(0);
  etcd.wait_until_healthy();
  etcd.stop(0);
  etcd.start(0);
  etcd.wait_until_healthy();
}

TEST_P(RealEtcd, WithTlsAPlainRequestIsNotAnswered) {
  const tests::temporary_directory folder;
  const std::string key = folder.path() / "key.pem";
  const std::string certificate = folder.path() / "cert.pem";
  const server_process openssl({"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=etcd", "-addext",
                                "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate},
                               folder.path() / "log");
  ASSERT_FALSE(openssl.runs(patience));
  const etcd_cluster etcd(
      GetParam(),
      {.tls = etcd_tls{.certificate = certificate, .key = key, .client_ca = {}}, .flags = {}});
  EXPECT_EQ(ask(etcd.port(), "GET", "/version"), "");
}

}  // namespace
}  // namespace tenure::servers
