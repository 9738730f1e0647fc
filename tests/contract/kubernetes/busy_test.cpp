// API servers that say that they are too busy (429), and when they want to be asked again.

#include "virtual_scene.hpp"

namespace tenure::tests {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;

http::client_reply busy(const std::string& retry_after) {
  return virtual_reply(429, status_json(429, "TooManyRequests", "too many"),
                       {{.name = "Retry-After", .value = retry_after}});
}

class KubernetesPressure : public VirtualKubernetes {
 protected:
  /// From now on all calls of these names get this answer.
  void press(const std::string& retry_after,
             const std::vector<std::string>& names = {"list", "get", "create", "write"}) {
    for (const std::string& name : names) {
      api_.on(name, [retry_after](const auto&) { return busy(retry_after); });
    }
  }

  [[nodiscard]] int asked() const {
    return api_.count("list") + api_.count("get") + api_.count("create") + api_.count("write") +
           api_.count("watch");
  }

  void renew_by(stores::store& who, core::duration within) {
    came_.reset();
    who.renew(term(held_.version), loop_.now() + within,
              [this](auto what) { came_ = words(what); });
  }
  void acquire_by(stores::store& who, core::duration within) {
    came_.reset();
    who.acquire(core::election_index{0}, core::no_version, loop_.now() + within,
                [this](const auto& what) { came_ = words(what); });
  }

  std::optional<std::string> came_;
};

TEST_F(KubernetesPressure, IsWaitedForAsLongAsTheServerSays) {
  auto a = join(settings("a", seconds(60)));
  ASSERT_EQ(acquire(*a), "granted");
  press("3");
  renew_by(*a, seconds(10));
  loop_.pass(milliseconds(2900));
  EXPECT_FALSE(came_);
  api_.repent();
  const int before = asked();
  loop_.pass(milliseconds(90));
  EXPECT_EQ(asked(), before);
  loop_.pass(seconds(1));
  EXPECT_EQ(came_, "renewed") << "up to a quarter later, so that not all come at once";
}

/// The caller would ask again after 20 ms.
TEST_F(KubernetesPressure, BeyondTheDeadlineKeepsACallUntilThen) {
  auto a = join(settings("a", seconds(60)));
  ASSERT_EQ(acquire(*a), "granted");
  press("30");
  const int before = asked();
  renew_by(*a, seconds(4));
  loop_.pass(milliseconds(3990));
  EXPECT_FALSE(came_);
  loop_.pass(milliseconds(20));
  EXPECT_THAT(came_, testing::Optional(HasSubstr("answered 429: too many")));
  EXPECT_EQ(asked() - before, 2) << "once more in between, for the lease's sake";
}

TEST_F(KubernetesPressure, IsRememberedForOtherCalls) {
  auto a = join(settings("a", seconds(60)));
  hold_as_another(seconds(3600));
  press("30");
  acquire_by(*a, seconds(2));
  loop_.pass(seconds(3));
  api_.repent();
  const int before = asked();
  for (int i = 0; i < 5; ++i) {
    acquire_by(*a, seconds(2));
    loop_.pass(seconds(3));
    EXPECT_THAT(came_, testing::Optional(HasSubstr("answered 429: too many")));
  }
  EXPECT_EQ(asked(), before);
  loop_.pass(seconds(20));
  EXPECT_EQ(acquire(*a), "refused");
}

/// Nobody waits for a day because something in between says so.
TEST_F(KubernetesPressure, IsWaitedForNoLongerThanAMinuteWhateverTheServerSays) {
  auto a = join(settings("a", seconds(3600)));
  ASSERT_EQ(acquire(*a), "granted");
  press("86400", {"write"});
  renew_by(*a, milliseconds(10));
  loop_.pass(seconds(1));
  api_.repent();
  const int before = api_.count("write");
  renew_by(*a, seconds(200));
  loop_.pass(seconds(48));
  EXPECT_EQ(api_.count("write"), before);
  loop_.pass(seconds(30));
  EXPECT_EQ(came_, "renewed") << "a minute, and up to a quarter more";
}

TEST_F(KubernetesPressure, IsOverOnceTheServerAnswers) {
  auto a = join(settings("a", seconds(60)));
  ASSERT_EQ(acquire(*a), "granted");
  press("30");
  renew_by(*a, seconds(4));
  loop_.pass(seconds(1));
  api_.repent();
  loop_.pass(milliseconds(1100));
  EXPECT_EQ(came_, "renewed");
  EXPECT_EQ(renew(*a), "renewed") << "at once";
}

TEST_F(KubernetesPressure, OfOneServerSendsCallsToAnother) {
  stores::setup with = settings("a", seconds(60));
  with.endpoints = {"http://10.0.0.1:6443", "http://10.0.0.2:6443"};
  auto a = join(with);
  ASSERT_EQ(acquire(*a), "granted");
  int refused = 0;
  api_.on("write", [&](const http::client_request& what) {
    if (api_.asked() != "10.0.0.1") return api_.truth(what);
    ++refused;
    return busy("30");
  });
  for (int i = 0; i < 5; ++i) EXPECT_EQ(renew(*a), "renewed");
  EXPECT_EQ(refused, 1);
}

TEST_F(KubernetesPressure, OnAWatchIsWaitedFor) {
  auto a = join(settings("a", seconds(60)));
  press("20", {"watch"});
  api_.cut_watches();
  loop_.pass(milliseconds(100));
  const int before = asked();
  loop_.pass(seconds(19));
  EXPECT_EQ(asked(), before) << "neither a watch nor a list";
  api_.repent();
  loop_.pass(seconds(10));
  EXPECT_EQ(api_.open_watches(), 2U);
}

}  // namespace
}  // namespace tenure::tests
