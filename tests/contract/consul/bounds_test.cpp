// Bounds that nothing else shows: from when a term counts, and how short a session may be.

#include <atomic>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>

#include "base/boot_time.hpp"
#include "hostile_scene.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;

class ConsulBounds : public HostileConsul {
 protected:
  static constexpr core::election_index first{0};

  std::unique_ptr<member> join_as(const std::string& identity, core::duration ttl) {
    auto out = join(announced(settings(identity, 1, ttl)));
    (*out)->announce(first, {.since_unix_ms = 1});
    return out;
  }

  /// The TTLs that sessions of this name are made with.
  std::function<std::vector<std::string>()> ttls_of(const std::string& name) {
    const auto all = std::make_shared<std::vector<std::string>>();
    const auto mutex = std::make_shared<std::mutex>();
    fake_.on("create", [this, name, all, mutex](peer& to, const std::string& request) {
      const auto asked = nlohmann::json::parse(body_in(request));
      if (asked.value("Name", "").starts_with(name)) {
        const std::lock_guard lock(*mutex);
        all->push_back(asked.value("TTL", ""));
      }
      fake_consul::say(to, fake_.truth(request));
    });
    return [all, mutex] {
      const std::lock_guard lock(*mutex);
      return *all;
    };
  }
};

/// Consul grants no shorter ones unless its servers are configured so, as those of the other tests
/// are; and a member that is gone is not to be listed for long.
TEST_F(ConsulBounds, TheSessionOfANameLastsFromTenToThirtySeconds) {
  for (const auto& [ttl, granted] :
       {std::pair(1s, "10000ms"), std::pair(15s, "15000ms"), std::pair(600s, "30000ms")}) {
    const auto made = ttls_of("tenure member");
    auto a = join_as("a", ttl);
    ASSERT_TRUE(eventually(loop_, [&] { return !made().empty(); }));
    EXPECT_EQ(made().front(), granted);
  }
}

/// A session may be renewed after its key was looked at, and what was seen counts from the look.
TEST_F(ConsulBounds, ATermThatIsFoundCountsFromTheLook) {
  auto a = join(settings("a"));
  a->hold();
  std::atomic<core::time_point> looked_at{core::never};
  fake_.on("read", [&](peer& to, const std::string& request) {
    looked_at = base::boot_now();
    to.closed_within(50ms);
    fake_consul::say(to, fake_.truth(request));
  });
  EXPECT_LE(a->hold().sent_at, looked_at.load());
}

/// Its renewals have had no answer for half of its time.
TEST_F(ConsulBounds, APlaceOfWhichHalfIsOverIsRenewedBeforeItIsATerm) {
  constexpr core::duration ttl = 3s;
  auto a = join_as("a", 60s);
  auto b = join_as("b", ttl);
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("a")); }));
  fake_.on("renew", [](peer& to, const std::string&) { to.closed(); });
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(
      loop_.run_until([&] { return by_b->shows([](const auto& o) { return o.in_line; }); }));
  const core::time_point late = base::boot_now() + ttl / 2;
  ASSERT_TRUE(eventually(loop_, [&] { return base::boot_now() >= late; }));
  fake_.repent("renew");
  const core::time_point passed_on_at = base::boot_now();
  a->release(old.version, {.clean = true});
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
  EXPECT_GT(b->hold().sent_at, passed_on_at);
}

/// Its agent ends then, and cancels what is still under way.
TEST_F(ConsulBounds, AMemberHasLeftOnceAllItsSessionsAreGone) {
  auto a = join_as("a", 60s);
  auto b = join_as("b", 60s);
  const auto by_b = b->watch();
  a->hold();
  ASSERT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("a")); }));
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(
      loop_.run_until([&] { return by_b->shows([](const auto& o) { return o.in_line; }); }));
  std::atomic<int> gone = 0;
  fake_.on("destroy", [&](peer& to, const std::string& request) {
    // Each is answered later than the one before it.
    to.closed_within(50ms * fake_.count("destroy"));
    ++gone;
    fake_consul::say(to, fake_.truth(request));
  });
  b->leave();
  EXPECT_EQ(gone, fake_.count("destroy"));
  EXPECT_GE(gone, 2)
      << "of its name and its place; and the one for its next term, if that was made";
}

}  // namespace
}  // namespace tenure::tests
