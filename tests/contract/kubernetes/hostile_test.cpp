// Replies that have nothing to do with what was asked, from a fake Kubernetes: none of them is ever
// taken for a grant, a renewal or a release.

#include <atomic>
#include <fstream>
#include <future>

#include "hostile_kubernetes.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr auto lease_calls = {"list", "get", "create", "write", "delete"};

TEST_F(HostileKubernetes, TheFakeIsTakenForAnApiServerAsLongAsItDoesNotLie) {
  for (const std::uint32_t slots : {1U, 2U}) {
    fake_.remove("db0");
    auto a = join("a", slots);
    auto b = join("b", slots);
    const auto seen = b->watch();
    const stores::grant held = hold(*a);
    EXPECT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(nobody)); }));
    EXPECT_EQ(words(b->acquire()), slots == 1 ? "refused" : "granted");
    EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
    EXPECT_EQ(words(a->release(0, held.version)), "released");
    EXPECT_EQ(a->read().holders.size(), slots - 1);
    EXPECT_GT(hold(*a).version, held.version);
  }
}

std::string lease_text(const std::function<void(json&)>& change) {
  json lease = json::parse(
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"db0",)"
      R"("uid":"uid-1","resourceVersion":"900"},"spec":{"holderIdentity":"x"}})");
  change(lease);
  return lease.dump();
}

std::vector<nonsense> nonsense_for_kubernetes() {
  std::vector<nonsense> out = nonsense_of_any_server();
  const auto lease = [](const std::function<void(json&)>& how) { return body(lease_text(how)); };
  out.insert(
      out.end(),
      {{"CutShort", body(lease_text([](json&) {}).substr(0, 90))},
       {"AnotherLease", lease([](json& one) { one["metadata"]["name"] = "db1"; })},
       {"AnotherKind", lease([](json& one) { one["kind"] = "Pod"; })},
       {"AnotherApi", lease([](json& one) { one["apiVersion"] = "v1"; })},
       {"NoUid", lease([](json& one) { one["metadata"].erase("uid"); })},
       {"NoVersion", lease([](json& one) { one["metadata"].erase("resourceVersion"); })},
       {"VersionThatIsNoNumber",
        lease([](json& one) { one["metadata"]["resourceVersion"] = "latest"; })},
       {"SpecOfWrongTypes", lease([](json& one) { one["spec"]["holderIdentity"] = 7; })},
       {"HolderTwice",
        body(R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"db0",)"
             R"("uid":"u","resourceVersion":"9"},"spec":{"holderIdentity":"a",)"
             R"("holderIdentity":"b"}})")},
       {"ListOfAnotherKind", body(R"({"kind":"PodList","apiVersion":"v1","metadata":)"
                                  R"({"resourceVersion":"9"},"items":[]})")},
       {"PartOfAList", body(R"({"kind":"LeaseList","apiVersion":"coordination.k8s.io/v1",)"
                            R"("metadata":{"resourceVersion":"9","continue":"x"},"items":[]})")},
       {"StatusOfSuccess", body(R"({"kind":"Status","apiVersion":"v1","status":"Success"})")},
       {"StatusOfAConflictWithSuccess", body(status_json(409, "Conflict"))},
       {"NotFoundByAProxy", status("404 Not Found", "<html>no such site</html>")},
       {"NotFoundWithoutABody", status("404 Not Found", "")},
       {"NotFoundForNoReason", status("404 Not Found", status_json(404, ""))},
       {"StatusOfAnotherCode", status("404 Not Found", status_json(409, "Conflict"))},
       {"ConflictByAProxy", status("409 Conflict", "conflict")},
       {"ConflictForNoReason", status("409 Conflict", status_json(409, ""))},
       {"UnprocessableByAProxy", status("422 Unprocessable Entity", "no")},
       {"GoneByAProxy", status("410 Gone", "")},
       {"InternalError", status("500 So", status_json(500, "InternalError", "etcd is away"))},
       {"Timeout", status("504 So", status_json(504, "Timeout", "request did not complete"))}});
  return out;
}

/// What comes of each on the paths of a lease.
class HostileKubernetesReply : public HostileKubernetes,
                               public testing::WithParamInterface<nonsense> {};

INSTANTIATE_TEST_SUITE_P(Fake, HostileKubernetesReply, testing::ValuesIn(nonsense_for_kubernetes()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(HostileKubernetesReply, ToACampaignThatMakesTheLeaseIsUnknown) {
  auto a = join();
  fake_.on("create", GetParam().how);
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

TEST_P(HostileKubernetesReply, ToACampaignForALeaseIsUnknown) {
  make_lease();
  auto a = join();
  fake_.on("write", GetParam().how);
  expect_unknown(words(a->acquire()));
  expect_usable(*a);
}

TEST_P(HostileKubernetesReply, ToTheReadBeforeACampaignIsUnknown) {
  hold_as_another();
  auto a = join();
  fake_.on("list", GetParam().how);
  expect_unknown(words(a->acquire()));
  fake_.remove("db0");
  expect_usable(*a);
}

TEST_P(HostileKubernetesReply, ToARenewalIsUnknown) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.on("write", GetParam().how);
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

TEST_P(HostileKubernetesReply, ToTheLookAfterAConflictIsUnknown) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.on("write", status("409 Conflict", status_json(409, "Conflict")));
  fake_.on("get", GetParam().how);
  expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

TEST_P(HostileKubernetesReply, ToAReleaseIsUnknown) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.on("write", GetParam().how);
  expect_unknown(words(a->release(0, held.version)));
  expect_usable(*a);
}

TEST_P(HostileKubernetesReply, ToTheReadBeforeAReleaseIsUnknown) {
  auto a = join();
  const stores::grant held = hold(*a);
  fake_.on("list", GetParam().how);
  // We do not know that term: the store reads whether it is there.
  expect_unknown(words(a->release(0, core::version{core::number(held.version) + 1})));
  expect_usable(*a);
}

TEST_P(HostileKubernetesReply, AtTheOpeningIsSaid) {
  for (const char* name : {"version", "list"}) fake_.on(name, GetParam().how);
  member a(loop_, settings("a"));
  const auto opened = a.open();
  EXPECT_TRUE(!opened || !opened->warnings.empty()) << "a warning, or an error";
}

// Errors of Kubernetes, and of what is in front of it ---------------------------------------------

struct refusal_of_a_call {
  const char* line;
  std::string said;
  const char* shown;  ///< is part of what the user sees
};

TEST_F(HostileKubernetes, AnErrorIsUnknownAndItsReasonShown) {
  const refusal_of_a_call all_refusals[] = {
      {"500 So", status_json(500, "InternalError", "etcdserver: no leader"),
       "answered 500: etcdserver: no leader"},
      {"503 Service Unavailable", "upstream connect error", "answered 503: upstream connect error"},
      {"502 Bad Gateway", "", "answered 502"},
      {"403 Forbidden", status_json(403, "Forbidden", "leases is forbidden"),
       "leases is forbidden; give the user of the token a Role for leases"},
      {"403 Forbidden", "by the proxy", "answered 403: by the proxy"},
      {"401 Unauthorized", status_json(401, "Unauthorized", "Unauthorized"),
       "say who asks: give a token_file, or certificate_file and key_file"},
      {"401 Unauthorized", "\x1b[2Jwho are you\r\n", "answered 401: \ufffd[2Jwho are you"},
      {"400 Bad Request", "Client sent an HTTP request to an HTTPS server.",
       "write the endpoint as https://"},
      {"405 So", status_json(405, "MethodNotAllowed", "not supported"), "check the endpoint"},
      {"415 So", status_json(415, "UnsupportedMediaType", "not supported"), "check the endpoint"},
      {"413 So", status_json(413, "RequestEntityTooLarge", "too large"), "too large"},
  };
  auto a = join();
  const stores::grant held = hold(*a);
  auto b = join("b");
  for (const refusal_of_a_call& one : all_refusals) {
    SCOPED_TRACE(std::string(one.line) + ": " + one.said);
    for (const char* name : lease_calls) fake_.on(name, status(one.line, one.said));
    expect_unknown(words(a->renew(term(held.version))), one.shown);
    expect_unknown(words(a->release(0, held.version)), one.shown);
    expect_unknown(words(b->acquire()), one.shown);
  }
  expect_usable(*a);
}

/// A field of what we write is not valid: another try does not help, and nobody else holds.
TEST_F(HostileKubernetes, ALeaseThatKubernetesRefusesIsNotAConflict) {
  auto a = join();
  const stores::grant held = hold(*a);
  const std::string invalid =
      R"({"kind":"Status","apiVersion":"v1","status":"Failure","message":"spec is invalid",)"
      R"("reason":"Invalid","code":422,"details":{"causes":[{"field":"spec"}]}})";
  fake_.on("write", status("422 Unprocessable Entity", invalid));
  expect_unknown(words(a->renew(term(held.version))), "spec is invalid");
  EXPECT_EQ(fake_.count("get"), 0);
  expect_usable(*a);
}

TEST_F(HostileKubernetes, ARedirectIsNotFollowed) {
  fake_kubernetes other;
  auto a = join();
  const stores::grant held = hold(*a);
  for (const char* line : {"301 Moved Permanently", "302 Found", "307 Temporary Redirect"}) {
    for (const char* name : lease_calls) {
      fake_.on(name, [line, to_other = other.endpoint()](peer& to, const std::string& request) {
        to.send("HTTP/1.1 " + std::string(line) + "\r\nLocation: " + to_other + target_of(request) +
                "\r\nContent-Length: 0\r\n\r\n");
      });
    }
    expect_unknown(words(a->renew(term(held.version))), "redirects");
    expect_unknown(words(a->release(0, held.version)), "redirects");
  }
  for (const char* name : lease_calls) EXPECT_EQ(other.count(name), 0) << name;
  expect_usable(*a);
}

// A server that is too busy -----------------------------------------------------------------------

/// Answers 429 `times` over, then the truth.
fake_kubernetes::answer busy(fake_kubernetes& fake, std::atomic<int>& times,
                             const std::string& retry_after) {
  return [&fake, &times, retry_after](peer& to, const std::string& request) {
    if (times-- <= 0) return fake_kubernetes::say(to, fake.truth(request));
    const std::string said = status_json(429, "TooManyRequests", "too many");
    to.send("HTTP/1.1 429 Too Many Requests\r\nRetry-After: " + retry_after +
            "\r\nContent-Length: " + std::to_string(said.size()) + "\r\n\r\n" + said);
  };
}

TEST_F(HostileKubernetes, AServerThatIsTooBusyIsAskedAgainWhenItSays) {
  auto a = join();
  const stores::grant held = hold(*a);
  a->answer_within(patience);
  for (const char* retry_after : {"0", "soon", "-5", "1"}) {
    std::atomic<int> times = 2;
    fake_.on("write", busy(fake_, times, retry_after));
    const int before = fake_.count("write");
    EXPECT_EQ(words(a->renew(term(held.version))), "renewed") << retry_after;
    EXPECT_EQ(fake_.count("write") - before, 3) << retry_after;
  }
  expect_usable(*a);
}

TEST_F(HostileKubernetes, AServerThatIsTooBusyForTheDeadlineIsAskedOnceMoreForALeaseThatIsHeld) {
  auto a = join();
  const stores::grant held = hold(*a);
  std::atomic<int> times = 1'000'000;
  int asked = 2;
  for (const char* retry_after : {"5", "60", "999999999999"}) {
    fake_.on("write", busy(fake_, times, retry_after));
    const int before = fake_.count("write");
    expect_unknown(words(a->renew(term(held.version))), "answered 429: too many");
    EXPECT_EQ(fake_.count("write") - before, asked) << retry_after;
    asked = 1;  // It is known to be busy from then on.
  }
  a->close();
  a = join();
  expect_usable(*a);
}

TEST_F(HostileKubernetes, AStoreIsClosedWhileItWaitsForABusyServer) {
  std::atomic<int> times = 1'000'000;
  auto a = join();
  fake_.on("create", busy(fake_, times, "1"));
  bool is_answered = false;
  (*a)->acquire(core::election_index{0}, core::no_version, soon(),
                [&](const auto&) { is_answered = true; });
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("create") == 1; }));
  a->close();
  auto b = join("b");
  fake_.repent("create");
  EXPECT_EQ(words(b->acquire()), "granted");
  EXPECT_FALSE(is_answered);
}

// Tokens ------------------------------------------------------------------------------------------

class KubernetesToken : public HostileKubernetes {
 protected:
  void write_token(const std::string& text) const { std::ofstream(folder_ / "token") << text; }

  [[nodiscard]] stores::setup with_token() const {
    stores::setup made = settings("a");
    made.secure.token_file = folder_ / "token";
    return made;
  }

  /// From now on only this token is known.
  void accept(const std::string& token) {
    for (const char* name : {"version", "list", "get", "create", "write", "delete"}) {
      fake_.on(name, [this, token](peer& to, const std::string& request) {
        if (request.contains("Authorization: Bearer " + token + "\r\n")) {
          return fake_kubernetes::say(to, fake_.truth(request));
        }
        status("401 Unauthorized", status_json(401, "Unauthorized", "Unauthorized"))(to, request);
      });
    }
  }

  temporary_directory folder_;
};

TEST_F(KubernetesToken, ATokenThatWasReplacedIsReadAgainWithinTheSameCall) {
  write_token("first\n");
  accept("first");
  auto a = join(with_token());
  const stores::grant held = hold(*a);
  write_token("second\n");
  accept("second");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

TEST_F(KubernetesToken, ATokenThatIsRefusedIsTriedOnceAndItsFileIsNamed) {
  write_token("first");
  accept("first");
  auto a = join(with_token());
  const stores::grant held = hold(*a);
  accept("another");
  const int before = fake_.count("write");
  expect_unknown(words(a->renew(term(held.version))),
                 "the token in " + (folder_ / "token").string() + " is unknown");
  EXPECT_EQ(fake_.count("write") - before, 1) << "the file has no other token";
  write_token("second");
  expect_unknown(words(a->renew(term(held.version))),
                 "the token in " + (folder_ / "token").string() + " is unknown");
  EXPECT_EQ(fake_.count("write") - before, 3);
  accept("second");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
}

TEST_F(KubernetesToken, AFileThatIsBeingReplacedLeavesTheTokenAsItWas) {
  write_token("first");
  accept("first");
  auto a = join(with_token());
  const stores::grant held = hold(*a);
  write_token("two words");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  accept("second");
  expect_unknown(words(a->renew(term(held.version))), "answered 401");
  accept("first");
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
}

TEST_F(KubernetesToken, ATokenThatIsNoneEndsTheStart) {
  for (const char* text : {"", "two words", "a\nb", "\x01"}) {
    write_token(text);
    member a(loop_, with_token());
    const auto opened = a.open();
    ASSERT_FALSE(opened) << text;
    EXPECT_THAT(opened.error().text, HasSubstr(folder_ / "token"));
  }
  EXPECT_EQ(fake_.count("version") + fake_.count("list"), 0) << "nothing is sent without it";
}

// How replies come ------------------------------------------------------------------------------

TEST_F(HostileKubernetes, RepliesInSmallChunksAreReadWhole) {
  const auto in_chunks = [this](peer& to, const std::string& request) {
    const fake_kubernetes::reply what = fake_.truth(request);
    to.send("HTTP/1.1 " + std::to_string(what.status) +
            " So\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (const char c : what.body.dump()) to.send(std::string("1\r\n") + c + "\r\n");
    to.send("0\r\n\r\n");
  };
  for (const char* name : lease_calls) fake_.on(name, in_chunks);
  auto a = join();
  a->answer_within(patience);
  const stores::grant held = hold(*a);
  EXPECT_EQ(words(a->renew(term(held.version))), "renewed");
  EXPECT_EQ(words(a->release(0, held.version)), "released");
}

/// The reply to one request must never be read as that to another.
TEST_F(HostileKubernetes, AReplyThatComesTooLateIsNotTakenForALaterOne) {
  auto a = join();
  const stores::grant held = hold(*a);
  std::promise<void> over;
  const std::shared_future<void> is_over = over.get_future().share();
  std::atomic<int> late = 0;
  fake_.on("write", [&, is_over](peer& to, const std::string& request) {
    const fake_kubernetes::reply good = fake_.truth(request);
    is_over.wait();
    // Twice, so that one would be there before the next request.
    fake_kubernetes::say(to, good);
    fake_kubernetes::say(to, good);
    ++late;
  });
  expect_unknown(words(a->renew(term(held.version))));
  fake_.on("write", [](peer& to, const std::string&) { to.closed(); });
  over.set_value();
  ASSERT_TRUE(eventually(loop_, [&] { return late == 1; }));
  for (int i = 0; i < 3; ++i) expect_unknown(words(a->renew(term(held.version))));
  expect_usable(*a);
}

}  // namespace
}  // namespace tenure::tests
