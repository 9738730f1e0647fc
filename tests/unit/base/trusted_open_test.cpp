// Files that another user could have put where we look for ours.
#include "base/trusted_open.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "support/temporary_directory.hpp"

namespace tenure::base {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr uid_t nobody = 65534;
constexpr uid_t somebody = 12345;

class TrustedOpen : public testing::Test {
 protected:
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }

  std::string file(const std::string& name, mode_t mode = 0600, const std::string& text = "text") {
    std::ofstream(path(name)) << text;
    EXPECT_EQ(::chmod(path(name).c_str(), mode), 0);
    return path(name);
  }

  /// What is wrong with a path, in words; empty if it is fine.
  static std::string flaw_of(const std::string& path, const demands& asked = {}) {
    const auto opened = open_trusted(AT_FDCWD, path.c_str(), O_RDONLY, asked);
    return opened ? "" : text("it", opened.error());
  }

 private:
  tests::temporary_directory folder_;
};

class TrustedOpenOfOthers : public TrustedOpen {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a file to somebody else";
  }

  static void give_away(const std::string& path, uid_t to) {
    ASSERT_EQ(::lchown(path.c_str(), to, to), 0);
  }
};

TEST_F(TrustedOpen, OwnFileThatOnlyWeCanWriteToIsTaken) {
  EXPECT_EQ(flaw_of(file("ours")), "");
  EXPECT_EQ(flaw_of(file("read by all", 0644)), "");
}

TEST_F(TrustedOpen, FileThatOthersCanWriteToIsRefusedWithItsMode) {
  EXPECT_THAT(flaw_of(file("group's", 0620)), HasSubstr("(mode 0620); run `chmod go-w`"));
  EXPECT_THAT(flaw_of(file("everybody's", 0602)), HasSubstr("(mode 0602)"));
}

TEST_F(TrustedOpenOfOthers, FileOfAnotherUserIsRefusedUnlessItIsTheOneWhoMay) {
  const std::string given = file("given");
  give_away(given, nobody);
  EXPECT_THAT(flaw_of(given), HasSubstr("belongs to user 65534, not to user 0"));
  EXPECT_EQ(flaw_of(given, {.owner = nobody}), "");
  EXPECT_THAT(flaw_of(given, {.owner = somebody}), HasSubstr("belongs to user 65534"));
  EXPECT_EQ(flaw_of(given, {.any_owner = true}), "");
}

TEST_F(TrustedOpen, LinkIsRefusedEvenToAFileOfOurs) {
  ASSERT_EQ(::symlink(file("ours").c_str(), path("link").c_str()), 0);
  EXPECT_EQ(flaw_of(path("link")), "it is a symbolic link; remove it");
  EXPECT_EQ(flaw_of(path("link"), {.may_be_link = true}), "");
}

TEST_F(TrustedOpen, LinkThatMayBeOneIsJudgedByWhatItLeadsTo) {
  ASSERT_EQ(::symlink(file("open to all", 0666).c_str(), path("link").c_str()), 0);
  EXPECT_THAT(flaw_of(path("link"), {.may_be_link = true}), HasSubstr("(mode 0666)"));
}

TEST_F(TrustedOpen, DirectoryOrPipeIsNoFileAndNobodyWaitsForItsWriter) {
  ASSERT_EQ(::mkdir(path("directory").c_str(), 0700), 0);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(flaw_of(path("directory")), "it is not a regular file; remove it");
  EXPECT_EQ(flaw_of(path("pipe")), "it is not a regular file; remove it");
  EXPECT_EQ(flaw_of(file("ours"), {.type = S_IFDIR}), "it is not a directory; remove it");
}

TEST_F(TrustedOpen, WhatAnOperatorHasNamedIsNeverToBeRemoved) {
  ASSERT_EQ(::mkdir(path("directory").c_str(), 0700), 0);
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  ASSERT_EQ(::symlink(file("ours").c_str(), path("link").c_str()), 0);
  EXPECT_EQ(flaw_of(path("directory"), named_by_an_operator),
            "it is a directory; name a file in it");
  EXPECT_EQ(flaw_of(path("pipe"), named_by_an_operator), "it is a pipe; name a regular file");
  EXPECT_EQ(flaw_of("/dev/null", named_by_an_operator), "it is a device; name a regular file");
  EXPECT_EQ(flaw_of(path("link"), {.named = true}), "it is a symbolic link; name what it leads to");
  const demands directory{.type = S_IFDIR, .named = true};
  EXPECT_EQ(flaw_of(path("ours"), directory), "it is a regular file; name a directory");
  EXPECT_EQ(flaw_of(path("link"), directory), "it is a symbolic link; name what it leads to");
  const auto made = make_own_directory(path("ours"), named_directory::yes);
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().text, EndsWith("ours is a regular file; name a directory"));
}

TEST_F(TrustedOpenOfOthers, WhatAnOperatorHasNamedAndSomebodyElseOwnsIsNotToBeRemovedEither) {
  const std::string given = file("given");
  give_away(given, nobody);
  EXPECT_THAT(flaw_of(given, {.named = true}),
              EndsWith("or root; give it to one of these, or name another"));
}

TEST_F(TrustedOpenOfOthers, FileThatMayNotBeReadSaysWhoNeedsTo) {
  const std::string secret = file("secret", 0600);
  ASSERT_EQ(::seteuid(nobody), 0);
  const auto refused = read_named_file("the token", secret, 5);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error(), EndsWith("secret: Permission denied (EACCES); let user 65534, whom "
                                        "this process runs as, read it and enter its directories"));
}

TEST_F(TrustedOpen, SecondNameIsRefusedWhereOneIsAskedFor) {
  ASSERT_EQ(::link(file("ours").c_str(), path("second").c_str()), 0);
  EXPECT_EQ(flaw_of(path("second")), "");
  EXPECT_EQ(flaw_of(path("second"), {.one_name = true}),
            "it has 2 names (hard links); remove all but one");
}

TEST_F(TrustedOpen, WhatIsMissingIsToldFromWhatIsWrong) {
  const auto absent = open_named_file("the list", path("absent"));
  ASSERT_FALSE(absent);
  EXPECT_TRUE(absent.error().missing);
  EXPECT_THAT(absent.error().text,
              EndsWith("absent: No such file or directory (ENOENT); check its path"));
  const auto open_to_all = open_named_file("the list", file("open to all", 0666));
  ASSERT_FALSE(open_to_all);
  EXPECT_FALSE(open_to_all.error().missing);
}

TEST_F(TrustedOpen, OwnDirectoryIsMadeForUsAloneAndThenFound) {
  ASSERT_TRUE(make_own_directory(path("made")));
  struct stat about{};
  ASSERT_EQ(::stat(path("made").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 07777, 0700U);
  EXPECT_TRUE(make_own_directory(path("made")));
  EXPECT_TRUE(open_own_directory(path("made")));
}

TEST_F(TrustedOpenOfOthers, DirectoryThatSomebodyElseWasQuickerToMakeIsRefused) {
  ASSERT_EQ(::mkdir(path("planted").c_str(), 0777), 0);
  ASSERT_EQ(::chmod(path("planted").c_str(), 0777), 0);
  const auto open_to_all = make_own_directory(path("planted"));
  ASSERT_FALSE(open_to_all);
  EXPECT_THAT(open_to_all.error().text, HasSubstr("(mode 0777)"));
  ASSERT_EQ(::chmod(path("planted").c_str(), 0700), 0);
  give_away(path("planted"), nobody);
  const auto of_nobody = make_own_directory(path("planted"));
  ASSERT_FALSE(of_nobody);
  EXPECT_THAT(of_nobody.error().text, HasSubstr("belongs to user 65534"));
}

TEST_F(TrustedOpen, NamedFileIsReadToItsEnd) {
  EXPECT_EQ(read_named_file("the token", file("token", 0600, "12345"), 5), "12345");
  EXPECT_EQ(read_named_file("the token", file("empty", 0600, ""), 5), "");
}

TEST_F(TrustedOpenOfOthers, NamedFileMayBeALinkAndAnybodysAsInVolumesOfKubernetes) {
  const std::string mounted = file("..data", 0440, "12345");
  give_away(mounted, nobody);
  ASSERT_EQ(::symlink("..data", path("token").c_str()), 0);
  EXPECT_EQ(read_named_file("the token", path("token"), 5), "12345");
}

TEST_F(TrustedOpen, NamedFileThatIsTooLongOrOpenToAllIsRefusedWithoutWhatIsInIt) {
  const auto too_long = read_named_file("the token", file("long", 0600, "secret"), 5);
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error(), StartsWith("the token /"));
  EXPECT_THAT(too_long.error(), EndsWith("/long has more than 5 bytes"));
  const auto open_to_all = read_named_file("the token", file("written by all", 0666, "key"), 5);
  ASSERT_FALSE(open_to_all);
  EXPECT_THAT(open_to_all.error(), HasSubstr("can be written to by other users (mode 0666)"));
  EXPECT_THAT(too_long.error() + open_to_all.error(), testing::Not(HasSubstr("secret")));
}

}  // namespace
}  // namespace tenure::base
