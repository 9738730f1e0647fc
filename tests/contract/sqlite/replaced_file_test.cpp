// The file is deleted or replaced while agents have it open: nobody may go on holding a lease in
// a file that others do not see, and nobody is granted one beside those who may still hold.

#include <gmock/gmock.h>

#include <boost/asio/steady_timer.hpp>
#include <cstdio>
#include <filesystem>

#include "scene.hpp"

namespace tenure::tests {
namespace {

using stores::grant;
using stores::refusal;
using stores::renewal;
using testing::ElementsAre;

class SqliteReplaced : public testing::Test {
 protected:
  std::unique_ptr<member> join(const std::string& identity, const std::string& path) {
    auto made = std::make_unique<member>(loop_, settings_for("sqlite", path, identity, ttl));
    const auto opened = made->open();
    EXPECT_TRUE(opened) << opened.error().text;
    return made;
  }
  /// Tests that wait for a lease to run out take as long.
  static constexpr core::duration ttl = std::chrono::seconds(2);

  void delete_all() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  /// Is refused while somebody may hold by the file that was here before, and holds then.
  grant hold_after_refusal(member& one) {
    auto outcome = one.acquire();
    const auto* refused = std::get_if<refusal>(&outcome);
    if (refused == nullptr) {
      ADD_FAILURE() << "not refused";
      return {};
    }
    const core::time_point due = refused->seen.retry_at;
    EXPECT_EQ(one.read().retry_at, due);
    boost::asio::steady_timer wait(loop_.context(), due - base::boot_now());
    bool over = false;
    wait.async_wait([&](auto) { over = true; });
    EXPECT_TRUE(loop_.run_until([&] { return over && base::boot_now() >= due; }));
    return one.hold();
  }
  core::loss_reason loss_of(member& one, core::version version) {
    const auto outcome = one.renew({{core::election_index{0}, version}});
    EXPECT_TRUE(std::holds_alternative<renewal>(outcome));
    const auto* renewed = std::get_if<renewal>(&outcome);
    if (renewed == nullptr || renewed->lost.empty()) return core::loss_reason::none;
    return renewed->lost[0].why;
  }

  loop loop_;
  temporary_directory directory_;
  std::string path_ = directory_ / "leases.db";
};

TEST_F(SqliteReplaced, TermOfADeletedFileIsRevokedAndVersionsGoOnAboveIt) {
  auto a = join("a", path_);
  const grant first = a->hold(0, 100);
  delete_all();
  EXPECT_EQ(loss_of(*a, first.version), core::loss_reason::revoked);
  const grant second = hold_after_refusal(*a);
  EXPECT_GE(second.sent_at, first.sent_at + ttl);
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly);
}

TEST_F(SqliteReplaced, VersionsGoOnThoughTheLastMemberLeavesWithoutTheFile) {
  auto a = join("a", path_);
  const grant first = a->hold(0, 100);
  ASSERT_TRUE(std::holds_alternative<stores::released>(a->release(0, first.version)));
  delete_all();
  a.reset();
  auto b = join("b", path_);
  const grant second = b->hold();
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly);
  b->read();
  ASSERT_TRUE(std::holds_alternative<stores::released>(b->release(0, second.version)));
  b.reset();
  EXPECT_FALSE(std::filesystem::exists(path_ + "-members")) << "the new file knows all";
}

TEST_F(SqliteReplaced, HolderIsToldByItsWatchWithoutAskingForAnything) {
  auto a = join("a", path_);
  const auto watched = a->watch();
  const grant g = a->hold();
  ASSERT_TRUE(loop_.run_until(
      [&] { return watched->shows([](const auto& seen) { return !seen.holders.empty(); }); }));
  delete_all();
  ASSERT_TRUE(loop_.run_until(
      [&] { return watched->shows([](const auto& seen) { return seen.holders.empty(); }); }));
  EXPECT_GE(watched->seen.back().as_of, g.version)
      << "or the holder could not tell that it is news";

  // And goes on to watch the file that has the name now.
  auto b = join("b", path_);
  hold_after_refusal(*b);
  EXPECT_TRUE(loop_.run_until(
      [&] { return watched->shows([](const auto& seen) { return !seen.holders.empty(); }); }));
}

TEST_F(SqliteReplaced, EachMemberThatRunsSaysOnceWhyNothingIsGranted) {
  std::vector<std::string> told_a;
  std::vector<std::string> told_b;
  const auto run = [&](const std::string& identity, std::vector<std::string>& told) {
    stores::setup with = settings_for("sqlite", path_, identity, ttl);
    with.notes = [&told](const stores::notice& what) {
      EXPECT_TRUE(what.is_trouble);
      told.push_back(what.text);
    };
    auto made = std::make_unique<member>(loop_, with);
    EXPECT_TRUE(made->open());
    return made;
  };
  auto a = run("a", told_a);
  auto b = run("b", told_b);
  const auto seen_by_a = a->watch();
  const auto seen_by_b = b->watch();
  a->hold();
  EXPECT_THAT(told_a, testing::IsEmpty());
  delete_all();
  ASSERT_TRUE(loop_.run_until([&] { return !told_a.empty() && !told_b.empty(); }));
  hold_after_refusal(*b);
  for (const auto& told : {told_a, told_b}) {
    EXPECT_THAT(told, ElementsAre(testing::AllOf(
                          testing::HasSubstr(path_ + " was deleted, replaced or overwritten"),
                          testing::HasSubstr("nothing is granted for "))));
  }
}

TEST_F(SqliteReplaced, FileThatIsRenamedAwayTakesNoLeaseWithIt) {
  auto a = join("a", path_);
  const auto watched = a->watch();
  const grant g = a->hold();
  ASSERT_TRUE(loop_.run_until(
      [&] { return watched->shows([](const auto& seen) { return !seen.holders.empty(); }); }));
  std::filesystem::rename(path_, directory_ / "away.db");
  ASSERT_TRUE(loop_.run_until(
      [&] { return watched->shows([](const auto& seen) { return seen.holders.empty(); }); }));
  EXPECT_EQ(loss_of(*a, g.version), core::loss_reason::revoked);
}

TEST_F(SqliteReplaced, AllAgentsEndUpInTheSameNewFile) {
  auto a = join("a", path_);
  auto b = join("b", path_);
  a->hold();
  ASSERT_TRUE(std::holds_alternative<refusal>(b->acquire()));
  delete_all();
  auto c = join("c", path_);
  const grant g = hold_after_refusal(*c);
  for (member* one : {a.get(), b.get()}) {
    const auto outcome = one->acquire();
    ASSERT_TRUE(std::holds_alternative<refusal>(outcome));
    EXPECT_THAT(std::get<refusal>(outcome).seen.holders, ElementsAre(other("c", g.version)));
  }
}

TEST_F(SqliteReplaced, FileRenamedIntoPlaceIsTheOneThatCounts) {
  const std::string other = directory_ / "other.db";
  {
    auto x = join("x", other);
    x->hold();
  }
  ASSERT_EQ(child({FOREIGN_PROGRAM, other, "PRAGMA wal_checkpoint(TRUNCATE)"}).wait(), 0);
  auto a = join("a", path_);
  const grant first = a->hold(0, 100);
  // The -wal of the old file stays behind, as it would for somebody who forgot it.
  std::filesystem::rename(other, path_);
  EXPECT_EQ(loss_of(*a, first.version), core::loss_reason::revoked);
  const auto outcome = a->acquire();
  ASSERT_TRUE(std::holds_alternative<refusal>(outcome));
  EXPECT_EQ(std::get<refusal>(outcome).seen.holders.at(0).identity, "x");
}

TEST_F(SqliteReplaced, CopyOfTheFileDoesNotBringATermBack) {
  auto a = join("a", path_);
  const grant first = a->hold();
  const std::string copy = directory_ / "copy.db";
  ASSERT_EQ(child({FOREIGN_PROGRAM, path_, ("VACUUM INTO '" + copy + "'")}).wait(), 0);
  std::filesystem::rename(copy, path_);
  EXPECT_EQ(loss_of(*a, first.version), core::loss_reason::revoked);
  EXPECT_GT(hold_after_refusal(*a).version, first.version);
}

TEST_F(SqliteReplaced, DeletedWalAloneIsNoticedToo) {
  auto a = join("a", path_);
  auto b = join("b", path_);
  const grant first = a->hold();
  ASSERT_TRUE(std::holds_alternative<refusal>(b->acquire()));
  std::filesystem::remove(path_ + "-wal");
  std::filesystem::remove(path_ + "-shm");
  // In one process the two share their memory, so the file stays closed until both have let go.
  b->close();
  EXPECT_EQ(loss_of(*a, first.version), core::loss_reason::revoked);
  EXPECT_GT(hold_after_refusal(*a).version, first.version);
}

TEST_F(SqliteReplaced, DirectoryThatIsGoneIsUnknownAndOverWhenItIsBack) {
  const std::string home = directory_ / "home";
  std::filesystem::create_directory(home);
  auto a = join("a", home + "/leases.db");
  const auto watched = a->watch();
  const grant first = a->hold();
  std::filesystem::rename(home, directory_ / "away");
  ASSERT_TRUE(loop_.run_until([&] { return !watched->broken.empty(); }));
  EXPECT_THAT(watched->broken.front(), testing::HasSubstr(home));
  const auto outcome = a->renew({{core::election_index{0}, first.version}});
  ASSERT_TRUE(std::holds_alternative<stores::unknown>(outcome));
  EXPECT_THAT(std::get<stores::unknown>(outcome).why, testing::HasSubstr("does not exist"));

  std::filesystem::create_directory(home);
  EXPECT_EQ(loss_of(*a, first.version), core::loss_reason::revoked);
  const auto again = a->watch();
  ASSERT_TRUE(loop_.run_until([&] { return !again->seen.empty(); }));
  const grant second = hold_after_refusal(*a);
  EXPECT_GT(second.version, first.version);
  ASSERT_TRUE(loop_.run_until(
      [&] { return again->shows([](const auto& seen) { return !seen.holders.empty(); }); }));
}

TEST_F(SqliteReplaced, NobodyIsGrantedBesideAStoppedAgent) {
  child a({CONTENDER, "sqlite", path_, "a", "2000", "keep"});
  const auto said = a.line();
  ASSERT_TRUE(said);
  unsigned long long version = 0;
  ASSERT_EQ(std::sscanf(said->c_str(), "+ %llu", &version), 1);
  a.stop();
  delete_all();
  auto c = join("c", path_);
  EXPECT_GT(core::number(hold_after_refusal(*c).version), version);
}

TEST_F(SqliteReplaced, NobodyIsGrantedBesideTheWorkloadOfAnAgentThatWasKilled) {
  child a({CONTENDER, "sqlite", path_, "a", "2000", "keep"});
  const auto said = a.line();
  ASSERT_TRUE(said);
  unsigned long long version = 0;
  ASSERT_EQ(std::sscanf(said->c_str(), "+ %llu", &version), 1);
  a.kill();
  a.wait();
  delete_all();
  auto c = join("c", path_);
  EXPECT_GT(core::number(hold_after_refusal(*c).version), version);
}

}  // namespace
}  // namespace tenure::tests
