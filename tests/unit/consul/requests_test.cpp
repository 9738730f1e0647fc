#include <gmock/gmock.h>

#include <chrono>
#include <string>
#include <vector>

#include "stores/consul/codec.hpp"

/// The real servers understand them: tests/servers/consul_server_test.cpp.
namespace tenure::stores::consul {
namespace {

using namespace std::chrono_literals;
using namespace std::string_literals;

TEST(ConsulRequest, ASessionSaysAllThatConsulWouldElseAssume) {
  EXPECT_EQ(session_request({.name = "db of a", .ttl = 15s}),
            R"({"Name":"db of a","LockDelay":"0ms","Behavior":"release","NodeChecks":[],)"
            R"("TTL":"15000ms"})");
  EXPECT_EQ(session_request({.name = "",
                             .lock_delay = 60s,
                             .then = behavior::remove,
                             .node_checks = {"serfHealth"},
                             .service_checks = {"service:db"}}),
            R"({"Name":"","LockDelay":"60000ms","Behavior":"delete","NodeChecks":["serfHealth"],)"
            R"("ServiceChecks":[{"ID":"service:db"}]})")
      << "and no TTL";
}

TEST(ConsulRequest, ATtlIsNeverLongerThanWanted) {
  EXPECT_THAT(session_request({.name = "", .ttl = 10s - 1ns}),
              testing::HasSubstr(R"("TTL":"9999ms")"));
}

TEST(ConsulRequest, ATransactionHasItsOperationsInOrder) {
  const std::vector<operation> all{
      check_session{.key = "k", .session = "s"},
      check_index{.key = "k", .index = 7},
      check_absent{"k"},
      lock{.key = "k", .value = "v", .flags = 3304740253564472344, .session = "s"},
      unlock{.key = "k", .value = "", .session = "s"},
      write{.key = "k", .value = "\0\xff"s, .flags = 1},
      write{.key = "k", .value = "v", .index = 0},
      erase{.key = "k", .index = 9},
      fetch{"k"}};
  EXPECT_EQ(transaction_request(all),
            R"([{"KV":{"Verb":"check-session","Key":"k","Session":"s"}},)"
            R"({"KV":{"Verb":"check-index","Key":"k","Index":7}},)"
            R"({"KV":{"Verb":"check-not-exists","Key":"k"}},)"
            R"({"KV":{"Verb":"lock","Key":"k","Value":"dg==","Flags":3304740253564472344,)"
            R"("Session":"s"}},)"
            R"({"KV":{"Verb":"unlock","Key":"k","Value":"","Flags":0,"Session":"s"}},)"
            R"({"KV":{"Verb":"set","Key":"k","Value":"AP8=","Flags":1}},)"
            R"({"KV":{"Verb":"cas","Key":"k","Value":"dg==","Flags":0,"Index":0}},)"
            R"({"KV":{"Verb":"delete-cas","Key":"k","Index":9}},)"
            R"({"KV":{"Verb":"get","Key":"k"}}])");
}

/// Consul takes the place of a key from its operation, and not from the request's query.
TEST(ConsulRequest, EachOperationSaysInWhichNamespaceAndPartitionItIs) {
  const std::vector<operation> all{fetch{"k"}, erase{.key = "l", .index = 9}};
  EXPECT_EQ(
      transaction_request(all, {.name_space = "team", .partition = "edge"}),
      R"([{"KV":{"Verb":"get","Key":"k","Namespace":"team","Partition":"edge"}},)"
      R"({"KV":{"Verb":"delete-cas","Key":"l","Index":9,"Namespace":"team","Partition":"edge"}}])");
  EXPECT_EQ(transaction_request(all, {.name_space = "team"}),
            R"([{"KV":{"Verb":"get","Key":"k","Namespace":"team"}},)"
            R"({"KV":{"Verb":"delete-cas","Key":"l","Index":9,"Namespace":"team"}}])")
      << "Consul before 1.11 refuses what it does not know";
}

}  // namespace
}  // namespace tenure::stores::consul
