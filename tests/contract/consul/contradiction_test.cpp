// Replies of the right form that contradict the request, from a fake Consul.

#include "hostile_scene.hpp"
#include "stores/consul/layout.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;

constexpr const char* other_session = "99999999-0000-4000-8000-000000000001";

class ConsulContradiction : public HostileConsul {};

// Sessions ----------------------------------------------------------------------------------------

TEST_F(ConsulContradiction, ARenewalOfAnotherSessionIsNotOurs) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.change_json("renew", [](json& said) { said[0]["ID"] = other_session; });
  expect_unknown(words(a->renew(term(held.version))), "another session");
  fake_.change_json("renew", [](json& said) { said.push_back(said[0]); });
  expect_unknown(words(a->renew(term(held.version))), "not about one session");
  expect_usable(*a);
}

TEST_F(ConsulContradiction, TheEndOfAnotherSessionIsNotThatOfOurs) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("renew",
           status("404 Not Found", "Session id '" + std::string(other_session) + "' not found"));
  expect_unknown(words(a->renew(term(held.version))), "does not renew sessions");
  fake_.on("renew", status("404 Not Found",
                           "Session id '00000000-0000-4000-8000-000000000001' "
                           "not found"));
  EXPECT_EQ(words(a->renew(term(held.version))), "lost: session_invalid");
}

TEST_F(ConsulContradiction, ATtlThatCannotBeReadIsUnknown) {
  auto a = join();
  const stores::grant held = a->hold();
  for (const json& ttl : {json("soon"), json("-1s"), json("0s"), json("25h"), json("60"),
                          json("9999999999999999999s"), json(60), json::array()}) {
    fake_.change_json("renew", [&ttl](json& said) { said[0]["TTL"] = ttl; });
    expect_unknown(words(a->renew(term(held.version))), "TTL");
  }
  expect_usable(*a);
}

/// Consul may end the session after the TTL that was asked for, whatever it says now.
TEST_F(ConsulContradiction, ALeaseLastsNoLongerThanWasAskedAndNoLongerThanConsulSays) {
  using namespace std::chrono_literals;
  auto a = join();
  const stores::grant held = a->hold();
  for (const auto& [said, counts] :
       {std::pair("24h", 60s), std::pair("61s", 60s), std::pair("20s", 20s)}) {
    fake_.change_json("renew", [said](json& all) { all[0]["TTL"] = said; });
    const auto outcome = a->renew(term(held.version));
    ASSERT_EQ(words(outcome), "renewed");
    EXPECT_EQ(std::get<stores::renewal>(outcome).ttl, counts) << said;
  }
  auto adopted = a->acquire();
  ASSERT_EQ(words(adopted), "granted");
  EXPECT_EQ(std::get<stores::grant>(adopted).ttl, 20s);
}

TEST_F(ConsulContradiction, ASessionThatIsGoneAgainAndAgainIsNotMadeWithoutEnd) {
  auto a = join();
  fake_.on("write", [](peer& to, const std::string& request) {
    const std::string before = R"("Session":")";
    const auto at = request.find(before) + before.size();
    status("409 Conflict", R"({"Results":null,"Errors":[{"OpIndex":1,"What":"invalid session \")" +
                               request.substr(at, 36) + R"(\""}]})")(to, request);
  });
  expect_unknown(words(a->acquire()), "again and again");
  EXPECT_LE(fake_.count("create"), 10);
}

// Campaigns ---------------------------------------------------------------------------------------

struct transaction_lie {
  const char* name;
  std::function<void(json&)> by;
};

void PrintTo(const transaction_lie& one, std::ostream* out) {
  *out << one.name;
}

/// What each does to the key that is shown last: the one that the session locks.
json& last_key(json& said) {
  return said["Results"].back()["KV"];
}

class ConsulCampaignLie : public ConsulContradiction,
                          public testing::WithParamInterface<transaction_lie> {};

INSTANTIATE_TEST_SUITE_P(
    Fake, ConsulCampaignLie,
    testing::Values(
        transaction_lie{"NothingShown", [](json& said) { said["Results"] = nullptr; }},
        transaction_lie{"OneTooFew", [](json& said) { said["Results"].erase(0); }},
        transaction_lie{"OneTooMany",
                        [](json& said) { said["Results"].push_back(json(said["Results"][0])); }},
        transaction_lie{"HeldByAnother",
                        [](json& said) { last_key(said)["Session"] = other_session; }},
        transaction_lie{"HeldByNobody", [](json& said) { last_key(said).erase("Session"); }},
        transaction_lie{"NoSession", [](json& said) { last_key(said)["Session"] = "x"; }},
        transaction_lie{"AnotherKey", [](json& said) { last_key(said)["Key"] = "db1/.lock"; }},
        transaction_lie{"AnotherSpelling", [](json& said) { last_key(said)["Key"] = "DB0/.lock"; }},
        transaction_lie{"IndexZero", [](json& said) { last_key(said)["ModifyIndex"] = 0; }},
        transaction_lie{"IndexBeforeTheCampaign",
                        [](json& said) {
                          last_key(said)["CreateIndex"] = 1;
                          last_key(said)["ModifyIndex"] = 2;
                        }},
        transaction_lie{"IndexBeforeTheCreation",
                        [](json& said) { last_key(said)["CreateIndex"] = 1'000'000; }},
        transaction_lie{"IndexTooLarge",
                        [](json& said) { last_key(said)["ModifyIndex"] = UINT64_MAX; }},
        transaction_lie{"IndexWithAFraction",
                        [](json& said) { last_key(said)["ModifyIndex"] = 7.5; }},
        transaction_lie{"ANodeInsteadOfAKey",
                        [](json& said) { said["Results"].back() = {{"Node", json::object()}}; }},
        transaction_lie{
            "ErrorsToo",
            [](json& said) { said["Errors"] = {{{"OpIndex", 0}, {"What", "key \"x\" exists"}}}; }}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(ConsulCampaignLie, IsNoGrant) {
  auto a = join();
  // Makes the key, so that there is an earlier index.
  const stores::grant before = a->hold();
  ASSERT_EQ(words(a->release(0, before.version)), "released");
  ASSERT_TRUE(eventually(loop_, [&] { return a->read().holders.empty(); }));
  fake_.change_json("write", GetParam().by);
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

TEST_P(ConsulCampaignLie, IsNoGrantOfASemaphore) {
  auto a = join("a", 3);
  const stores::grant before = a->hold();
  ASSERT_EQ(words(a->release(0, before.version)), "released");
  fake_.change_json("write", GetParam().by);
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

/// The lock key's own session says nothing: of a semaphore, that key is held by nobody.
TEST_F(ConsulContradiction, ASemaphoreIsHeldByItsContendersKeyAlone) {
  auto a = join("a", 3);
  fake_.change_json("write", [](json& said) {
    said["Results"][0]["KV"]["Session"] = last_key(said)["Session"];
    last_key(said)["Session"] = other_session;
  });
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

TEST_F(ConsulContradiction, ARefusalThatNothingShowsIsNotTriedWithoutEnd) {
  auto a = join();
  for (const char* what : {R"(failed to lock key \"db0/.lock\", lock is already held)",
                           R"(key \"db0/.lock\" exists)"}) {
    const int before = fake_.count("write");
    fake_.on("write", status("409 Conflict",
                             R"({"Errors":[{"OpIndex":0,"What":")" + std::string(what) + "\"}]}"));
    expect_unknown(words(a->acquire()), "again and again");
    EXPECT_LE(fake_.count("write") - before, 10);
  }
  expect_usable(*a);
}

// Renewals ----------------------------------------------------------------------------------------

TEST_F(ConsulContradiction, ALookThatDoesNotShowOurKeyAsItIsIsNoRenewal) {
  auto a = join();
  const stores::grant held = a->hold();
  const std::function<void(json&)> lies[] = {
      [](json& said) { said["Results"] = json::array(); },
      [](json& said) { last_key(said)["Key"] = "db1/.lock"; },
      [](json& said) { last_key(said)["ModifyIndex"] = 1'000'000; },
      [](json& said) { said["Results"].push_back(json(said["Results"][0])); }};
  for (const auto& lie : lies) {
    fake_.change_json("look", lie);
    expect_unknown(words(a->renew(term(held.version))), "transaction was answered wrongly");
  }
  expect_usable(*a);
}

// A watch may be of a server that lags.
TEST_F(ConsulContradiction, ATermThatANewerLookHasShownToBeOverIsLookedAtAgain) {
  constexpr core::election_index first{0};
  auto a = join(announced(settings("a", 1, std::chrono::seconds(3))));
  auto b = join(announced(settings("b", 1, std::chrono::seconds(3))));
  (*a)->announce(first, {.since_unix_ms = 1});
  (*b)->announce(first, {.since_unix_ms = 1});
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  fake_.change_json("look", [](json& said) {
    last_key(said)["Session"] = "11111111-1111-1111-1111-111111111111";
    last_key(said)["ModifyIndex"] = 1'000'000;
  });
  const int looks = fake_.count("look");
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("look") >= looks + 2; }));
  EXPECT_EQ(words(a->release(0, old.version)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  const int reads = fake_.count("read");
  fake_.repent("look");
  b->hold();
  EXPECT_GT(fake_.count("read"), reads);
}

TEST_F(ConsulContradiction, ALookAtASemaphoreThatShowsAnotherKeyIsNoRenewal) {
  auto a = join("a", 2);
  const stores::grant held = a->hold();
  fake_.change_json("look", [](json& said) { last_key(said)["Key"] = "db1/.lock"; });
  expect_unknown(words(a->renew(term(held.version))), "transaction was answered wrongly");
  expect_usable(*a);
}

/// "It has changed" alone ends no term: the keys themselves are read.
TEST_F(ConsulContradiction, AChangeThatNothingShowsEndsNoTerm) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("look",
           status("409 Conflict", R"({"Errors":[{"OpIndex":0,"What":"failed index check for key )"
                                  R"(\"db0/.lock\", current modify index 7 != 8"}]})"));
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  fake_.on("read", "[]");
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

// Releases and reads ------------------------------------------------------------------------------

TEST_F(ConsulContradiction, AReleaseThatLeavesTheKeyAsItWasIsNone) {
  auto a = join();
  const stores::grant held = a->hold();
  const json kv{{"Key", "db0/.lock"},
                {"CreateIndex", core::number(held.version)},
                {"ModifyIndex", core::number(held.version)},
                {"Session", "00000000-0000-4000-8000-000000000001"}};
  const json as_it_was{{"Results", {{{"KV", kv}}, {{"KV", kv}}}}};
  fake_.on("write", as_it_was.dump());
  expect_unknown(words(a->release(0, held.version)), "transaction was answered wrongly");
  fake_.repent("write");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed") << "it is still held";
  expect_usable(*a);
}

struct read_lie {
  const char* name;
  std::function<void(fake_consul::reply&)> by;
};

void PrintTo(const read_lie& one, std::ostream* out) {
  *out << one.name;
}

/// Two keys of the election, the second of which is before the first if `backwards`.
std::string two_keys(const std::string& first, const std::string& second) {
  json out = json::array();
  for (const std::string& key : {first, second}) {
    out.push_back({{"Key", key}, {"Value", nullptr}, {"CreateIndex", 3}, {"ModifyIndex", 4}});
  }
  return out.dump();
}

class ConsulReadLie : public ConsulContradiction, public testing::WithParamInterface<read_lie> {};

INSTANTIATE_TEST_SUITE_P(
    Fake, ConsulReadLie,
    testing::Values(
        read_lie{"WithoutAnIndex", [](auto& what) { what.index = 0; }},
        read_lie{"EmptyAndWithoutAnIndex", [](auto& what) { what = {.status = 404, .index = 0}; }},
        read_lie{"EmptyList", [](auto& what) { what.body = "[]"; }},
        read_lie{"NotInOrder", [](auto& what) { what.body = two_keys("db0/b", "db0/a"); }},
        read_lie{"Twice", [](auto& what) { what.body = two_keys("db0/a", "db0/a"); }},
        read_lie{"OfAnotherElection", [](auto& what) { what.body = two_keys("db/a", "db/b"); }},
        read_lie{"OfALaterElection", [](auto& what) { what.body = two_keys("db1/a", "db1/b"); }},
        read_lie{"MoreThanAsked", [](auto& what) { what.body = two_keys("db0/a", "db00/a"); }},
        read_lie{"CutShort", [](auto& what) { what.body.resize(what.body.size() / 2); }},
        read_lie{"Conflict", [](auto& what) { what.status = 409; }}),
    [](const auto& one) { return std::string(one.param.name); });

TEST_P(ConsulReadLie, IsNoReleaseAndEndsNoTerm) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.change("read", GetParam().by);
  expect_unknown(words(a->release(0, core::version{core::number(held.version) + 1})));
  // A look that says that our key has changed is followed by a read.
  fake_.on("look",
           status("409 Conflict", R"({"Errors":[{"OpIndex":0,"What":"failed index check for key )"
                                  R"(\"db0/.lock\", current modify index 7 != 8"}]})"));
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

TEST_F(ConsulContradiction, AnIndexThatIsNoneIsMissing) {
  auto a = join();
  const stores::grant held = a->hold();
  for (const char* index : {"0", "-1", "x", "", "7 8", "18446744073709551615",
                            "9223372036854775808", "99999999999999999999999"}) {
    fake_.on("read", [this, index](peer& to, const std::string& request) {
      const fake_consul::reply what = fake_.truth(request);
      to.send("HTTP/1.1 200 OK\r\nX-Consul-Index: " + std::string(index) +
              "\r\nContent-Length: " + std::to_string(what.body.size()) + "\r\n\r\n" + what.body);
    });
    expect_unknown(words(a->release(0, core::version{core::number(held.version) + 1})),
                   "without X-Consul-Index");
  }
  expect_usable(*a);
}

// The lock key ------------------------------------------------------------------------------------

TEST_F(ConsulContradiction, ALockKeyThatIsNoSemaphoreIsNeverTaken) {
  const std::string id = R"("00000000-0000-4000-8000-000000000001")";
  for (const std::string& value :
       {std::string("nonsense"), std::string("7"), std::string("[]"), std::string("null"),
        std::string("{}"), std::string(R"({"Limit":-1,"Holders":{}})"),
        std::string(R"({"Limit":0,"Holders":{}})"), std::string(R"({"Limit":1.5,"Holders":{}})"),
        std::string(R"({"Limit":99999999999,"Holders":{}})"),
        std::string(R"({"Limit":3,"Holders":7})"), R"({"Limit":3,"Holders":{)" + id + ":7}}",
        R"({"Limit":3,"Holders":[)" + id + "," + id + "]}",
        std::string(R"({"Limit":3,"Holders":[7]})"),
        std::string(R"({"Limit":3,"Limit":4,"Holders":{}})"),
        std::string(R"({"Limit":3,"Holders":{},"Changes":-1})"),
        R"({"Limit":3,"Holders":)" + std::string(1000, '[') + std::string(1000, ']') + "}",
        std::string("{\"Limit\":3,\"Holders\":{}}\0", 25)}) {
    fake_.put("db0/.lock", value, stores::consul::semaphore_flags);
    auto a = join("a", 3);
    const int before = fake_.count("write");
    EXPECT_EQ(words(a->acquire()), "refused") << value;
    EXPECT_EQ(fake_.count("write"), before) << value;
  }
}

/// Consul keeps no value of more than 512 KiB unless it is told to.
TEST_F(ConsulContradiction, ASemaphoreOfAMillionHoldersIsNotReadAsOne) {
  std::string value = R"({"Limit":3,"Holders":[)";
  for (int i = 0; i < 1'000'000; ++i) {
    const std::string number = std::to_string(i);
    value += (i == 0 ? "\"" : ",\"") + std::string(other_session).substr(0, 36 - number.size()) +
             number + '"';
  }
  fake_.put("db0/.lock", value + "]}", stores::consul::semaphore_flags);
  fake_consul::reply shown = fake_.truth("GET /v1/kv/db0/?recurse HTTP/1.1\r\n\r\n");
  fake_.on("read", [shown = std::move(shown)](peer& to, const std::string&) {
    fake_consul::say(to, shown);
  });
  auto a = join("a", 3);
  a->answer_within(patience);
  EXPECT_EQ(words(a->acquire()), "refused");
  fake_.put("db0/.lock", "");
  expect_usable(*a);
}

}  // namespace
}  // namespace tenure::tests
