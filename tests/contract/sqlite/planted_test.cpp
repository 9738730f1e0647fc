// Another user has put something where the members' directory belongs.

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "scene.hpp"
#include "stores/sqlite/membership.hpp"

namespace tenure::tests {
namespace {

using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr uid_t stranger = 65534;
/// As a member's own file is named.
constexpr const char* member_name = "0123456789abcdef0123456789abcdef";

std::vector<std::string> names_in(const std::filesystem::path& directory) {
  std::vector<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(directory)) {
    out.push_back(entry.path().filename());
  }
  return out;
}

class SqlitePlanted : public testing::Test {
 protected:
  /// Opens the store as a member that appears, and reads once. What there is to warn of, besides
  /// that the tests may write to memory.
  std::vector<std::string> take_part() {
    auto with = settings_for("sqlite", path_, "a");
    with.announce = true;
    member one(loop_, with);
    const auto opened = one.open();
    if (!opened) {
      ADD_FAILURE() << opened.error().text;
      return {};
    }
    one.read();
    std::vector<std::string> out = opened->warnings;
    std::erase_if(out, [](const std::string& text) { return text.contains(" is on tmpfs, "); });
    return out;
  }

  /// Why the store cannot be opened.
  std::string refused() {
    member one(loop_, settings_for("sqlite", path_, "a"));
    const auto opened = one.open();
    return opened ? "it was opened" : opened.error().text;
  }

  void put_file(const std::filesystem::path& where) { std::ofstream(where) << "precious\n"; }

  loop loop_;
  temporary_directory directory_;
  std::string path_ = directory_ / "leases.db";
  std::filesystem::path members_ = stores::sqlite::members_directory(path_);
};

TEST_F(SqlitePlanted, LinkInThePlaceOfTheMembersDirectoryIsNotFollowed) {
  const std::filesystem::path precious = directory_ / "precious";
  std::filesystem::create_directory(precious);
  put_file(precious / "a key");
  put_file(precious / member_name);
  std::filesystem::create_symlink(precious, members_);
  EXPECT_THAT(take_part(), ElementsAre(AllOf(HasSubstr(members_.string() + " is a symbolic link"),
                                             HasSubstr("deleted, replaced or overwritten"))))
      << "what is not protected without it";
  EXPECT_THAT(names_in(precious), UnorderedElementsAre("a key", member_name));
}

TEST_F(SqlitePlanted, MembersDirectoryOfAnotherUserIsNotUsed) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  std::filesystem::create_directory(members_);
  put_file(members_ / member_name);
  ASSERT_EQ(::chown(members_.c_str(), stranger, stranger), 0);
  EXPECT_THAT(take_part(), ElementsAre(HasSubstr("belongs to user 65534")));
  EXPECT_THAT(names_in(members_), ElementsAre(member_name));
}

TEST_F(SqlitePlanted, MembersDirectoryThatOthersCanWriteToIsNotUsed) {
  std::filesystem::create_directory(members_);
  put_file(members_ / member_name);
  ASSERT_EQ(::chmod(members_.c_str(), 01777), 0);
  EXPECT_THAT(take_part(), ElementsAre(HasSubstr("can be written to by other users (mode 1777)")));
  EXPECT_THAT(names_in(members_), ElementsAre(member_name));
}

TEST_F(SqlitePlanted, MembersDirectoryThatIsOpenedToOthersMeanwhileIsToldOnceAndItsEndToo) {
  std::vector<stores::notice> told;
  stores::setup with = settings_for("sqlite", path_, "a");
  with.notes = [&](const stores::notice& what) { told.push_back(what); };
  member a(loop_, with);
  ASSERT_TRUE(a.open());
  a.read();
  EXPECT_THAT(told, testing::IsEmpty());
  ASSERT_EQ(::chmod(members_.c_str(), 0777), 0);
  for (int i = 0; i < 3; ++i) a.read();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_TRUE(told[0].is_trouble);
  EXPECT_THAT(told[0].text, AllOf(HasSubstr("can be written to by other users (mode 0777)"),
                                  HasSubstr("members are not listed")));
  ASSERT_EQ(::chmod(members_.c_str(), 0700), 0);
  for (int i = 0; i < 3; ++i) a.read();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_FALSE(told[1].is_trouble);
  EXPECT_EQ(told[1].text, members_.string() + " can be used again");
}

TEST_F(SqlitePlanted, FileInADirectoryThatEverybodyCanWriteToIsRefused) {
  // As /tmp is, where another user may put a link in the place of leases.db-wal.
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  EXPECT_THAT(refused(), AllOf(HasSubstr("every user can write to the directory " +
                                         directory_.path().string()),
                               HasSubstr("make a directory in it")));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SqlitePlanted, FileInADirectoryOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
  ASSERT_EQ(::chown(directory_.path().c_str(), stranger, stranger), 0);
  EXPECT_THAT(refused(), HasSubstr("belongs to user 65534, who could put links"));
  EXPECT_FALSE(std::filesystem::exists(path_));
}

TEST_F(SqlitePlanted, FileThatEverybodyCanWriteToIsRefused) {
  put_file(path_);
  ASSERT_EQ(::chmod(path_.c_str(), 0666), 0);
  EXPECT_THAT(refused(), HasSubstr("it can be written to by other users (mode 0666)"));
}

TEST_F(SqlitePlanted, GroupMayShareTheDirectoryAndTheFile) {
  ASSERT_EQ(::chmod(directory_.path().c_str(), 02770), 0);
  std::ofstream{path_};
  ASSERT_EQ(::chmod(path_.c_str(), 0660), 0);
  member one(loop_, settings_for("sqlite", path_, "a"));
  EXPECT_TRUE(one.open());
}

TEST_F(SqlitePlanted, OnlyFilesNamedAsAMembersAreRemoved) {
  std::filesystem::create_directory(members_);
  ASSERT_EQ(::chmod(members_.c_str(), 0700), 0);
  put_file(members_ / "notes of the operator");
  put_file(members_ / member_name);
  EXPECT_THAT(take_part(), IsEmpty());
  EXPECT_THAT(names_in(members_), ElementsAre("notes of the operator"));
}

TEST_F(SqlitePlanted, MembersFileOfAnotherUserIsNeitherReadNorRemoved) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  std::filesystem::create_directory(members_);
  ASSERT_EQ(::chmod(members_.c_str(), 0700), 0);
  put_file(members_ / member_name);
  ASSERT_EQ(::chown((members_ / member_name).c_str(), stranger, stranger), 0);
  EXPECT_THAT(take_part(), IsEmpty());
  EXPECT_THAT(names_in(members_), Contains(member_name));
}

}  // namespace
}  // namespace tenure::tests
