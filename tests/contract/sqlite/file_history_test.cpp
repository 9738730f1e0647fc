// A file that does not know who held last, and members that do. With a hand-moved clock.

#include "stores/sqlite/file_history.hpp"
#include "support/member_names.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/boot_time.hpp"
#include "scene.hpp"
#include "stores/sqlite/lease_file.hpp"

namespace tenure::stores::sqlite {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr core::election_index db{0};

class FileHistory : public testing::Test {
 protected:
  struct habits {
    core::duration ttl = 10s;
    std::string boot = "this boot";
    bool announce = true;
    std::uint32_t slots = 1;
    std::size_t elections = 1;
  };

  std::unique_ptr<lease_file> come(const std::string& identity, const habits& how) {
    std::vector<settings::election> elections;
    for (std::size_t i = 0; i < how.elections; ++i) {
      elections.push_back({.name = "db" + std::to_string(i), .slots = how.slots});
    }
    return std::make_unique<lease_file>(path_,
                                        member{.identity = identity,
                                               .session = "session of " + identity,
                                               .boot_id = how.boot,
                                               .ttl = how.ttl,
                                               .clock = [this] { return now_; }},
                                        std::move(elections), how.announce, stop_);
  }
  std::unique_ptr<lease_file> join(const std::string& identity, const habits& how) {
    auto made = come(identity, how);
    const auto opened = made->open(tests::soon());
    EXPECT_TRUE(opened) << opened.error();
    warnings_ = opened.value_or(std::vector<std::string>());
    // Of the file system that the tests' files happen to be on.
    std::erase_if(warnings_,
                  [](const std::string& one) { return one.contains("does not outlive"); });
    return made;
  }
  std::unique_ptr<lease_file> join(const std::string& identity) { return join(identity, {}); }

  grant hold(lease_file& as, core::election_index which = db) {
    auto outcome = as.acquire(which, core::no_version, tests::soon());
    if (auto* failed = std::get_if<unknown>(&outcome)) ADD_FAILURE() << failed->why;
    EXPECT_TRUE(std::holds_alternative<grant>(outcome)) << "not granted";
    return std::holds_alternative<grant>(outcome) ? std::get<grant>(outcome) : grant{};
  }
  /// Is not granted before `due`, which everything that is seen says, and holds then.
  grant hold_at(lease_file& as, core::time_point due) {
    for (const core::time_point before : {now_, due - 1ns}) {
      now_ = before;
      auto outcome = as.acquire(db, core::no_version, tests::soon());
      if (!std::holds_alternative<refusal>(outcome)) {
        ADD_FAILURE() << "not refused";
        return {};
      }
      EXPECT_EQ(std::get<refusal>(outcome).seen.retry_at, due);
      EXPECT_EQ(read(as).retry_at, due);
    }
    now_ = due;
    return hold(as);
  }
  core::observation read(lease_file& as) {
    return as.read(std::span(&db, 1), tests::soon())->at(0).seen;
  }
  core::loss_reason renew(lease_file& as, core::version version) {
    const core::renewal_item item{.which = db, .version = version};
    const auto lost = std::get<renewal>(as.renew(std::span(&item, 1), tests::soon())).lost;
    return lost.empty() ? core::loss_reason::none : lost[0].why;
  }
  void release(lease_file& as, core::version version, core::election_index which = db) {
    const auto outcome = as.release(which, version, {.clean = true}, tests::soon());
    EXPECT_TRUE(std::holds_alternative<released>(outcome));
  }

  void delete_all() {
    for (const char* suffix : {"", "-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  static void run(const std::vector<std::string>& command) {
    ASSERT_EQ(tests::child(command).wait(), 0);
  }
  /// All of it is in the one file then, which can be copied and written over. By other programs, as
  /// this one would lose its locks by closing the file.
  void fold() { run({FOREIGN_PROGRAM, path_, "PRAGMA wal_checkpoint(TRUNCATE)"}); }
  void take_copy() {
    fold();
    run({"/bin/cp", path_, copy_});
  }
  void write_copy_over() {
    fold();
    run({"/bin/cp", copy_, path_});
  }
  void rename_over(const std::string& other) {
    std::filesystem::rename(other, path_);
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(path_ + suffix);
  }
  /// Of the members' own files; beside each may be one with what the member says.
  std::vector<std::string> member_names() {
    std::vector<std::string> out;
    if (!std::filesystem::exists(members_directory(path_))) return out;
    for (const auto& one : std::filesystem::directory_iterator(members_directory(path_))) {
      if (one.path().extension() != ".ready") out.push_back(one.path().filename());
    }
    return out;
  }

  std::atomic<bool> stop_ = false;
  tests::temporary_directory directory_;
  std::string path_ = directory_ / "leases.db";
  std::string copy_ = directory_ / "copy";
  core::time_point now_{1000s};
  std::vector<std::string> warnings_;  ///< of the last that has joined
};

TEST_F(FileHistory, FirstStartIsNotDelayed) {
  auto a = join("a");
  EXPECT_THAT(warnings_, IsEmpty());
  const grant g = hold(*a);
  EXPECT_EQ(g.version, core::version{1});
  EXPECT_TRUE(g.released_cleanly);
}

TEST_F(FileHistory, DeletedFileGrantsNothingUntilWhoHeldHasStopped) {
  auto a = join("a");
  const grant first = hold(*a);
  now_ += 4s;
  delete_all();
  auto c = join("c");
  EXPECT_THAT(warnings_, ElementsAre(HasSubstr("nothing is granted for 6 s")));
  const grant second = hold_at(*c, first.sent_at + 10s);
  EXPECT_GT(second.version, first.version);
  EXPECT_FALSE(second.released_cleanly) << "it may be stopping still";
}

TEST_F(FileHistory, RenewalCountsFromTheRecordOfTheMember) {
  auto a = join("a");
  const grant first = hold(*a);
  now_ += 4s;
  ASSERT_EQ(renew(*a, first.version), core::loss_reason::none);
  delete_all();
  auto c = join("c");
  hold_at(*c, now_ + 10s);
}

TEST_F(FileHistory, EverybodyKeepsToTheSameInstant) {
  auto a = join("a");
  const grant first = hold(*a);
  delete_all();
  auto c = join("c");
  now_ += 3s;
  auto d = join("d");
  c.reset();
  hold_at(*d, first.sent_at + 10s);
}

TEST_F(FileHistory, LongestLeaseIsWaitedFor) {
  auto a = join("a", {.ttl = 30s, .slots = 2});
  auto b = join("b", {.slots = 2});
  hold(*a);
  hold(*b);
  delete_all();
  auto c = join("c", {.slots = 2});
  hold_at(*c, now_ + 30s);
  auto d = join("d", {.slots = 2});
  EXPECT_FALSE(hold(*d).released_cleanly) << "the second slot had a holder, too";
}

TEST_F(FileHistory, CopyTakenDuringTheTermGrantsNothingUntilItIsOver) {
  auto a = join("a");
  const grant first = hold(*a);
  take_copy();
  now_ += 4s;
  ASSERT_EQ(renew(*a, first.version), core::loss_reason::none);
  rename_over(copy_);
  auto c = join("c");
  EXPECT_GT(hold_at(*c, now_ + 10s).version, first.version);
  EXPECT_NE(renew(*a, first.version), core::loss_reason::none);
}

TEST_F(FileHistory, OlderCopyWrittenOverTheFileGrantsNothingUntilWhoHeldHasStopped) {
  auto a = join("a");
  const grant early = hold(*a);
  release(*a, early.version);
  take_copy();
  const grant late = hold(*a);
  write_copy_over();
  auto c = join("c");
  EXPECT_GT(hold_at(*c, now_ + 10s).version, late.version);
}

TEST_F(FileHistory, OlderCopyOfTheSameTermWrittenOverTheFileIsNoticedByItsRenewals) {
  auto a = join("a");
  const grant first = hold(*a);
  take_copy();
  now_ += 4s;
  ASSERT_EQ(renew(*a, first.version), core::loss_reason::none);
  write_copy_over();
  auto c = join("c");
  hold_at(*c, now_ + 10s);
}

TEST_F(FileHistory, MemberThatHasNotSeenTheNewestTransactionNoticesThatItIsGone) {
  auto a = join("a");
  auto b = join("b");
  read(*b);
  take_copy();
  const grant unseen = hold(*a);
  write_copy_over();
  EXPECT_GT(hold_at(*b, unseen.sent_at + 10s).version, unseen.version);
}

TEST_F(FileHistory, ReleaseRecordOfAnOlderCopyIsNotShownAgain) {
  auto a = join("a");
  release(*a, hold(*a).version);
  ASSERT_TRUE(read(*a).last_release);
  take_copy();
  release(*a, hold(*a).version);
  write_copy_over();
  EXPECT_FALSE(read(*a).last_release) << "it is of a term before the copy";
  const grant next = hold(*a);
  release(*a, next.version);
  const auto seen = read(*a);
  ASSERT_TRUE(seen.last_release);
  EXPECT_EQ(seen.last_release->version, next.version);
}

TEST_F(FileHistory, RunningMemberNoticesWhatIsWrittenOverTheFile) {
  auto a = join("a");
  auto b = join("b");
  const grant first = hold(*a);
  take_copy();
  now_ += 4s;
  ASSERT_EQ(renew(*a, first.version), core::loss_reason::none);
  read(*b);
  a.reset();
  write_copy_over();
  hold_at(*b, now_ + 10s);
}

TEST_F(FileHistory, RunningHolderLosesItsTermAndWaitsForItsOwnWorkload) {
  auto a = join("a");
  const grant first = hold(*a);
  delete_all();
  EXPECT_EQ(renew(*a, first.version), core::loss_reason::revoked);
  EXPECT_GT(hold_at(*a, first.sent_at + 10s).version, first.version);
}

TEST_F(FileHistory, FileThatIsMovedBackDoesNotKnowWhoHeldMeanwhile) {
  auto a = join("a");
  const grant first = hold(*a);
  release(*a, first.version);
  a.reset();
  const std::string away = directory_ / "away";
  std::filesystem::rename(path_, away);
  auto b = join("b");
  const grant meanwhile = hold(*b);
  rename_over(away);
  auto c = join("c");
  EXPECT_GT(hold_at(*c, now_ + 10s).version, meanwhile.version);
}

TEST_F(FileHistory, FileThatIsMovedBackGoesOnAboveTheVersionsThatWereGrantedMeanwhile) {
  auto a = join("a");
  release(*a, hold(*a).version);
  a.reset();
  const std::string away = directory_ / "away";
  std::filesystem::rename(path_, away);
  auto b = join("b");
  release(*b, hold(*b).version);
  const grant meanwhile = hold(*b);
  release(*b, meanwhile.version);
  rename_over(away);
  auto c = join("c");
  EXPECT_GT(hold(*c).version, meanwhile.version) << "and nobody holds, so nobody waits";
}

TEST_F(FileHistory, FileOfADeadMemberCountsUntilItsLeaseIsOver) {
  auto a = join("a");
  const grant first = hold(*a);
  a.reset();
  auto b = join("b");
  EXPECT_THAT(*tests::member_names(read(*b)), ElementsAre("b")) << "the dead are not listed";
  b.reset();
  ASSERT_EQ(member_names().size(), 1u) << "that of a";
  delete_all();
  auto c = join("c");
  EXPECT_GT(hold_at(*c, first.sent_at + 10s).version, first.version);
  read(*c);
  EXPECT_EQ(member_names().size(), 1u) << "that of c";
}

TEST_F(FileHistory, WhatTheDeadKnewIsNotForgottenBeforeItIsWrittenDown) {
  auto a = join("a");
  release(*a, hold(*a).version);
  take_copy();
  const grant last = hold(*a);
  a.reset();
  write_copy_over();
  now_ += 11s;
  tests::child other({FOREIGN_PROGRAM, path_, "BEGIN IMMEDIATE", "hold"});
  ASSERT_EQ(other.line(), "done");
  EXPECT_FALSE(come("b", {})->open(base::boot_now() + 50ms)) << "it cannot be written";
  other.kill();
  other.wait();
  auto c = join("c");
  EXPECT_GT(hold(*c).version, last.version);
  read(*c);
  EXPECT_EQ(member_names().size(), 1u) << "that of c";
}

/// An agent may find the file replaced while it opens it, and end.
TEST_F(FileHistory, WhatTheDeadKnewIsNotForgottenByOneThatHasNoFileOfItsOwn) {
  auto a = join("a");
  const grant last = hold(*a);
  a.reset();
  now_ += 11s;
  delete_all();
  {
    ASSERT_TRUE(prepare(path_));
    const auto clock = [this] { return now_; };
    membership beside(path_, {.boot_id = "this boot", .clock = clock});
    const member b{.identity = "b",
                   .session = "session of b",
                   .boot_id = "this boot",
                   .ttl = 10s,
                   .clock = clock};
    const auto opened = lease_table::open(path_, b, beside, {tests::soon(), nullptr});
    EXPECT_TRUE(opened) << opened.error();
  }
  delete_all();
  auto c = join("c");
  EXPECT_GT(hold(*c).version, last.version);
  read(*c);
  EXPECT_EQ(member_names().size(), 1u) << "that of c";
}

TEST_F(FileHistory, ReleasedLeaseIsNotWaitedFor) {
  auto a = join("a", {.elections = 2});
  const grant first = hold(*a);
  const grant other = hold(*a, core::election_index{1});
  release(*a, first.version);
  now_ += 1s;
  release(*a, other.version, core::election_index{1});
  delete_all();
  auto c = join("c");
  EXPECT_THAT(warnings_, IsEmpty());
  const grant second = hold(*c);
  EXPECT_GT(second.version, first.version);
}

TEST_F(FileHistory, ReleaseOfOneLeaseDoesNotHideAnother) {
  auto a = join("a", {.elections = 2});
  const grant first = hold(*a);
  now_ += 1s;
  const grant other = hold(*a, core::election_index{1});
  release(*a, other.version, core::election_index{1});
  delete_all();
  auto c = join("c");
  hold_at(*c, first.sent_at + 10s);
}

TEST_F(FileHistory, MembersThatDoNotAnnounceThemselvesCountWithoutBeingListed) {
  auto a = join("a", {.announce = false});
  auto b = join("b", {.elections = membership::most_announced + 1});
  const grant first = hold(*a);
  EXPECT_THAT(*read(*a).members, IsEmpty());
  delete_all();
  auto c = join("c");
  EXPECT_GT(hold_at(*c, first.sent_at + 10s).version, first.version);
}

TEST_F(FileHistory, MembersDirectoryThatWasDeletedIsMadeAgain) {
  auto a = join("a");
  const grant first = hold(*a);
  std::filesystem::remove_all(members_directory(path_));
  now_ += 1s;
  ASSERT_EQ(renew(*a, first.version), core::loss_reason::none);
  delete_all();
  auto c = join("c");
  hold_at(*c, now_ + 10s);
}

TEST_F(FileHistory, RestartOfTheMachineIsNotDelayed) {
  auto a = join("a", {.boot = "an earlier boot"});
  const grant first = hold(*a);
  a.reset();
  delete_all();
  auto c = join("c");
  EXPECT_THAT(warnings_, IsEmpty());
  EXPECT_GT(hold(*c).version, first.version) << "what was granted is known nevertheless";
}

TEST_F(FileHistory, WaitOfAnEarlierBootDoesNotBindThisOne) {
  auto a = join("a", {.boot = "an earlier boot"});
  const grant first = hold(*a);
  delete_all();
  join("b", {.boot = "an earlier boot"});
  a.reset();
  auto c = join("c");
  EXPECT_GT(hold(*c).version, first.version);
}

TEST_F(FileHistory, FilesWithoutARecordAreNotWaitedFor) {
  auto a = join("a");
  hold(*a);
  a.reset();
  delete_all();
  for (const std::string& name : member_names()) {
    std::ofstream(members_directory(path_) + "/" + name) << "a\ndb0\n";
  }
  auto c = join("c");
  EXPECT_THAT(warnings_, IsEmpty());
  hold(*c);
}

/// An earlier release deletes the file of a dead member, and knows nothing of the other one.
TEST_F(FileHistory, WordsWhoseMemberIsGoneAreDeleted) {
  auto a = join("a");
  const std::string words = members_directory(path_) + "/" + member_names().front() + ".ready";
  const std::string orphan = members_directory(path_) + "/" + std::string(32, 'a') + ".ready";
  const std::string foreign = members_directory(path_) + "/notes.ready";
  for (const std::string& one : {orphan, foreign}) std::ofstream(one) << "1 0 1 db0\n";
  auto b = join("b");
  read(*b);
  EXPECT_TRUE(std::filesystem::exists(words));
  EXPECT_FALSE(std::filesystem::exists(orphan));
  EXPECT_TRUE(std::filesystem::exists(foreign)) << "it is not ours";
}

}  // namespace
}  // namespace tenure::stores::sqlite
