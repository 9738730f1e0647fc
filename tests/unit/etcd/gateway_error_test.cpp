// An error is what etcd's own code and text together say; whatever else is said is unknown.
#include "stores/etcd/gateway_error.hpp"

#include <gmock/gmock.h>

#include "unit/etcd/captured.hpp"

namespace tenure::stores::etcd {
namespace {

using enum error_meaning;

struct captured_case {
  const char* name;
  error_meaning meaning;
  int code;
};

class EtcdErrors : public ::testing::TestWithParam<const char*> {};

INSTANTIATE_TEST_SUITE_P(Captured, EtcdErrors, ::testing::ValuesIn(captured_releases),
                         [](const auto& info) {
                           return std::string("Release") + info.param[0] + info.param[2];
                         });

TEST_P(EtcdErrors, OfRealServersMeanTheSameInEveryRelease) {
  const captured_case cases[] = {
      {"error_lease_not_found", lease_gone, 5}, {"error_revoke_gone", lease_gone, 5},
      {"error_lease_exists", lease_exists, 9},  {"error_ttl_too_large", invalid, 11},
      {"error_compacted", compacted, 11},       {"error_future", unknown, 11},
      {"error_bad_json", unknown, 3},           {"error_empty_key", invalid, 3},
      {"error_duplicate_key", invalid, 3},      {"error_auth_disabled", auth_disabled, 9},
      {"error_wrong_password", denied, 3},      {"error_no_token", unauthenticated, 3},
      {"error_bad_token", unauthenticated, 16}, {"error_denied", denied, 7}};
  for (const captured_case& one : cases) {
    const gateway_error error = read_error(400, captured(GetParam(), one.name));
    EXPECT_EQ(error.meaning, one.meaning) << one.name;
    EXPECT_EQ(error.code, one.code) << one.name;
    EXPECT_NE(error.message, "") << one.name;
  }
}

TEST_P(EtcdErrors, AnUnknownPathIsNoLostLease) {
  const gateway_error error = read_error(404, captured(GetParam(), "error_unknown_path"));
  EXPECT_EQ(error.meaning, unsupported);
  EXPECT_EQ(error.message, "Not Found");
  EXPECT_NE(error.advice, "");
}

TEST_P(EtcdErrors, OfACanceledWatchAreReadFromItsReason) {
  const std::pair<const char*, error_meaning> cases[] = {{"watch_denied", denied},
                                                         {"watch_no_token", unauthenticated},
                                                         {"watch_bad_token", unauthenticated},
                                                         {"watch_duplicate", unknown}};
  for (const auto& [name, meaning] : cases) {
    const auto reply = parse_watch(captured_documents(GetParam(), name).back());
    ASSERT_TRUE(reply) << name;
    EXPECT_EQ(read_cancel_reason(reply->cancel_reason).meaning, meaning) << name;
  }
}

TEST(EtcdErrorTable, ErrorsInAStreamAreReadInBothShapes) {
  const gateway_error newer =
      read_error(200, R"({"error":{"code":16,"message":"etcdserver: invalid auth token"}})");
  EXPECT_EQ(newer.meaning, unauthenticated);
  const gateway_error older = read_error(
      200,
      R"({"error":{"grpc_code":14,"http_code":503,"message":"etcdserver: no leader","http_status":"Service Unavailable"}})");
  EXPECT_EQ(older.code, 14);
  EXPECT_EQ(older.meaning, unknown);
  EXPECT_NE(older.advice, "");
  EXPECT_EQ(read_error(200, captured("3.7", "keep_alive_bad_token")).meaning, unauthenticated);
}

TEST(EtcdErrorTable, OnlyEtcdsOwnCodeWithItsOwnTextIsALostLease) {
  const char* const others[] = {
      R"({"code":5, "message":"lease not found"})",
      R"({"code":5, "message":"etcdserver: requested lease not found!"})",
      R"({"code":14, "message":"etcdserver: requested lease not found"})",
      R"({"message":"etcdserver: requested lease not found"})",
      R"({"code":5})",
      R"({"code":"5x", "message":"etcdserver: requested lease not found"})",
      R"({"code":5, "message":["etcdserver: requested lease not found"]})",
      R"([{"code":5, "message":"etcdserver: requested lease not found"}])",
      "etcdserver: requested lease not found",
      ""};
  for (const char* body : others) EXPECT_EQ(read_error(404, body).meaning, unknown) << body;
}

TEST(EtcdErrorTable, WhatAProxySaysIsUnknown) {
  for (const unsigned status : {401U, 403U, 404U, 429U, 500U, 502U, 503U, 504U}) {
    const gateway_error error = read_error(status, "<html><body>Bad Gateway</body></html>\n");
    EXPECT_EQ(error.meaning, unknown) << status;
    EXPECT_EQ(error.status, status);
    EXPECT_EQ(error.message, "<html><body>Bad Gateway</body></html>");
  }
}

TEST(EtcdErrorTable, APlainRequestToATlsPortIsAdvisedToUseHttps) {
  const gateway_error error = read_error(400, "Client sent an HTTP request to an HTTPS server.\n");
  EXPECT_EQ(error.meaning, unsupported);
  EXPECT_THAT(error.advice, ::testing::HasSubstr("https://"));
}

TEST(EtcdErrorTable, MessagesFitOneLineOfALog) {
  const gateway_error error = read_error(500, "a\n\x1b[31m\xff" + std::string(10'000, 'x'));
  EXPECT_LE(error.message.size(), 220U);
  EXPECT_THAT(error.message, ::testing::StartsWith("a\uFFFD\uFFFD[31m\uFFFDxxx"));
}

}  // namespace
}  // namespace tenure::stores::etcd
