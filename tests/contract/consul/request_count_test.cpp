// How many requests it takes. They are counted by a fake, which sees each of them; what Consul
// itself counts over minutes, `consul_bench` shows.

#include "hostile_scene.hpp"
#include "stores/consul/layout.hpp"

namespace tenure::tests {
namespace {

using namespace std::chrono_literals;

class ConsulRequests : public HostileConsul {
 protected:
  /// An agent that is told of this many elections, all of one folder.
  std::unique_ptr<member> join_folder(std::uint32_t elections) {
    stores::setup with = settings("a");
    with.elections.clear();
    for (std::uint32_t i = 0; i < elections; ++i) {
      with.elections.push_back({.name = "f/e" + std::to_string(i)});
    }
    auto made = join(with);
    made->answer_within(patience);
    return made;
  }

  /// How many of these requests the call makes.
  [[nodiscard]] int requests(const std::string& name, const std::function<void()>& of) const {
    const int before = fake_.count(name);
    of();
    return fake_.count(name) - before;
  }

  /// How many of each kind that is answered at once: everything but a watch.
  [[nodiscard]] std::map<std::string, int> calls() const {
    std::map<std::string, int> all;
    for (const char* name :
         {"self", "lock key", "read", "create", "renew", "destroy", "look", "write"}) {
      all[name] = fake_.count(name);
    }
    return all;
  }

  static bool held(const core::observation& seen) { return !seen.holders.empty(); }
};

TEST_F(ConsulRequests, OneRenewalIsSentForAllElectionsAndOneLookForSixtyFourOfThem) {
  constexpr std::uint32_t elections = 200;
  auto a = join_folder(elections);
  std::vector<core::renewal_item> all;
  const int sessions = requests("create", [&] {
    for (std::uint32_t i = 0; i < elections; ++i) {
      all.push_back({.which = core::election_index{i}, .version = a->hold(i).version});
    }
  });
  EXPECT_EQ(sessions, 1);
  int looks = 0;
  const int renewals = requests("renew", [&] {
    looks = requests("look", [&] { EXPECT_EQ(words(a->renew(all)), "renewed"); });
  });
  EXPECT_EQ(renewals, 1);
  EXPECT_EQ(looks, 4);
}

TEST_F(ConsulRequests, AFolderIsWatchedByOneQueryAndAnIdleStandbyAsksForNothingElse) {
  auto a = join_folder(40);
  const auto seen = a->watch(39);
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(held)); }));
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("watch") > 0; }));
  const auto before = calls();
  const int watches = fake_.count("watch");
  EXPECT_EQ(watches, 1);
  // The news of another holder, and the next query.
  fake_.put("f/e39/.lock", "", stores::consul::lock_flags);
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("watch") > watches; }));
  EXPECT_EQ(fake_.count("watch"), watches + 1);
  EXPECT_EQ(calls(), before) << "no session, no renewal, no read";
}

TEST_F(ConsulRequests, AHandOverBetweenListedMembersIsOneWriteOfEach) {
  stores::setup with = settings("a");
  with.announce = true;
  auto a = join(with);
  const stores::grant held_by_a = a->hold();
  with.identity = "b";
  auto b = join(with);
  const auto seen_by_a = a->watch();
  const auto seen = b->watch();
  // Its name in the list, and a session that is ready for the lock.
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("create") == 4; }));
  // The first read of each, and the look that a new subscription asks for.
  ASSERT_TRUE(eventually(loop_, [&] { return fake_.count("read") == 4; }));
  const auto shows_both = [](const core::observation& o) {
    return held(o) && o.members && o.members->size() == 2;
  };
  ASSERT_TRUE(
      loop_.run_until([&] { return seen_by_a->shows(shows_both) && seen->shows(shows_both); }));
  auto expected = calls();
  expected["write"] += 2;
  ASSERT_EQ(words(a->release(0, held_by_a.version)), "released");
  ASSERT_TRUE(loop_.run_until([&] { return seen->shows(std::not_fn(held)); }));
  b->hold();
  EXPECT_EQ(calls(), expected);
}

}  // namespace
}  // namespace tenure::tests
