// Replies that no etcd gives, from a fake one: none of them is ever taken for a grant.

#include <atomic>

#include "etcd_scene.hpp"
#include "fake_etcd.hpp"

namespace tenure::tests {
namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::StartsWith;

class HostileEtcd : public etcd_scene, public testing::Test {
 protected:
  std::unique_ptr<member> open_fake() { return join(settings("a", {fake_.endpoint()})); }

  /// The same, signed in with what is in the file.
  std::unique_ptr<member> open_with(const password_file& file) {
    fake_.on("/v3/auth/authenticate", "{" + header() + R"(,"token":"t"})");
    return join(file.of("root", settings("a", {fake_.endpoint()})));
  }

  fake_etcd fake_;
};

TEST_F(HostileEtcd, TheFakeIsTakenForAnEtcdAsLongAsItDoesNotLie) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
}

std::vector<nonsense> all_nonsense() {
  std::vector<nonsense> out = nonsense_of_any_server();
  out.insert(
      out.end(),
      {{"OnlyAHeader", body("{" + header() + "}")},
       {"CutShort", body(R"({"header":{"cluster_id":"7","mem)")},
       {"WrongTypes", body(R"({"header":7,"succeeded":"yes","responses":{},"ID":[],"TTL":{}})")},
       {"RevisionZero", body("{" + header("0") + R"(,"succeeded":true,"responses":[]})")},
       {"RevisionNegative", body("{" + header("-5") + R"(,"succeeded":true,"responses":[]})")},
       {"RevisionTooLarge",
        body("{" + header("18446744073709551615") + R"(,"succeeded":true,"responses":[]})")}});
  return out;
}

/// What comes of each on the paths of a lease.
class HostileReply : public HostileEtcd, public testing::WithParamInterface<nonsense> {};

INSTANTIATE_TEST_SUITE_P(Fake, HostileReply, testing::ValuesIn(all_nonsense()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST_P(HostileReply, ToACampaignIsUnknown) {
  auto a = open_fake();
  fake_.on("/v3/kv/txn", GetParam().how);
  EXPECT_THAT(words(acquire(*a, try_time)), StartsWith("unknown"));
}

TEST_P(HostileReply, ToTheGrantOfALeaseIsUnknown) {
  auto a = open_fake();
  fake_.on("/v3/lease/grant", GetParam().how);
  EXPECT_THAT(words(acquire(*a, try_time)), StartsWith("unknown"));
}

TEST_P(HostileReply, ToARenewalIsUnknown) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  fake_.on("/v3/lease/keepalive", GetParam().how);
  EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"));
}

TEST_P(HostileReply, ToAReleaseIsUnknown) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  fake_.on("/v3/kv/txn", GetParam().how);
  const std::string said = words(release(*a, held.version, try_time));
  // An answer without any part is one: the key was not there in this term.
  if (std::string(GetParam().name) == "OnlyAHeader") return;
  EXPECT_THAT(said, StartsWith("unknown"));
}

TEST_P(HostileReply, AtTheOpeningIsSaid) {
  fake_.on("/version", GetParam().how);
  fake_.on("/v3/kv/txn", GetParam().how);
  member a(loop_, settings("a", {fake_.endpoint()}));
  const auto opened = a.open();
  EXPECT_TRUE(!opened || !opened->warnings.empty()) << "a warning, or an error";
}

/// Each call would ask again at once, and keep it busy.
TEST_F(HostileEtcd, AServerThatIsTooBusyIsNotAskedBeforeItSays) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  fake_.on("/v3/kv/txn", [](peer& to, const std::string&) {
    to.send("HTTP/1.1 429 Too Many Requests\r\nRetry-After: 60\r\nContent-Length: 0\r\n\r\n");
  });
  EXPECT_THAT(words(release(*a, held.version, try_time)), HasSubstr("answered 429"));
  const int before = fake_.count("/v3/kv/txn");
  for (int i = 0; i < 3; ++i) {
    EXPECT_THAT(words(release(*a, held.version, try_time)), HasSubstr("answered 429"));
  }
  EXPECT_EQ(fake_.count("/v3/kv/txn"), before);
}

TEST_F(HostileEtcd, AVersionThatCannotBeReadIsAskedForAgain) {
  const auto asked = std::make_shared<std::atomic<int>>(0);
  fake_.on("/version", [asked](peer& to, const std::string&) {
    to.reply((*asked)++ == 0 ? "hello" : R"({"etcdserver":"3.5.26","etcdcluster":"3.5.0"})");
  });
  member a(loop_, settings("a", {fake_.endpoint()}));
  const auto opened = a.open();
  EXPECT_EQ(words(opened), "open");
  EXPECT_EQ(a->describe().server_version, "3.5.26");
  EXPECT_THAT(warnings_of(opened), testing::Not(HasSubstr("is not known")));
}

TEST_F(HostileEtcd, AVersionThatNeverCanBeReadIsSaidAndNothingElseFails) {
  fake_.on("/version", "hello\x1b");
  member a(loop_, settings("a", {fake_.endpoint()}));
  const auto opened = a.open();
  ASSERT_EQ(words(opened), "open");
  EXPECT_THAT(warnings_of(opened), HasSubstr("it is not JSON: hello\ufffd"));
  EXPECT_EQ(words(acquire(a, renewal_time)), "granted");
}

// Replies of the right form that contradict the request ------------------------------------------

TEST_F(HostileEtcd, RenewalOfAnotherLeaseIsNotOurs) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  fake_.on("/v3/lease/keepalive", R"({"result":{)" + header() + R"(,"ID":"99","TTL":"60"}})");
  EXPECT_THAT(words(renew(*a, held.version, try_time)),
              AllOf(StartsWith("unknown"), HasSubstr("another lease")));
}

TEST_F(HostileEtcd, TtlsThatCannotBeAreUnknown) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  for (const char* ttl : {"-1", "9223372036854775807", "9999999999999999999999", "1.5", "soon"}) {
    fake_.on("/v3/lease/keepalive", [ttl](peer& to, const std::string& request) {
      to.reply(R"({"result":{)" + header() + R"(,"ID":")" + field_of(request, "ID") +
               R"(","TTL":")" + ttl + "\"}}");
    });
    EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown")) << ttl;
  }
}

TEST_F(HostileEtcd, LeaseOfAnotherIdOrWithoutATtlIsNoGrant) {
  for (const char* lease : {R"("ID":"99","TTL":"60")", R"("ID":"-1","TTL":"60")"}) {
    fake_etcd other;
    auto a = join(settings("a", {other.endpoint()}));
    other.on("/v3/lease/grant", "{" + header() + "," + lease + "}");
    EXPECT_THAT(words(acquire(*a, try_time)), StartsWith("unknown")) << lease;
  }
  auto a = open_fake();
  fake_.on("/v3/lease/grant", [](peer& to, const std::string& request) {
    to.reply("{" + header() + R"(,"ID":")" + field_of(request, "ID") + "\"}");
  });
  EXPECT_THAT(words(acquire(*a, try_time)), StartsWith("unknown"));
}

/// Answers campaigns with these keys.
fake_etcd::answer campaign_shows(const std::string& kvs) {
  return [kvs](peer& to, const std::string& request) {
    std::string all = kvs;
    const auto put = request.rfind("request_put");
    const std::string there = put == std::string::npos ? "" : request.substr(put);
    for (const char* name : {"key", "value", "lease"}) {
      const std::string mark = "$" + std::string(name);
      const auto at = all.find(mark);
      if (at != std::string::npos) all.replace(at, mark.size(), field_of(there, name));
    }
    to.reply("{" + header() +
             R"(,"succeeded":true,"responses":[{"response_put":{}},{"response_range":{"kvs":[)" +
             all + R"(],"count":"9"}}]})");
  };
}

TEST_F(HostileEtcd, CampaignThatSucceedsWithoutOurKeyInFrontIsNoGrant) {
  const std::string other = R"({"key":"ZGIwLzE=","value":"b","create_revision":"3",)"
                            R"("mod_revision":"3","lease":"1"})";
  const std::vector<std::string> lies{
      "", other,
      // Ours, but behind another.
      other + R"(,{"key":"$key","value":"$value","create_revision":"5","mod_revision":"5",)"
              R"("lease":"$lease"})",
      // Of another lease, and of another identity.
      R"({"key":"$key","value":"$value","create_revision":"5","mod_revision":"5","lease":"1"})",
      R"({"key":"$key","value":"eA==","create_revision":"5","mod_revision":"5","lease":"$lease"})",
      // Made later than the reply, and changed before it was made.
      R"({"key":"$key","value":"$value","create_revision":"6","mod_revision":"6",)"
      R"("lease":"$lease"})",
      R"({"key":"$key","value":"$value","create_revision":"5","mod_revision":"4",)"
      R"("lease":"$lease"})",
      // Outside of the election.
      R"({"key":"ZGIwLnRlbnVyZQ==","value":"$value","create_revision":"5","mod_revision":"5",)"
      R"("lease":"$lease"})"};
  for (const std::string& lie : lies) {
    auto a = open_fake();
    fake_.on("/v3/kv/txn", campaign_shows(lie));
    EXPECT_THAT(words(acquire(*a, try_time)), AnyOf("refused", StartsWith("unknown"))) << lie;
    fake_.on("/v3/kv/txn", fake_etcd::answer());
  }
}

TEST_F(HostileEtcd, RevisionThatGoesBackwardsIsNotBelievedWithoutTheKey) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  // As after a backup was restored: the lease is there, the key is not.
  fake_.on("/v3/lease/keepalive", [](peer& to, const std::string& request) {
    to.reply(R"({"result":{)" + header("3") + R"(,"ID":")" + field_of(request, "ID") +
             R"(","TTL":"60"}})");
  });
  fake_.on("/v3/kv/txn",
           "{" + header("3") + R"(,"succeeded":true,"responses":[{"response_range":{}}]})");
  EXPECT_THAT(words(renew(*a, held.version, renewal_time)), StartsWith("lost"));
}

TEST_F(HostileEtcd, LeaderThatCouldNotBeVerifiedIsVerifiedByTheNextRenewal) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "renewed");
  fake_.on("/v3/lease/keepalive", [](peer& to, const std::string& request) {
    to.reply(R"({"result":{)" + header("5", "3") + R"(,"ID":")" + field_of(request, "ID") +
             R"(","TTL":"60"}})");
  });
  fake_.on("/v3/kv/txn", "no");
  EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"));
  EXPECT_THAT(words(renew(*a, held.version, try_time)), StartsWith("unknown"))
      << "the key has not been seen under the new leader";
}

// A loss that one of two answers shows, while the other does not come or fails ------------------

class EtcdLateAnswer : public HostileEtcd {
 protected:
  static void say_nothing(peer& to, const std::string&) { to.closed(); }

  void end_leases() {
    fake_.on("/v3/lease/keepalive", [over = have_ended_](peer& to, const std::string& request) {
      to.reply(R"({"result":{)" + header() + R"(,"ID":")" + field_of(request, "ID") + "\"}}");
      to.delivered();
      *over = true;
    });
  }
  void delete_keys() {
    fake_.on("/v3/kv/txn",
             "{" + header("7") + R"(,"succeeded":true,"responses":[{"response_range":{}}]})");
  }

  /// What says that the leases are gone was delivered.
  std::shared_ptr<std::atomic<bool>> have_ended_ = std::make_shared<std::atomic<bool>>(false);
};

/// An answer before the deadline: the caller counts all as unknown then.
TEST_F(EtcdLateAnswer, ALeaseThatIsGoneIsToldWhileTheLookStalls) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  end_leases();
  fake_.on("/v3/kv/txn", say_nothing);
  EXPECT_EQ(words(renew(*a, held.version, patience)), "lost: session_invalid");
}

TEST_F(EtcdLateAnswer, ALeaseThatIsGoneIsToldAlthoughTheLookFails) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  end_leases();
  fake_.on("/v3/kv/txn", [over = have_ended_](peer& to, const std::string& request) {
    while (!*over) {
      if (to.closed_within(std::chrono::milliseconds(1))) return;
    }
    status("503 Down", "no")(to, request);
  });
  EXPECT_EQ(words(renew(*a, held.version, try_time)), "lost: session_invalid");
}

TEST_F(EtcdLateAnswer, AKeyThatIsGoneIsToldWhileTheKeepaliveStalls) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  delete_keys();
  fake_.on("/v3/lease/keepalive", say_nothing);
  EXPECT_EQ(words(renew(*a, held.version, patience)), "lost: revoked");
}

TEST_F(EtcdLateAnswer, AKeyThatIsGoneIsToldAlthoughTheKeepaliveIsOfAnEarlierRaftTerm) {
  auto a = open_fake();
  const stores::grant held = a->hold();
  fake_.on("/v3/kv/txn",
           "{" + header("7", "3") + R"(,"succeeded":true,"responses":[{"response_range":{}}]})");
  EXPECT_EQ(words(renew(*a, held.version, renewal_time)), "lost: revoked");
}

const fake_http::answer token_unknown =
    status("401 No", R"({"code":16,"message":"etcdserver: invalid auth token"})");
const fake_http::answer password_wrong = status(
    "400 No",
    R"({"code":3,"message":"etcdserver: authentication failed, invalid user ID or password"})");

TEST_F(HostileEtcd, CallWaitsForASignInOfAnotherNoLongerThanItsOwnDeadline) {
  const password_file password;
  password.write("secret");
  auto a = open_with(password);
  const stores::grant held = a->hold();
  fake_.on("/v3/kv/txn", token_unknown);
  fake_.on("/v3/auth/authenticate", [](peer& to, const std::string&) { to.closed(); });
  bool patient_is_over = false;
  (*a)->read(core::election_index{0}, soon(),
             [&](const stores::read_outcome&) { patient_is_over = true; });
  ASSERT_TRUE(eventually([&] { return fake_.count("/v3/auth/authenticate") == 2; }));
  EXPECT_THAT(words(release(*a, held.version, try_time)), StartsWith("unknown"));
  EXPECT_FALSE(patient_is_over) << "the one with the later deadline waits on";
}

TEST_F(HostileEtcd, RefusalOfThePasswordBeforeIsNotForACallThatCameAfterTheChange) {
  const password_file password;
  password.write("before");
  auto a = open_with(password);
  const stores::grant held = a->hold();
  fake_.on("/v3/kv/txn", token_unknown);
  const auto changed = std::make_shared<std::atomic<bool>>(false);
  fake_.on("/v3/auth/authenticate", [changed](peer& to, const std::string& request) {
    if (field_of(request, "password") == "after") {
      to.reply("{" + header() + R"(,"token":"u"})");
      return;
    }
    while (!*changed && !to.closed_within(std::chrono::milliseconds(1))) {
    }
    password_wrong(to, request);
  });
  std::optional<std::string> first;
  std::optional<std::string> second;
  const auto note = [](std::optional<std::string>& into) {
    return [&into](const stores::release_outcome& what) { into = words(what); };
  };
  (*a)->release(core::election_index{0}, held.version, {}, soon(), note(first));
  ASSERT_TRUE(eventually([&] { return fake_.count("/v3/auth/authenticate") == 2; }));
  fake_.on("/v3/kv/txn", "{" + header() + R"(,"succeeded":true})");
  password.write("after");
  (*a)->release(core::election_index{0}, held.version, {}, soon(), note(second));
  *changed = true;
  ASSERT_TRUE(eventually([&] { return first && second; }));
  EXPECT_THAT(*first, AllOf(StartsWith("unknown"), HasSubstr("cannot sign in")));
  EXPECT_EQ(*second, "released");
}

}  // namespace
}  // namespace tenure::tests
