// A file that cannot be used is an error that says what is wrong with it and what to do.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "as_nobody.hpp"
#include "scene.hpp"
#include "small_disk.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/lease_path.hpp"

namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SqliteOpen : public testing::Test {
 protected:
  /// Opens the file; returns the error, or nothing.
  std::string open(const std::string& path) {
    member one(loop_, settings_for("sqlite", path, "a"));
    const auto opened = one.open();
    return opened ? "" : opened.error().text;
  }
  void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  loop loop_;
  temporary_directory directory_;
  std::string path_ = directory_ / "leases.db";
};

TEST_F(SqliteOpen, FileIsMadeForItsOwnerAlone) {
  ASSERT_EQ(open(path_), "");
  struct stat about{};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777u, 0600u);
}

TEST_F(SqliteOpen, ModeOfAFileThatExistsIsLeftAlone) {
  write(path_, "");
  ASSERT_EQ(::chmod(path_.c_str(), 0660), 0);
  ASSERT_EQ(open(path_), "");
  struct stat about{};
  ASSERT_EQ(::stat(path_.c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777u, 0660u);
}

TEST_F(SqliteOpen, DescribesItself) {
  member one(loop_, settings_for("sqlite", path_, "a"));
  const auto first = one.open();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->store, "sqlite");
  EXPECT_THAT(first->server_version, testing::StartsWith("3."));
  EXPECT_EQ(first->cluster_id.size(), 16u);
  member two(loop_, settings_for("sqlite", "file://" + path_, "b"));
  EXPECT_EQ(two.open()->cluster_id, first->cluster_id) << "the same file";
}

TEST_F(SqliteOpen, EndpointMustBeOnePath) {
  stores::setup with = settings_for("sqlite", path_, "a");
  with.endpoints.push_back("another");
  const auto made = stores::make_store(loop_.events(), with);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, AllOf(HasSubstr("exactly one"), HasSubstr("2 are given")));
  for (const char* wrong : {"", "/tmp/", "file://"}) {
    EXPECT_FALSE(stores::sqlite::path_of({wrong})) << '"' << wrong << '"';
  }
}

TEST_F(SqliteOpen, MissingDirectoryIsNamed) {
  EXPECT_THAT(open(directory_ / "missing/leases.db"),
              AllOf(HasSubstr(directory_ / "missing does not exist"), HasSubstr("create it")));
}

TEST_F(SqliteOpen, DirectoryInThePlaceOfTheFile) {
  std::filesystem::create_directory(path_);
  EXPECT_THAT(open(path_),
              AllOf(HasSubstr(path_), HasSubstr("it is a directory; name a file in it")));
}

TEST_F(SqliteOpen, DirectoryThatIsNotOursToWriteIn) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 0555), 0);
  const as_nobody weak;
  EXPECT_THAT(open(path_), AllOf(HasSubstr(directory_.path()), HasSubstr("(EACCES)"),
                                 HasSubstr("make it writable")));
}

TEST_F(SqliteOpen, ReadOnlyFile) {
  ASSERT_EQ(open(path_), "");
  ASSERT_EQ(::chmod(path_.c_str(), 0444), 0);
  if (::geteuid() == 0) ASSERT_EQ(::chown(directory_.path().c_str(), 65534, 65534), 0);
  const as_nobody weak;
  EXPECT_THAT(open(path_), AllOf(HasSubstr(path_), HasSubstr("(EACCES)"), HasSubstr("writable")));
}

TEST_F(SqliteOpen, ReadOnlyFilesystem) {
  small_disk disk;
  if (!disk.why_not().empty()) GTEST_SKIP() << disk.why_not();
  ASSERT_EQ(open(disk / "leases.db"), "");
  ASSERT_TRUE(disk.make_read_only());
  EXPECT_THAT(open(disk / "leases.db"), AllOf(HasSubstr("EROFS"), HasSubstr("writable")));
}

TEST_F(SqliteOpen, FullDisk) {
  small_disk disk;
  if (!disk.why_not().empty()) GTEST_SKIP() << disk.why_not();
  disk.fill();
  EXPECT_THAT(open(disk / "leases.db"), AllOf(HasSubstr(disk / "leases.db"), HasSubstr("full")));
}

TEST_F(SqliteOpen, SomethingThatIsNoDatabase) {
  write(path_,
        "this is a text, and long enough to be read as the head of a database file, "
        "which it is not, as anybody can see who begins to read it. Nothing else.");
  EXPECT_THAT(open(path_), AllOf(HasSubstr(path_), HasSubstr("not an SQLite database")));
}

TEST_F(SqliteOpen, DamagedDatabase) {
  ASSERT_EQ(open(path_), "");
  child({FOREIGN_PROGRAM, path_, "PRAGMA wal_checkpoint(TRUNCATE)"}).wait();
  std::fstream file(path_, std::ios::in | std::ios::out | std::ios::binary);
  constexpr std::streamoff after_the_head = 100;
  file.seekp(after_the_head);
  file << std::string(20000, '\xff');
  file.close();
  EXPECT_THAT(open(path_), AllOf(HasSubstr(path_), HasSubstr("damaged"), HasSubstr("restore")));
}

TEST_F(SqliteOpen, DatabaseOfAnotherApplicationIsLeftAsItIs) {
  ASSERT_EQ(child({FOREIGN_PROGRAM, path_,
                   "PRAGMA application_id = 7; CREATE TABLE precious (x); "
                   "INSERT INTO precious VALUES (1)"})
                .wait(),
            0);
  EXPECT_THAT(open(path_), AllOf(HasSubstr("another application"), HasSubstr("application_id 7")));
  EXPECT_FALSE(std::filesystem::exists(path_ + "-wal")) << "it was turned to WAL";
}

TEST_F(SqliteOpen, OtherVersionOfTheTables) {
  ASSERT_EQ(open(path_), "");
  ASSERT_EQ(child({FOREIGN_PROGRAM, path_, "PRAGMA user_version = 9"}).wait(), 0);
  EXPECT_THAT(open(path_), AllOf(HasSubstr("version 9"), HasSubstr("knows version 1")));
}

TEST_F(SqliteOpen, FileWithTwoNames) {
  ASSERT_EQ(open(path_), "");
  std::filesystem::create_hard_link(path_, directory_ / "second.db");
  EXPECT_THAT(open(directory_ / "second.db"), AllOf(HasSubstr("2 names"), HasSubstr("remove")));
}

TEST_F(SqliteOpen, SymbolicLinkLeadsToTheSameLease) {
  member a(loop_, settings_for("sqlite", path_, "a"));
  ASSERT_TRUE(a.open());
  a.hold();
  std::filesystem::create_symlink(path_, directory_ / "link.db");
  member b(loop_, settings_for("sqlite", directory_ / "link.db", "b"));
  ASSERT_TRUE(b.open());
  EXPECT_EQ(b.read().holders.size(), 1u);
}

TEST_F(SqliteOpen, FileThatAnotherProgramHasLocked) {
  ASSERT_EQ(open(path_), "");
  child other({FOREIGN_PROGRAM, path_,
               "PRAGMA journal_mode = DELETE; PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE",
               "hold"});
  ASSERT_EQ(other.line(), "done");
  EXPECT_THAT(open(path_), AllOf(HasSubstr(path_), HasSubstr("another program holds its lock"),
                                 HasSubstr("fuser")));
}

TEST(SqliteCodes, WhatIsNotInTheTableIsUnknown) {
  constexpr int never_heard_of = 0x7777;
  EXPECT_EQ(stores::sqlite::look_up(never_heard_of).meaning, stores::sqlite::code_meaning::unknown);
  constexpr int busy_recovery = 261;
  EXPECT_THAT(stores::sqlite::look_up(busy_recovery).reason, HasSubstr("holds its lock"));
  EXPECT_EQ(stores::sqlite::look_up(0).meaning, stores::sqlite::code_meaning::done);
}

}  // namespace
}  // namespace tenure::tests
