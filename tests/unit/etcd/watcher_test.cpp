// When a watch that breaks is opened again: with a loop whose clock is moved by hand, and a server
// that answers every read alike. What a real etcd does to a watch is in tests/contract/etcd.
#include "stores/etcd/watcher.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/etcd/watched_election.hpp"

namespace tenure::stores::etcd {
namespace {

using namespace std::chrono_literals;

class Watcher : public ::testing::Test {
 protected:
  Watcher() { its_.connect(); }

  void break_stream() {
    const auto open = its_.requests.streams.back();
    open->ended(http::client_error{.text = "reset"});
    its_.loop.run();
  }

  [[nodiscard]] std::size_t opened() const { return its_.requests.streams.size(); }

  int live_ = 0;    ///< how often it was
  int broken_ = 0;  ///< how often that was told
  watched_election its_{{.changed = [](core::election_index) {},
                         .live = [this] { ++live_; },
                         .broken = [this](const call_failure&) { ++broken_; },
                         .heard = {}}};
};

TEST_F(Watcher, ThatBreaksForTheFirstTimeIsOpenedAtOnce) {
  ASSERT_TRUE(its_.watching.live());
  break_stream();
  EXPECT_TRUE(its_.watching.live());
  EXPECT_EQ(opened(), 2u);
  EXPECT_EQ(broken_, 0);
}

TEST_F(Watcher, ThatBreaksAgainSoonIsOpenedAfterAPauseAndToldToBeBroken) {
  break_stream();
  break_stream();
  EXPECT_FALSE(its_.watching.live());
  EXPECT_EQ(opened(), 2u);
  EXPECT_EQ(broken_, 1);
  its_.loop.pass(1s);
  EXPECT_TRUE(its_.watching.live());
  EXPECT_EQ(opened(), 3u);
}

TEST_F(Watcher, ThatHasLivedForLongIsOpenedAtOnceHoweverOftenItBrokeBefore) {
  for (int i = 0; i < 3; ++i) {
    break_stream();
    its_.loop.pass(1500ms);
  }
  ASSERT_TRUE(its_.watching.live());
  const std::size_t before = opened();
  const int told = broken_;
  its_.loop.pass(5s);
  break_stream();
  EXPECT_TRUE(its_.watching.live());
  EXPECT_EQ(opened(), before + 1);
  EXPECT_EQ(broken_, told) << "nobody needs to know";
  its_.loop.pass(5s);
  break_stream();
  EXPECT_TRUE(its_.watching.live()) << "each time";
  EXPECT_EQ(broken_, told);
}

}  // namespace
}  // namespace tenure::stores::etcd
