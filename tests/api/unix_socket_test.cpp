#include "http/server/unix_socket.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <optional>

#include "support/temporary_directory.hpp"
#include "test_server.hpp"

namespace tenure::tests {
namespace {

using testing::HasSubstr;

/// Answers on a socket in a directory of its own.
struct local_server {
  local_server() {
    const auto opened =
        server.listen_on_path(path, [this](const http::request& asked, http::responder respond) {
          {
            const std::lock_guard lock(mutex);
            last = asked;
          }
          respond(echo(asked));
        });
    if (!opened) ADD_FAILURE() << opened.error().text;
    EXPECT_TRUE(server.start());
  }

  temporary_directory directory;
  std::string path = (directory / "s").string();
  std::mutex mutex;
  http::request last;
  http::http_server server;
};

/// What an agent that was killed leaves behind: a socket that nobody listens on.
void leave_dead_socket(const std::string& path) {
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path, path.c_str(), path.size() + 1);
  const base::unique_fd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  ASSERT_TRUE(socket);
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&name), sizeof name), 0);
}

TEST(UnixSocket, AnswersAndSaysWhoHasAsked) {
  local_server s;
  EXPECT_EQ(raw_client(s.path).ask(get("/local")).body, "GET /local");
  const std::lock_guard lock(s.mutex);
  ASSERT_TRUE(s.last.peer);
  EXPECT_EQ(s.last.peer->uid, ::getuid());
  EXPECT_EQ(s.last.peer->pid, ::getpid());
}

TEST(UnixSocket, NobodyHasAPeerOverTheNetwork) {
  std::optional<http::request> seen;
  {
    test_server s({}, [&](const http::request& asked) {
      seen = asked;
      return http::response{};
    });
    raw_client(s.where).ask(get("/"));
  }
  ASSERT_TRUE(seen);
  EXPECT_FALSE(seen->peer);
}

TEST(UnixSocket, IsOfItsOwnerAlone) {
  const local_server s;
  struct stat found{};
  ASSERT_EQ(::lstat(s.path.c_str(), &found), 0);
  EXPECT_TRUE(S_ISSOCK(found.st_mode));
  EXPECT_EQ(found.st_mode & 07777, 0600u);
}

TEST(UnixSocket, ThatIsAliveIsLeftAloneAndNamed) {
  local_server s;
  const auto second = http::unix_socket::open(s.path);
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().kind, http::listen_failure::in_use);
  EXPECT_EQ(second.error().text,
            "cannot listen on unix:" + s.path + ": it is in use by another process");
  EXPECT_EQ(raw_client(s.path).ask(get("/still")).body, "GET /still");
}

TEST(UnixSocket, OfADeadAgentIsReplaced) {
  const temporary_directory directory;
  const std::string path = (directory / "s").string();
  leave_dead_socket(path);
  const auto opened = http::unix_socket::open(path);
  ASSERT_TRUE(opened) << opened.error().text;
  EXPECT_TRUE(raw_client(path).connected());
}

TEST(UnixSocket, WhatIsNoSocketIsLeftAlone) {
  const temporary_directory directory;
  const std::string path = (directory / "file").string();
  std::ofstream(path) << "precious";
  const auto opened = http::unix_socket::open(path);
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().kind, http::listen_failure::bad_address);
  EXPECT_THAT(opened.error().text, HasSubstr("there is a file that is not a socket"));
  EXPECT_EQ(std::filesystem::file_size(path), 8u);
}

TEST(UnixSocket, GoesWithItsOwnerUnlessSomebodyHasPutAnotherThere) {
  const temporary_directory directory;
  const std::string path = (directory / "s").string();
  {
    const auto opened = http::unix_socket::open(path);
    ASSERT_TRUE(opened) << opened.error().text;
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  {
    const auto opened = http::unix_socket::open(path);
    ASSERT_TRUE(opened) << opened.error().text;
    std::filesystem::rename(path, path + ".old");
    leave_dead_socket(path);
  }
  EXPECT_TRUE(std::filesystem::exists(path)) << "it is another's";
}

TEST(UnixSocket, IsGoneWhenTheServerIsShutDown) {
  local_server s;
  s.server.shutdown();
  EXPECT_FALSE(std::filesystem::exists(s.path));
}

TEST(UnixSocket, PathThatCannotBeSaysWhy) {
  const temporary_directory directory;
  const auto too_long = http::unix_socket::open((directory / std::string(200, 'x')).string());
  ASSERT_FALSE(too_long);
  EXPECT_THAT(too_long.error().text, HasSubstr("a socket's path has 1 to 107 bytes"));
  const auto nowhere = http::unix_socket::open((directory / "no" / "s").string());
  ASSERT_FALSE(nowhere);
  EXPECT_THAT(nowhere.error().text, HasSubstr("No such file or directory"));
}

}  // namespace
}  // namespace tenure::tests
