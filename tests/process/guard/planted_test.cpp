// Another user has put files where guard and agent meet, or connects to the guard's socket.

#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/io_context.hpp>
#include <csignal>
#include <filesystem>
#include <functional>
#include <optional>
#include <variant>
#include <vector>

#include "base/unique_fd.hpp"
#include "guard/guard_listener.hpp"
#include "guard/meeting_place.hpp"
#include "guard/orphans.hpp"
#include "guard/shared_page.hpp"
#include "guard/worker_page.hpp"
#include "process/shared_memory.hpp"
#include "support/eventually.hpp"
#include "support/other_process.hpp"
#include "support/temporary_directory.hpp"
#include "workload/guard_dialer.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;
using namespace tenure::guard;
using namespace tenure::process;
using namespace tenure::workload;

constexpr uid_t stranger = 65534;
constexpr uid_t intruder_user = 65533;
constexpr unsigned some_bytes = 64;

/// A complete listener of a guard, which welcomes every agent it accepts.
void listen_and_welcome(const std::string& directory) {
  guard_listener listener;
  shared_page page;
  worker_page for_worker;
  if (!listener.open({.directory = directory}) || !page.make() || !for_worker.make()) return;
  std::vector<base::unique_fd> agents;
  while (true) {
    int connections = most_connections_a_turn;
    base::unique_fd agent = listener.accept(connections);
    if (!agent) continue;
    if (guard_listener::welcome(agent, page.fd(), for_worker.fd()))
      agents.push_back(std::move(agent));
  }
}

int connect_to(const std::string& directory) {
  const auto address = guard_socket_address(directory);
  const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  if (fd < 0) return -1;
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return fd;
  ::close(fd);
  return -1;
}

class PlantedGuard : public testing::Test {
 protected:
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root to become another user";
    // As the kubelet makes an emptyDir.
    ASSERT_EQ(::chmod(in_.path().c_str(), 0755), 0);
    std::filesystem::create_directory(shared_);
    ASSERT_EQ(::chmod(shared_.c_str(), 0777), 0);
  }

  /// The result of the first try that finds a file there: the reason of the failure; empty for a
  /// guard.
  std::string dial(std::optional<uid_t> guard_uid = std::nullopt) {
    return dial_in(shared_, guard_uid);
  }

  static std::string dial_in(const std::string& directory, std::optional<uid_t> guard_uid = {}) {
    boost::asio::io_context io;
    std::optional<std::string> out;
    guard_dialer dialer(io.get_executor(), directory, guard_uid,
                        [&](std::variant<guard_fds, no_guard> what) {
                          const auto* none = std::get_if<no_guard>(&what);
                          if (none == nullptr) out = "";
                          if (none != nullptr && !none->absent) out = none->why;
                          if (out) io.stop();
                        });
    dialer.start();
    io.run_for(patience);
    return out.value_or("nothing was found");
  }

  static constexpr std::chrono::seconds patience{20};
  temporary_directory in_;
  std::string shared_ = in_ / "shared";
  std::string meeting_ = in_ / "shared" / "guard";
};

TEST_F(PlantedGuard, GuardOfAnotherUserIsNotUsedUnlessNamed) {
  const other_process fake([this] { listen_and_welcome(shared_); }, stranger);
  EXPECT_THAT(dial(), HasSubstr("user 65534"));
  EXPECT_EQ(dial(stranger), "");
}

TEST_F(PlantedGuard, GuardOfAnyUserIsUsedInAMeetingPlaceAndNobodyCanTakeItsPlace) {
  ASSERT_TRUE(make_meeting_place(meeting_));
  const other_process real([this] { listen_and_welcome(meeting_); }, stranger);
  EXPECT_EQ(dial_in(meeting_), "");
  int done = 0;
  const other_process intruder(
      [this] {
        const auto to_other_name = [this](const char* name) {
          return ::unlink((meeting_ + name).c_str()) != 0 && errno == EPERM &&
                 ::rename((meeting_ + name).c_str(), (meeting_ + "/x").c_str()) != 0 &&
                 errno == EPERM;
        };
        ::_exit(to_other_name("/guard.sock") && to_other_name("/guard.lock") ? 0 : 1);
      },
      intruder_user);
  ASSERT_EQ(::waitpid(intruder.pid(), &done, 0), intruder.pid());
  EXPECT_EQ(done, 0) << "another user could take the guard's files away";
  EXPECT_EQ(dial_in(meeting_), "");
}

TEST_F(PlantedGuard, SocketInAMeetingPlaceIsOfTheUserWhoOwnsTheLock) {
  ASSERT_TRUE(make_meeting_place(meeting_));
  const std::string lock = meeting_ + "/guard.lock";
  const base::unique_fd of_guard(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::fchown(of_guard.get(), stranger, stranger), 0);
  const other_process intruder(
      [this] {
        const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        const auto address = guard_socket_address(meeting_);
        ::bind(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
        ::listen(fd, 1);
        sleep_on();
      },
      intruder_user);
  EXPECT_THAT(dial_in(meeting_), HasSubstr("user 65533"));
}

/// Whoever may rename the place can put another one there, but none of the agent's user.
TEST_F(PlantedGuard, DirectoryIsAMeetingPlaceOnlyAsInstallHasMadeIt) {
  const auto is_one_with = [this](uid_t owner, mode_t mode) {
    EXPECT_EQ(::chown(meeting_.c_str(), owner, owner), 0);
    EXPECT_EQ(::chmod(meeting_.c_str(), mode), 0);
    return user_of_guard(meeting_) == stranger;
  };
  ASSERT_TRUE(make_meeting_place(meeting_));
  const std::string lock = meeting_ + "/guard.lock";
  const base::unique_fd of_guard(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::fchown(of_guard.get(), stranger, stranger), 0);
  EXPECT_TRUE(is_one_with(::geteuid(), 01777));
  EXPECT_FALSE(is_one_with(::geteuid(), 0777)) << "anybody can remove the lock";
  EXPECT_FALSE(is_one_with(::geteuid(), 01755));
  EXPECT_FALSE(is_one_with(stranger, 01777));
  ASSERT_TRUE(is_one_with(::geteuid(), 01777));
  const std::string link = shared_ + "/link";
  std::filesystem::create_directory_symlink(meeting_, link);
  EXPECT_FALSE(user_of_guard(link));
  EXPECT_FALSE(make_meeting_place(link));
  std::filesystem::rename(lock, lock + "s");
  std::filesystem::create_symlink(lock + "s", lock);
  EXPECT_FALSE(user_of_guard(meeting_)) << "the lock is a link";
  ASSERT_EQ(::chown(meeting_.c_str(), stranger, stranger), 0);
  const auto of_others = make_meeting_place(meeting_);
  ASSERT_FALSE(of_others);
  EXPECT_THAT(of_others.error(), HasSubstr(meeting_ + " belongs to user 65534"));
}

TEST_F(PlantedGuard, ProcessOfAnotherUserThatListensOnOurSocketIsNotUsed) {
  const other_process fake([this] {
    // Root created the socket, and changes its user before it listens.
    const int fd = ::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
    const auto address = guard_socket_address(shared_);
    const auto* const name = reinterpret_cast<const sockaddr*>(&*address);
    if (fd < 0 || ::bind(fd, name, sizeof *address) != 0) return;
    if (::setresuid(stranger, stranger, stranger) != 0) return;
    ::listen(fd, 1);
    sleep_on();
  });
  EXPECT_THAT(dial(), HasSubstr("user 65534"));
}

TEST_F(PlantedGuard, LinkToTheSocketOfAnotherGuardIsNotFollowed) {
  const std::string elsewhere = in_ / "elsewhere";
  const other_process real([&] { listen_and_welcome(elsewhere); });
  ASSERT_TRUE(eventually([&] { return std::filesystem::exists(elsewhere + "/guard.sock"); }));
  std::filesystem::create_symlink(elsewhere + "/guard.sock", shared_ + "/guard.sock");
  EXPECT_THAT(dial(), HasSubstr("guard.sock is a symbolic link"));
}

TEST_F(PlantedGuard, MemoryThatCanBeCutOffIsNotMapped) {
  const auto memory = [](unsigned seals, off_t bytes) {
    base::unique_fd fd(::memfd_create("planted", MFD_CLOEXEC | MFD_ALLOW_SEALING));
    EXPECT_EQ(::ftruncate(fd.get(), bytes), 0);
    EXPECT_EQ(::fcntl(fd.get(), F_ADD_SEALS, seals), 0);
    return fd;
  };
  const auto maps = [](base::unique_fd fd) {
    return shared_memory().map(std::move(fd), some_bytes);
  };
  constexpr unsigned all = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
  EXPECT_TRUE(maps(memory(all, some_bytes)));
  EXPECT_FALSE(maps(memory(0, some_bytes)));
  EXPECT_FALSE(maps(memory(F_SEAL_GROW | F_SEAL_SEAL, some_bytes)));
  EXPECT_FALSE(maps(memory(F_SEAL_SHRINK | F_SEAL_SEAL, some_bytes)));
  EXPECT_FALSE(maps(memory(F_SEAL_SHRINK | F_SEAL_GROW, some_bytes)));
  EXPECT_FALSE(maps(memory(all, some_bytes - 1)));
  EXPECT_FALSE(maps(memory(all, off_t{1} << 30)));
  const std::string path = in_ / "no memfd";
  base::unique_fd file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  ASSERT_EQ(::ftruncate(file.get(), some_bytes), 0);
  EXPECT_FALSE(maps(std::move(file)));
}

TEST_F(PlantedGuard, ProcessThatIsNotTheGuardsChildIsNotKilledOnItsWord) {
  // In the guard's session, and the first of its group, as a workload would be.
  const other_process innocent([] {
    ::setpgid(0, 0);
    sleep_on();
  });
  ASSERT_TRUE(eventually([&] { return ::getpgid(innocent.pid()) == innocent.pid(); }));
  std::optional<other_process> guard;
  guard.emplace(sleep_on);
  orphans left(guard->pid());
  ASSERT_TRUE(left.in_sight());
  left.follow(innocent.pid());
  guard.reset();
  EXPECT_EQ(left.kill_all(), remains::nothing);
  EXPECT_FALSE(innocent.ended());
}

TEST_F(PlantedGuard, FileOfOthersIsNotOpenedToTheWorldThroughTheSocketsName) {
  const std::string precious = in_ / "precious";
  const std::string socket = shared_ + "/guard.sock";
  const base::unique_fd made(::open(precious.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const other_process swaps(
      [&] {
        const std::string link = shared_ + "/link";
        while (true) {
          if (::symlink(precious.c_str(), link.c_str()) != 0 && errno != EEXIST) return;
          // Only over an existing file: otherwise it would prevent every start.
          struct stat there{};
          if (::lstat(socket.c_str(), &there) == 0 && S_ISSOCK(there.st_mode)) {
            ::rename(link.c_str(), socket.c_str());
          }
        }
      },
      stranger);
  constexpr int starts = 20'000;
  int opened = 0;
  for (int i = 0; i < starts; ++i) {
    guard_listener listener;
    if (listener.open({.directory = shared_, .agent_uid = stranger})) ++opened;
  }
  EXPECT_GT(opened, 0);
  struct stat about{};
  ASSERT_EQ(::fstat(made.get(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0600U);
}

TEST_F(PlantedGuard, SocketIsForTheNamedUserWhateverTheUmask) {
  const mode_t before = ::umask(0077);
  guard_listener listener;
  const auto done = listener.open({.directory = shared_, .agent_uid = stranger});
  ::umask(before);
  ASSERT_TRUE(done) << done.error();
  struct stat about{};
  ASSERT_EQ(::lstat((shared_ + "/guard.sock").c_str(), &about), 0);
  EXPECT_EQ(about.st_mode & 0777, 0666U);
}

TEST_F(PlantedGuard, DirectoryLockOrSocketOfAnotherUserIsRefused) {
  guard_listener listener;
  const std::string theirs = in_ / "theirs";
  std::filesystem::create_directory(theirs);
  ASSERT_EQ(::chown(theirs.c_str(), stranger, stranger), 0);
  const auto in_theirs = listener.open({.directory = theirs});
  ASSERT_FALSE(in_theirs);
  EXPECT_THAT(in_theirs.error(), HasSubstr(theirs + " belongs to user 65534"));

  const std::string lock = shared_ + "/guard.lock";
  const base::unique_fd planted(::open(lock.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666));
  ASSERT_EQ(::fchown(planted.get(), stranger, stranger), 0);
  const auto with_lock = listener.open({.directory = shared_});
  ASSERT_FALSE(with_lock);
  EXPECT_THAT(with_lock.error(), HasSubstr("guard.lock"));
}

TEST_F(PlantedGuard, ConnectionsOfATurnAreBounded) {
  guard_listener listener;
  ASSERT_TRUE(listener.open({.directory = shared_, .agent_uid = stranger - 1}));
  constexpr int crowd = 40;
  std::vector<base::unique_fd> connecting;
  const uid_t us = ::geteuid();
  ASSERT_EQ(::seteuid(stranger), 0);
  for (int i = 0; i < crowd; ++i) {
    base::unique_fd one(connect_to(shared_));
    if (one) connecting.push_back(std::move(one));
  }
  ASSERT_EQ(::seteuid(us), 0);
  ASSERT_EQ(connecting.size(), crowd);
  const auto answered = [&] {
    return std::ranges::count_if(connecting, [](const base::unique_fd& one) {
      char byte = 0;
      return ::recv(one.get(), &byte, 1, MSG_PEEK | MSG_TRUNC) > 0;
    });
  };
  int connections = most_connections_a_turn;
  EXPECT_FALSE(listener.accept(connections));
  EXPECT_EQ(connections, 0);
  EXPECT_EQ(answered(), most_connections_a_turn);
  // The rest is answered in later turns.
  while (answered() < crowd) {
    connections = most_connections_a_turn;
    EXPECT_FALSE(listener.accept(connections));
  }
}

}  // namespace
}  // namespace tenure::tests
