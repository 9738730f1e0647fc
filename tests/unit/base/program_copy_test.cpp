#include "base/program_copy.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "support/temporary_directory.hpp"

namespace tenure::base {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr uid_t nobody = 65534;

class ProgramCopy : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkdir(into().c_str(), 0700), 0);
    program_is("one program");
  }

  [[nodiscard]] std::string into() const { return folder_ / "into"; }
  [[nodiscard]] std::string copy() const { return into() + "/name"; }

  void program_is(const std::string& bytes) { write(folder_ / "source", bytes); }

  std::expected<copied, std::string> copy_it() { return copy_to(into()); }

  std::expected<copied, std::string> copy_to(const std::string& directory) {
    const unique_fd source(::open((folder_ / "source").c_str(), O_RDONLY | O_CLOEXEC));
    if (!source) return std::unexpected("the test's own source cannot be opened");
    EXPECT_EQ(::lseek(source.get(), 3, SEEK_SET), 3);
    return copy_program(source, directory, "name");
  }

  static void write(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  static std::string contents(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream(path, std::ios::binary).rdbuf();
    return out.str();
  }

  static struct stat about(const std::string& path) {
    struct stat out{};
    EXPECT_EQ(::lstat(path.c_str(), &out), 0) << path;
    return out;
  }

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> out;
    for (const auto& one : std::filesystem::directory_iterator(into())) {
      out.push_back(one.path().filename());
    }
    return out;
  }

 private:
  tests::temporary_directory folder_;
};

TEST_F(ProgramCopy, EverybodyCanExecuteItAndOnlyItsOwnerCanWriteToIt) {
  const mode_t before = ::umask(0077);
  EXPECT_EQ(copy_it(), copied::written);
  ::umask(before);
  EXPECT_EQ(contents(copy()), "one program");
  EXPECT_EQ(about(copy()).st_mode, S_IFREG | 0755U);
  EXPECT_EQ(about(copy()).st_uid, ::geteuid());
  EXPECT_THAT(names(), ElementsAre("name"));
}

TEST_F(ProgramCopy, AProgramOfAnyLengthIsCopiedWholeAndFoundAgain) {
  constexpr std::size_t chunk = std::size_t{256} * 1024;
  for (const std::size_t size : {std::size_t{0}, chunk - 1, chunk, chunk + 1, 3 * chunk}) {
    std::string bytes(size, 'x');
    if (size > 0) bytes.back() = 'y';
    program_is(bytes);
    EXPECT_EQ(copy_it(), copied::written) << size;
    EXPECT_EQ(contents(copy()), bytes) << size;
    EXPECT_EQ(copy_it(), copied::unchanged) << size;
  }
}

TEST_F(ProgramCopy, NothingIsWrittenWhereTheProgramIsAlready) {
  ASSERT_EQ(copy_it(), copied::written);
  const struct stat first = about(copy());
  EXPECT_EQ(copy_it(), copied::unchanged);
  const struct stat second = about(copy());
  EXPECT_EQ(second.st_ino, first.st_ino);
  EXPECT_EQ(second.st_ctim.tv_sec, first.st_ctim.tv_sec);
  EXPECT_EQ(second.st_ctim.tv_nsec, first.st_ctim.tv_nsec);
}

TEST_F(ProgramCopy, AnotherProgramOfTheSameLengthIsReplaced) {
  ASSERT_EQ(copy_it(), copied::written);
  program_is("two program");
  EXPECT_EQ(copy_it(), copied::written);
  EXPECT_EQ(contents(copy()), "two program");
}

TEST_F(ProgramCopy, WhoHasTheOldFileOpenKeepsIt) {
  ASSERT_EQ(copy_it(), copied::written);
  std::ifstream old(copy(), std::ios::binary);
  program_is("another one");
  ASSERT_EQ(copy_it(), copied::written);
  std::ostringstream seen;
  seen << old.rdbuf();
  EXPECT_EQ(seen.str(), "one program");
}

TEST_F(ProgramCopy, AModeThatIsWrongIsPutRight) {
  for (const mode_t wrong : {0700U, 0644U, 0777U, 04755U}) {
    ASSERT_TRUE(copy_it());
    ASSERT_EQ(::chmod(copy().c_str(), wrong), 0);
    EXPECT_EQ(copy_it(), copied::written) << std::oct << wrong;
    EXPECT_EQ(about(copy()).st_mode, S_IFREG | 0755U);
  }
}

TEST_F(ProgramCopy, AFileOfAnotherUserIsReplacedByOneOfOurs) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  ASSERT_EQ(copy_it(), copied::written);
  ASSERT_EQ(::chown(copy().c_str(), nobody, nobody), 0);
  EXPECT_EQ(copy_it(), copied::written);
  EXPECT_EQ(about(copy()).st_uid, 0U);
}

TEST_F(ProgramCopy, ALinkIsReplacedAndWhatItLeadsToIsLeftAlone) {
  const std::string other = into() + "/other";
  write(other, "not ours");
  ASSERT_EQ(::symlink(other.c_str(), copy().c_str()), 0);
  EXPECT_EQ(copy_it(), copied::written);
  EXPECT_EQ(about(copy()).st_mode, S_IFREG | 0755U);
  EXPECT_EQ(contents(copy()), "one program");
  EXPECT_EQ(contents(other), "not ours");
}

TEST_F(ProgramCopy, APipeOfThatNameIsReplacedWithoutWaitingForIt) {
  ASSERT_EQ(::mkfifo(copy().c_str(), 0755), 0);
  EXPECT_EQ(copy_it(), copied::written);
  EXPECT_EQ(contents(copy()), "one program");
}

TEST_F(ProgramCopy, WhatFailsIsSaidWithARemedyAndLeavesNothingBehind) {
  const auto missing = copy_to(into() + "/missing");
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error(), StartsWith("cannot open " + into() + "/missing: "));
  EXPECT_THAT(missing.error(), HasSubstr("(ENOENT); create the directory, or mount a volume"));

  write(into() + "/file", "");
  const auto file = copy_to(into() + "/file");
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error(), HasSubstr("(ENOTDIR); name a directory"));
  std::filesystem::remove(into() + "/file");

  ASSERT_EQ(::mkdir(copy().c_str(), 0700), 0);
  const auto taken = copy_to(into() + "/");
  ASSERT_FALSE(taken);
  EXPECT_THAT(taken.error(), StartsWith("cannot write " + copy() + ": "));
  EXPECT_THAT(taken.error(), HasSubstr("(EISDIR); remove it"));
  EXPECT_THAT(names(), ElementsAre("name"));
}

TEST_F(ProgramCopy, AProgramThatCannotBeReadLeavesNothingBehind) {
  const unique_fd not_a_file(::open(into().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const auto done = copy_program(not_a_file, into(), "name");
  ASSERT_FALSE(done);
  EXPECT_THAT(names(), IsEmpty());
}

}  // namespace
}  // namespace tenure::base
