// When a watch shows what is new, with a clock that is moved by hand: changes of a long list of
// members wait, nothing else does. The events are written into the mirror; that a real etcd's
// arrive there is in tests/contract/etcd.
#include "stores/etcd/subscriptions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/etcd/watch_events.hpp"
#include "unit/etcd/watched_election.hpp"

namespace tenure::stores::etcd {
namespace {

using namespace std::chrono_literals;

constexpr core::election_index db{0};

class Subscriptions : public ::testing::Test {
 protected:
  Subscriptions() {
    its_.connect();
    subscribers_.add(db, [this](const std::variant<core::observation, unknown>& what) {
      if (const auto* seen = std::get_if<core::observation>(&what)) shown_.push_back(*seen);
    });
    its_.loop.run();
  }
  void TearDown() override { subscribers_.close(); }

  /// etcd tells that this key was written.
  void comes(const std::string& name, const std::string& value) {
    its_.mirrors[0].apply(std::vector{came(name, value, ++revision_)});
    subscribers_.changed(db);
  }
  void member_comes() {
    ++members_;
    comes("db.tenure.members/" + std::to_string(members_), "m" + std::to_string(members_));
  }
  void members_come(int count) {
    for (int i = 0; i < count; ++i) member_comes();
  }

  [[nodiscard]] std::size_t last_members() const { return shown_.back().members.value().size(); }

  std::vector<core::observation> shown_;
  std::uint64_t revision_ = 100;
  int members_ = 0;
  watched_election its_{{.changed = [](core::election_index) {},
                         .live = [] {},
                         .broken = [](const call_failure&) {},
                         .heard = {}}};
  subscriptions subscribers_{its_.loop,     its_.endpoints,
                             its_.mirrors,  its_.ranges,
                             its_.watching, [](core::election_index) { return false; }};
};

TEST_F(Subscriptions, ShowEachMemberOfAFewAtOnce) {
  const std::size_t before = shown_.size();
  members_come(100);
  EXPECT_EQ(shown_.size(), before + 100);
  EXPECT_EQ(last_members(), 100U);
}

TEST_F(Subscriptions, ShowManyMembersThatComeSoonAfterEachOtherTogether) {
  members_come(100);
  const std::size_t before = shown_.size();
  for (int i = 0; i < 50; ++i) {
    member_comes();
    its_.loop.pass(1ms);
  }
  EXPECT_EQ(shown_.size(), before);
  its_.loop.pass(1s);
  EXPECT_EQ(shown_.size(), before + 1);
  EXPECT_EQ(last_members(), 150U);
}

TEST_F(Subscriptions, ShowAHolderAtOnceHoweverManyMembersThereAre) {
  members_come(150);
  its_.loop.pass(1s);
  member_comes();
  const std::size_t before = shown_.size();
  comes("db/1", "m1");
  ASSERT_EQ(shown_.size(), before + 1);
  EXPECT_EQ(shown_.back().holders.front().identity, "m1");
  EXPECT_EQ(last_members(), 151U) << "what waits is shown with it";
  its_.loop.pass(1s);
  EXPECT_EQ(shown_.size(), before + 1) << "and not again";
}

TEST_F(Subscriptions, ShowWhatHasWaitedAlsoIfMoreAndMoreComes) {
  members_come(101);
  const std::size_t before = shown_.size();
  for (int i = 0; i < 100; ++i) {
    member_comes();
    its_.loop.pass(10ms);
  }
  EXPECT_GT(shown_.size(), before);
  EXPECT_LT(shown_.size(), before + 10);
}

TEST_F(Subscriptions, ThatAreClosedShowNothingThatHasWaited) {
  members_come(101);
  const std::size_t before = shown_.size();
  subscribers_.close();
  its_.loop.pass(1s);
  EXPECT_EQ(shown_.size(), before);
}

}  // namespace
}  // namespace tenure::stores::etcd
