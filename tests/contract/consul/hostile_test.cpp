// Replies that have nothing to do with what was asked, from a fake Consul: none of them is ever
// taken for a grant, a renewal or a release.

#include <algorithm>
#include <atomic>
#include <future>

#include "hostile_scene.hpp"

namespace tenure::tests {
namespace {

TEST_F(HostileConsul, TheFakeIsTakenForAConsulAsLongAsItDoesNotLie) {
  for (const std::uint32_t slots : {1U, 2U}) {
    fake_.put("db0/.lock", "", 0);
    auto a = join("a", slots);
    auto b = join("b", slots);
    const auto seen = b->watch();
    const stores::grant held = a->hold();
    EXPECT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
    EXPECT_EQ(words(b->acquire()), slots == 1 ? "refused" : "granted");
    EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
    EXPECT_EQ(words(a->release(0, held.version)), "released");
    EXPECT_TRUE(a->read().holders.size() == slots - 1);
    EXPECT_GT(a->hold().version, held.version);
  }
}

std::vector<nonsense> nonsense_for_consul() {
  std::vector<nonsense> out = nonsense_of_any_server();
  const std::string id = "00000000-0000-4000-8000-000000000001";
  out.insert(
      out.end(),
      {{"CutShort", body(R"([{"KV":{"Key":"db0/.lo)")},
       {"WrongTypes", body(R"({"Results":{"KV":7},"Errors":"no","ID":[],"Config":4})")},
       {"WrongTypesInAList", body(R"([{"ID":7,"TTL":{},"Key":[],"KV":null}])")},
       {"Nothing", body(R"({"Results":null,"Errors":null})")},
       {"NoLists", body(R"({"Results":[],"Errors":[]})")},
       {"ErrorsWithSuccess",
        body(R"({"Results":null,"Errors":[{"OpIndex":0,"What":"key \"db0/.lock\" exists"}]})")},
       {"ConflictWithoutErrors", status("409 Conflict", R"({"Results":null,"Errors":null})")},
       {"ConflictWithoutABody", status("409 Conflict", "")},
       {"ConflictThatWasNotAskedFor",
        status("409 Conflict", R"({"Errors":[{"OpIndex":63,"What":"key \"a\" exists"}]})")},
       {"ConflictForAnUnknownReason",
        status("409 Conflict", R"({"Errors":[{"OpIndex":0,"What":"\u001b[2Jno leader"}]})")},
       {"ConflictWithARenewal",
        status("409 Conflict", R"([{"ID":")" + id + R"(","TTL":"60000ms"}])")},
       {"ConflictWithASession", status("409 Conflict", R"({"ID":")" + id + R"("})")},
       {"NotFound", status("404 Not Found", "")},
       {"NotFoundByAProxy", status("404 Not Found", "<html>no such site</html>")},
       {"AnotherSessionNotFound",
        status("404 Not Found", "Session id '99999999-0000-4000-8000-000000000001' not found")}});
  return out;
}

/// What comes of each on the paths of a lease.
class HostileConsulReply : public HostileConsul, public testing::WithParamInterface<nonsense> {};

INSTANTIATE_TEST_SUITE_P(Fake, HostileConsulReply, testing::ValuesIn(nonsense_for_consul()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(HostileConsulReply, ToACampaignIsUnknown) {
  auto a = join();
  fake_.on("write", GetParam().how);
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, ToACampaignForASemaphoreIsUnknown) {
  auto a = join("a", 3);
  fake_.on("write", GetParam().how);
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, ToTheCreationOfASessionIsUnknown) {
  auto a = join();
  fake_.on("create", GetParam().how);
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, ToTheRenewalOfASessionIsUnknown) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("renew", GetParam().how);
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, ToTheLookAtOurKeyIsUnknown) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("look", GetParam().how);
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, ToTheLookAtASemaphoreIsUnknown) {
  auto a = join("a", 3);
  const stores::grant held = a->hold();
  fake_.on("look", GetParam().how);
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, ToAReleaseIsUnknown) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("write", GetParam().how);
  expect_unknown(words(a->release(0, held.version)));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, ToTheReadBeforeAReleaseIsUnknown) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("read", GetParam().how);
  // We do not know that term: the store reads whether it is there.
  expect_unknown(words(a->release(0, core::version{core::number(held.version) + 1})));
  expect_usable(*a);
}

TEST_P(HostileConsulReply, AtTheOpeningIsSaid) {
  for (const char* name : {"self", "lock key", "read"}) fake_.on(name, GetParam().how);
  member a(loop_, settings("a"));
  const auto opened = a.open();
  EXPECT_TRUE(!opened || !opened->warnings.empty()) << "a warning, or an error";
}

// Consul's errors, and those of what is in front of it -------------------------------------------

struct refusal_of_a_call {
  const char* line;
  const char* said;
  const char* shown;  ///< is part of what the user sees
};

const refusal_of_a_call all_refusals[] = {
    {"500 Internal Server Error", "No cluster leader", "No cluster leader; check `consul operator"},
    {"500 Internal Server Error", "rpc error making call: No known Consul servers",
     "raft list-peers"},
    {"500 Internal Server Error", "", "answered 500"},
    {"503 Service Unavailable", "upstream connect error", "answered 503: upstream connect error"},
    {"503 Service Unavailable", "", "answered 503"},
    {"502 Bad Gateway", "<html>bad gateway</html>", "answered 502: <html>bad gateway"},
    {"429 Too Many Requests", "Your IP is issuing too many concurrent connections",
     "answered 429: Your IP is issuing too many concurrent connections; Consul limits the rate"},
    {"429 Too Many Requests", "", "answered 429: Consul limits the rate of requests"},
    {"403 Forbidden", "Permission denied", "give the agent a token whose policy has key_prefix"},
    {"403 Forbidden", "ACL not found", "the token is unknown to Consul: check its file"},
    {"403 Forbidden", "", "answered 403"},
    {"401 Unauthorized", "\x1b[2Jwho are you\r\n", "answered 401: \ufffd[2Jwho are you"},
};

TEST_F(HostileConsul, AnErrorIsUnknownAndItsReasonShown) {
  auto a = join();
  const stores::grant held = a->hold();
  auto b = join("b");
  for (const refusal_of_a_call& one : all_refusals) {
    SCOPED_TRACE(std::string(one.line) + ": " + one.said);
    for (const char* name : {"read", "create", "renew", "look", "write"}) {
      fake_.on(name, status(one.line, one.said));
    }
    expect_unknown(words(a->renew(term(held.version))), one.shown);
    expect_unknown(words(a->release(0, held.version)), one.shown);
    expect_unknown(words(b->acquire()), one.shown);
  }
  expect_usable(*a);
}

/// Each call would ask again at once, and keep it busy.
TEST_F(HostileConsul, AServerThatIsTooBusyIsNotAskedBeforeItSays) {
  auto a = join();
  const stores::grant held = a->hold();
  for (const char* name : {"read", "create", "look", "write"}) {
    fake_.on(name, [](peer& to, const std::string&) {
      to.send("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n");
    });
  }
  const auto asked = [&] {
    int out = 0;
    for (const char* name : {"read", "create", "look", "write"}) out += fake_.count(name);
    return out;
  };
  expect_unknown(words(a->release(0, held.version)), "answered 429");
  const int before = asked();
  constexpr int calls = 5;
  for (int i = 0; i < calls; ++i) {
    expect_unknown(words(a->release(0, held.version)), "answered 429");
  }
  EXPECT_LT(asked() - before, calls) << "an answer to the watch may say that it is over";
}

TEST_F(HostileConsul, ARedirectIsNotFollowed) {
  fake_consul other;
  auto a = join();
  const stores::grant held = a->hold();
  for (const char* line : {"301 Moved Permanently", "302 Found", "307 Temporary Redirect"}) {
    for (const char* name : {"read", "renew", "look", "write"}) {
      fake_.on(name, [line, to_other = other.endpoint()](peer& to, const std::string& request) {
        to.send("HTTP/1.1 " + std::string(line) + "\r\nLocation: " + to_other + target_of(request) +
                "\r\nContent-Length: 0\r\n\r\n");
      });
    }
    expect_unknown(words(a->renew(term(held.version))), "redirects");
    expect_unknown(words(a->release(0, held.version)), "redirects");
  }
  for (const char* name : {"read", "renew", "look", "write"}) EXPECT_EQ(other.count(name), 0);
  expect_usable(*a);
}

// How replies come ------------------------------------------------------------------------------

TEST_F(HostileConsul, RepliesInSmallChunksAreReadWhole) {
  const auto in_chunks = [this](peer& to, const std::string& request) {
    const fake_consul::reply what = fake_.truth(request);
    to.send("HTTP/1.1 " + std::to_string(what.status) +
            " So\r\nX-Consul-Index: " + std::to_string(std::max<std::uint64_t>(what.index, 1)) +
            "\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char c : what.body) to.send(std::string("1\r\n") + c + "\r\n");
    to.send("0\r\n\r\n");
  };
  for (const char* name : {"self", "lock key", "read", "create", "renew", "look", "write"}) {
    fake_.on(name, in_chunks);
  }
  auto a = join();
  const stores::grant held = a->hold();
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

/// The reply to one request must never be read as that to another.
TEST_F(HostileConsul, AReplyThatComesTooLateIsNotTakenForALaterOne) {
  auto a = join();
  const stores::grant held = a->hold();
  std::promise<void> over;
  const std::shared_future<void> is_over = over.get_future().share();
  std::atomic<int> late = 0;
  fake_.on("renew", [&, is_over](peer& to, const std::string& request) {
    const fake_consul::reply good = fake_.truth(request);
    is_over.wait();
    // Twice, so that one would be there before the next request.
    fake_consul::say(to, good);
    fake_consul::say(to, good);
    ++late;
  });
  expect_unknown(words(a->renew(term(held.version))));
  fake_.on("renew", [](peer& to, const std::string&) { to.closed(); });
  over.set_value();
  ASSERT_TRUE(eventually(loop_, [&] { return late == 1; }));
  for (int i = 0; i < 3; ++i) expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

TEST_F(HostileConsul, ASecondReplyToARequestIsNotTakenForTheNext) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("renew", [&](peer& to, const std::string& request) {
    const fake_consul::reply good = fake_.truth(request);
    const std::string text =
        "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(good.body.size()) + "\r\n\r\n" +
        good.body;
    to.send(text + text);
    to.delivered();
  });
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  fake_.on("renew", [](peer& to, const std::string&) { to.closed(); });
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

}  // namespace
}  // namespace tenure::tests
