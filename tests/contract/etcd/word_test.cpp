// The word of decision 43: the member that comes next is told of the end of a term while the
// release is on its way.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "etcd_scene.hpp"

namespace tenure::tests {
namespace {

constexpr core::election_index first{0};

class EtcdWord : public EtcdNode {
 protected:
  /// A member that is told at "at IDENTITY", and whose own words are kept in `told_`.
  std::unique_ptr<member> join_as(const std::string& identity, core::duration ttl = long_ttl) {
    stores::setup with = announced(settings(identity, {etcd_->endpoint()}, ttl));
    with.peer_address = "at-" + identity;
    with.tell = [this](const std::string& to, const core::word& what) {
      told_.emplace_back(to, what);
    };
    return join(with);
  }

  /// Each sees the other in the list of members.
  line_of_two stand_in_line(core::duration ttl_of_b = long_ttl) {
    line_of_two out{
        .a = join_as("a"), .b = join_as("b", ttl_of_b), .by_a = {}, .by_b = {}, .old = {}};
    out.by_a = out.a->watch();
    out.by_b = out.b->watch();
    out.old = out.a->hold();
    (*out.b)->stand_in_line(first, true);
    EXPECT_TRUE(eventually([&] { return line() == std::vector<std::string>{"a", "b"}; }));
    // Some of its writes come after its name.
    EXPECT_TRUE(
        eventually([&] { return etcd_operator(*etcd_).keys("db0.tenure.ready/").size() == 2; }));
    EXPECT_TRUE(settled(*out.by_a));
    EXPECT_TRUE(settled(*out.by_b));
    return out;
  }

  /// A watch that has shown the last write.
  [[nodiscard]] bool settled(const sightings& by) {
    etcd_operator(*etcd_).put("db0.tenure.mark", std::to_string(++marks_));
    const auto keys = etcd_operator(*etcd_).keys("db0.tenure.mark");
    const core::version written{keys.at(0).mod_revision};
    return loop_.run_until(
        [&] { return by.shows([&](const auto& o) { return o.as_of >= written; }); });
  }

  std::vector<std::string> line() {
    std::vector<std::string> out;
    for (const auto& one : etcd_operator(*etcd_).keys("db0/")) out.push_back(one.value);
    return out;
  }

  /// The release of a, which does not come to etcd before `etcd_->thaw(0)`.
  void release_into_the_void(line_of_two& of, stores::release_details how = {.clean = true}) {
    etcd_->freeze(0);
    (*of.a)->release(first, of.old.version, std::move(how), soon(),
                     [this](const stores::release_outcome& what) { released_ = words(what); });
  }

  std::vector<std::pair<std::string, core::word>> told_;
  std::string released_;
  int marks_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Servers, EtcdWord, testing::ValuesIn(servers::etcd_releases()),
                         [](const auto& one) { return one.param.name; });

TEST_P(EtcdWord, TheNextOneBeginsWithoutTheStore) {
  line_of_two two = stand_in_line();
  release_into_the_void(two);
  ASSERT_EQ(told_.size(), 1U);
  EXPECT_EQ(told_[0].first, "at-b");
  (*two.b)->hear(told_[0].second);
  ASSERT_TRUE(two.by_b->shows(held_by("b")));
  const stores::grant next = two.b->hold();
  EXPECT_GT(next.version, two.old.version);
  EXPECT_TRUE(next.released_cleanly);

  etcd_->thaw(0);
  ASSERT_TRUE(loop_.run_until([&] { return released_ == "released"; }));
  EXPECT_EQ(line(), std::vector<std::string>{"b"});
  EXPECT_EQ(words(renew(*two.b, next.version, renewal_time)), "renewed");
  ASSERT_TRUE(loop_.run_until([&] { return two.by_a->shows(held_by("b")); }));
  EXPECT_TRUE(settled(*two.by_b));
  EXPECT_TRUE(two.by_b->shows(held_by("b")));
}

TEST_P(EtcdWord, TheNextOneBeginsWithoutTheStoreHoweverLongItHasWaited) {
  constexpr core::duration ttl = std::chrono::seconds(6);
  line_of_two two = stand_in_line(ttl);
  // Its first confirmation would be too old by then.
  const core::time_point later = base::boot_now() + ttl;
  ASSERT_TRUE(loop_.run_until([&] { return base::boot_now() >= later; }));
  release_into_the_void(two);
  ASSERT_EQ(told_.size(), 1U);
  (*two.b)->hear(told_[0].second);
  const stores::grant next = two.b->hold();
  EXPECT_GT(next.version, two.old.version);
  EXPECT_LT(base::boot_now(), next.sent_at + next.ttl);
  etcd_->thaw(0);
  EXPECT_EQ(words(renew(*two.b, next.version, renewal_time)), "renewed");
}

TEST_P(EtcdWord, ATermIsRenewedAndReadWhileTheKeyBeforeItIsThere) {
  line_of_two two = stand_in_line();
  release_into_the_void(two);
  ASSERT_EQ(told_.size(), 1U);
  two.a->close();  // its release never comes
  (*two.b)->hear(told_[0].second);
  const stores::grant next = two.b->hold();
  etcd_->thaw(0);
  EXPECT_EQ(words(renew(*two.b, next.version, renewal_time)), "renewed");
  EXPECT_EQ(line(), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(held_by("b")(two.b->read())) << "also as it reads";
  EXPECT_EQ(two.b->hold().version, next.version) << "it holds already";
  // Else it has a new place behind a, sooner or later.
  (*two.b)->stand_in_line(first, false);
  two.b->release(next.version, {.clean = true});
  EXPECT_EQ(line(), std::vector<std::string>{"a"});
  EXPECT_TRUE(loop_.run_until([&] { return two.by_b->shows(held_by("a")); }));
}

TEST_P(EtcdWord, CountsForOnePlaceOfOneTermAlone) {
  line_of_two two = stand_in_line();
  release_into_the_void(two);
  ASSERT_EQ(told_.size(), 1U);
  const core::word good = told_[0].second;
  const auto changed = [&](auto how) {
    core::word out = good;
    how(out);
    return out;
  };
  const auto next_of = [](core::version v) { return core::version{core::number(v) + 1}; };
  for (const core::word& bad :
       {changed([](core::word& w) { w.election = "db1"; }),
        changed([](core::word& w) { w.election = ""; }),
        changed([&](core::word& w) { w.ended = next_of(w.ended); }),
        changed([&](core::word& w) { w.told = next_of(w.told); }),
        changed([](core::word& w) { w.signature[0] = static_cast<char>(w.signature[0] ^ 1); }),
        changed([](core::word& w) { w.signature.clear(); })}) {
    (*two.b)->hear(bad);
    EXPECT_FALSE(two.by_b->shows(held_by("b"))) << bad.election;
  }
  (*two.a)->hear(good);
  EXPECT_FALSE(two.by_a->shows(held_by("b"))) << "it is not for a";
  (*two.b)->hear(good);
  EXPECT_TRUE(two.by_b->shows(held_by("b")));
  (*two.b)->hear(good);
  EXPECT_TRUE(two.by_b->shows(held_by("b"))) << "a second time changes nothing";
  etcd_->thaw(0);
}

TEST_P(EtcdWord, AnOldOneIsWorthNothing) {
  line_of_two two = stand_in_line();
  two.a->release(two.old.version, {.clean = true});
  ASSERT_EQ(told_.size(), 1U);
  ASSERT_TRUE(loop_.run_until([&] { return two.by_b->shows(held_by("b")); }));
  const stores::grant of_b = two.b->hold();
  two.b->release(of_b.version, {.clean = true});
  const stores::grant again = two.a->hold();
  ASSERT_TRUE(eventually([&] { return line() == std::vector<std::string>{"a", "b"}; }));
  ASSERT_TRUE(settled(*two.by_b));
  core::word old = told_[0].second;
  (*two.b)->hear(old);
  old.ended = again.version;
  old.told = core::version{etcd_operator(*etcd_).keys("db0/").at(1).create_revision};
  (*two.b)->hear(old);
  EXPECT_TRUE(two.by_b->shows(held_by("a")));
}

TEST_P(EtcdWord, IsNotToldOfAnEndThatIsNotClean) {
  line_of_two two = stand_in_line();
  two.a->release(two.old.version, {.clean = false});
  EXPECT_TRUE(told_.empty());
}

TEST_P(EtcdWord, IsNotToldIfAnotherMemberIsNamed) {
  line_of_two two = stand_in_line();
  two.a->release(two.old.version, {.clean = true, .heir = "c"});
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(line().empty());
}

TEST_P(EtcdWord, TheOneThatIsNamedIsToldIfItStandsInLine) {
  line_of_two two = stand_in_line();
  two.a->release(two.old.version, {.clean = true, .heir = "b"});
  EXPECT_EQ(told_.size(), 1U);
  EXPECT_EQ(line(), std::vector<std::string>{"b"});
}

TEST_P(EtcdWord, AReleaseThatIsRepeatedTellsNothingElse) {
  line_of_two two = stand_in_line();
  release_into_the_void(two);
  ASSERT_EQ(told_.size(), 1U);
  // Somebody has named another member meanwhile: b may have begun.
  (*two.a)->release(first, two.old.version, {.clean = true, .heir = "c"}, soon(),
                    [](const stores::release_outcome&) {});
  EXPECT_EQ(told_.size(), 1U);
  etcd_->thaw(0);
  ASSERT_TRUE(loop_.run_until([&] { return released_ == "released"; }));
  EXPECT_EQ(line(), std::vector<std::string>{"b"});
}

TEST_P(EtcdWord, AProgramBetweenIsNext) {
  auto a = join_as("a");
  auto b = join_as("b");
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  etcd_operator(*etcd_).put("db0/1234", "a program");
  ASSERT_TRUE(settled(*by_a));
  ASSERT_TRUE(settled(*by_b));
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(
      eventually([&] { return line() == std::vector<std::string>{"a", "a program", "b"}; }));
  ASSERT_TRUE(settled(*by_a));
  a->release(old.version, {.clean = true});
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("a program")); }));
}

/// Whom it has told, and whether that member has held and is gone, nobody else can know.
TEST_P(EtcdWord, AHolderThatMayHaveToldSomebodyIsNotEndedCleanlyByAnother) {
  line_of_two two = stand_in_line();
  const auto c = join_as("c");
  const core::holder its = c->read().holders.at(0);
  two.a->close();
  EXPECT_EQ(words(c->end_term(its, {.clean = true})), "released");
  ASSERT_TRUE(loop_.run_until([&] { return two.by_b->shows(held_by("b")); }));
  EXPECT_FALSE(two.b->hold().released_cleanly);
}

TEST_P(EtcdWord, WhoHasLeftTheLineIsNotNext) {
  line_of_two two = stand_in_line();
  etcd_->freeze(0);
  (*two.b)->stand_in_line(first, false);  // its key is being deleted
  (*two.a)->release(first, two.old.version, {.clean = true}, soon(),
                    [this](const stores::release_outcome& what) { released_ = words(what); });
  ASSERT_EQ(told_.size(), 1U);
  (*two.b)->hear(told_[0].second);
  EXPECT_TRUE(two.by_b->shows(held_by("a")));
  etcd_->thaw(0);
  ASSERT_TRUE(loop_.run_until([&] { return released_ == "released"; }));
}

TEST_P(EtcdWord, TheSealIsThereAsLongAsItsKey) {
  line_of_two two = stand_in_line();
  const auto seals = [&] { return etcd_operator(*etcd_).keys("db0.tenure.seal/").size(); };
  EXPECT_EQ(seals(), 2U);
  (*two.b)->stand_in_line(first, false);
  EXPECT_TRUE(eventually([&] { return line().size() == 1; }));
  EXPECT_EQ(seals(), 1U);
  two.a->release(two.old.version, {.clean = true});
  EXPECT_EQ(seals(), 0U);
}

TEST_P(EtcdWord, IsNotForMembersWithoutAChannel) {
  auto a = join_as("a");
  auto b = join(announced(settings("b", {etcd_->endpoint()})));
  const auto by_a = a->watch();
  const auto by_b = b->watch();
  const stores::grant old = a->hold();
  (*b)->stand_in_line(first, true);
  ASSERT_TRUE(eventually([&] { return line() == std::vector<std::string>{"a", "b"}; }));
  ASSERT_TRUE(settled(*by_a));
  EXPECT_EQ(etcd_operator(*etcd_).keys("db0.tenure.seal/").size(), 1U) << "that of a";
  a->release(old.version, {.clean = true});
  EXPECT_TRUE(told_.empty());
  EXPECT_TRUE(loop_.run_until([&] { return by_b->shows(held_by("b")); }));
}

}  // namespace
}  // namespace tenure::tests
