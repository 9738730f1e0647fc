// What a holder is told when its session is gone: at once, and with room for grace only where
// Consul's lock-delay is known to protect the lock key.

#include "hostile_scene.hpp"
#include "stores/consul/layout.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;
using stores::consul::lock_flags;

/// "lost: REASON, ROOM s" of the first term.
std::string words_and_room(const stores::renew_outcome& what) {
  const auto* said = std::get_if<stores::renewal>(&what);
  if (said == nullptr || said->lost.empty()) return words(what);
  return words(what) + ", " + std::to_string(said->lost.front().room / 1s) + " s";
}

/// With a lock-delay of a minute, and sessions that do not end by themselves.
class ConsulLoss : public ConsulScene {
 protected:
  stores::setup delayed(const std::string& identity, std::uint32_t slots = 1) const {
    stores::setup out = settings(identity, 24h, slots);
    out.consul.lock_delay = 60s;
    return out;
  }

  /// Where the look at the key is late, a loss does not wait for it, and has no room.
  void expect_told(member& who, const stores::grant& what, const std::string& loss) {
    std::string said;
    EXPECT_TRUE(eventually(loop_, [&] {
      said = words_and_room(who.renew(term(what.version)));
      return said == loss || !said.ends_with(", 0 s");
    }));
    EXPECT_EQ(said, loss);
  }

  static std::string session_of(const stores::grant& what) {
    return what.sequencer.substr(what.sequencer.rfind('@') + 1);
  }
};

INSTANTIATE_TEST_SUITE_P(Servers, ConsulLoss, testing::ValuesIn(servers::consul_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(ConsulLoss, OfASessionThatEndsWhileItHoldsTheLockHasTheRoomOfItsLockDelay) {
  start();
  auto a = join(delayed("a"));
  const stores::grant held = a->hold();
  destroy(session_of(held));
  expect_told(*a, held, "lost: session_invalid, 60 s");
  EXPECT_EQ(words(join(settings("b"))->acquire()), "refused") << "the lock-delay lasts";
}

/// A release starts no lock-delay: the next holder may have been granted the lock long before.
TEST_P(ConsulLoss, OfALockThatWasReleasedBeforeItsSessionEndedHasNoRoom) {
  start();
  auto a = join(delayed("a"));
  const stores::grant held = a->hold();
  put("/v1/kv/db0/.lock?release=" + session_of(held));
  auto b = join(settings("b", 24h));
  const stores::grant next = b->hold();
  destroy(session_of(held));
  expect_told(*a, held, "lost: taken_over, 0 s");
  ASSERT_EQ(words(b->release(0, next.version)), "released");
  expect_told(*a, held, "lost: revoked, 0 s");
}

TEST_P(ConsulLoss, OfAKeyThatWasDeletedOrWrittenBeforeItsSessionEndedHasNoRoom) {
  start();
  auto a = join(delayed("a"));
  const stores::grant first = a->hold();
  EXPECT_EQ(cluster_->call("DELETE", "/v1/kv/db0/.lock").status, 200);
  destroy(session_of(first));
  expect_told(*a, first, "lost: revoked, 0 s");

  const stores::grant second = a->hold();
  put("/v1/kv/db0/.lock?flags=" + std::to_string(lock_flags), "of an operator");
  destroy(session_of(second));
  expect_told(*a, second, "lost: revoked, 0 s");
}

/// Nothing tells a key that went with its session from one that was deleted before.
TEST_P(ConsulLoss, OfASessionThatTakesItsKeyAlongHasNoRoom) {
  start();
  stores::setup with = delayed("a");
  with.consul.behavior = settings::session_behavior::remove;
  auto a = join(with);
  const stores::grant held = a->hold();
  destroy(session_of(held));
  expect_told(*a, held, "lost: session_invalid, 0 s");
}

TEST_P(ConsulLoss, OfASlotHasNoRoom) {
  start();
  auto a = join(delayed("a", 2));
  const stores::grant held = a->hold();
  destroy(session_of(held));
  expect_told(*a, held, "lost: session_invalid, 0 s");
}

/// Who has lost it uses the time: a semaphore in its place would grant at once.
TEST_P(ConsulLoss, OfALockIsWaitedForAlsoByMembersWithMoreSlots) {
  start();
  auto a = join(delayed("a"));
  const stores::grant held = a->hold();
  destroy(session_of(held));
  auto b = join(settings("b", 10s, 2));
  EXPECT_EQ(words(b->acquire()), "refused") << "the lock-delay lasts";
  EXPECT_EQ(b->read().agreed.slots, 1U);
}

// What a real Consul cannot be made to show: one of two answers that does not come ---------------

class ConsulLateAnswer : public HostileConsul {
 protected:
  /// By what their renewals say.
  void end_sessions() {
    fake_.on("renew", [](peer& to, const std::string& request) {
      const std::string path = path_of(request);
      status("404 Not Found", "Session id '" + path.substr(path.rfind('/') + 1) + "' not found")(
          to, request);
    });
  }
  static void say_nothing(peer& to, const std::string&) { to.closed(); }

  stores::setup delayed() const {
    stores::setup out = settings("a");
    out.consul.lock_delay = 60s;
    return out;
  }
};

TEST_F(ConsulLateAnswer, AGoneSessionIsToldWhileTheLookStalls) {
  for (const bool is_delayed : {false, true}) {
    auto a = join(is_delayed ? delayed() : settings("a"));
    const stores::grant held = a->hold();
    end_sessions();
    fake_.on("look", say_nothing);
    EXPECT_EQ(words_and_room(a->renew(term(held.version))), "lost: session_invalid, 0 s");
    fake_.repent("renew");
    expect_usable(*a);
  }
}

TEST_F(ConsulLateAnswer, AGoneSessionIsToldAlthoughTheLookFails) {
  auto a = join(delayed());
  const stores::grant held = a->hold();
  end_sessions();
  fake_.on("look", [this](peer& to, const std::string& request) {
    while (fake_.count("renew") == 0) {
      if (to.closed_within(1ms)) return;
    }
    status("500 Internal Server Error", "No cluster leader")(to, request);
  });
  EXPECT_EQ(words_and_room(a->renew(term(held.version))), "lost: session_invalid, 0 s");
}

TEST_F(ConsulLateAnswer, ATermThatIsGoneByItsKeyIsToldWhileTheRenewalStalls) {
  auto a = join();
  const stores::grant held = a->hold();
  fake_.on("renew", say_nothing);
  fake_.put("db0/.lock", "", lock_flags);
  EXPECT_EQ(words_and_room(a->renew(term(held.version))), "lost: revoked, 0 s");
}

/// One dead session says nothing of the terms in another one.
TEST_F(ConsulLateAnswer, OfTheTermsInAnotherSessionNothingIsSaid) {
  stores::setup with = settings_for("consul", fake_.endpoint(), "a", 60s, 1, 2);
  auto a = join(with);
  const stores::grant first = a->hold(0);
  const std::string session = first.sequencer.substr(first.sequencer.rfind('@') + 1);
  fake_.on("write", [this, session](peer& to, const std::string& request) {
    if (!request.contains(session)) return fake_consul::say(to, fake_.truth(request));
    status("409 Conflict", R"({"Results":null,"Errors":[{"OpIndex":1,"What":"invalid session \")" +
                               session + R"(\""}]})")(to, request);
  });
  const stores::grant second = a->hold(1);
  fake_.on("renew", [this, session](peer& to, const std::string& request) {
    if (!request.contains(session)) return fake_consul::say(to, fake_.truth(request));
    status("404 Not Found", "Session id '" + session + "' not found")(to, request);
  });
  fake_.on("look", say_nothing);
  const auto said = a->renew({{.which = core::election_index{0}, .version = first.version},
                              {.which = core::election_index{1}, .version = second.version}});
  const auto* told = std::get_if<stores::renewal>(&said);
  ASSERT_TRUE(told) << words(said);
  ASSERT_EQ(told->lost.size(), 1U);
  EXPECT_EQ(told->lost.front().which, core::election_index{0});
  ASSERT_EQ(told->unanswered.size(), 1U);
  EXPECT_EQ(told->unanswered.front().which, core::election_index{1});
}

}  // namespace
}  // namespace tenure::tests
