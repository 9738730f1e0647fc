#include "health/health_check.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <csignal>
#include <fstream>

#include "harness.hpp"
#include "scene.hpp"

namespace tenure::runtime {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using tests::scripted_server;
using tests::temporary_directory;

/// A check and its loop. Each `ask` waits for the result.
struct scene : tests::loop {
  /// "well", or what failed.
  std::string ask(core::duration limit = 20s) {
    std::optional<std::string> found;
    check->begin(limit, [&](health::health_check::verdict what) {
      EXPECT_FALSE(found) << "a handler is called once";
      found = what.value_or("well");
    });
    EXPECT_FALSE(found) << "a handler is not called from within the call";
    if (!run_until([&] { return found.has_value(); })) ADD_FAILURE() << "no verdict at all";
    return found.value_or("");
  }

  http::asio_loop events{io.get_executor()};
  std::unique_ptr<health::health_check> check;
};

struct http_scene : scene {
  explicit http_scene(const settings::endpoint& server, const std::string& target = "/healthz") {
    check = health::make_http_check(events, settings::text(server) + target);
  }
};

struct command_scene : scene {
  explicit command_scene(std::vector<std::string> argv) {
    check = health::make_command_check(events, std::move(argv));
  }
};

struct file_scene : scene {
  explicit file_scene(std::string path, std::optional<core::duration> most_age = {}) {
    check = health::make_file_check(events, std::move(path), most_age);
  }
};

/// A server that answers every request with this status line.
scripted_server::script answers(const std::string& status) {
  return [status](tests::peer& with, int) {
    while (!with.request().empty()) {
      with.send("HTTP/1.1 " + status + "\r\nContent-Length: 2\r\n\r\nok");
    }
  };
}

/// Processes killed by a destroyed check stay zombies until this process ends.
std::vector<pid_t> living_children() {
  std::vector<pid_t> all = tests::children_of(::getpid());
  std::erase_if(all, [](pid_t one) { return !tests::is_alive(one); });
  return all;
}

TEST(HttpCheck, AnyStatusFrom200To299IsWell) {
  for (const char* status : {"200 OK", "204 No Content", "299 x"}) {
    const bool empty = std::string(status).starts_with("204");
    scripted_server server([&](tests::peer& with, int) {
      with.request();
      with.send("HTTP/1.1 " + std::string(status) +
                (empty ? "\r\n\r\n" : "\r\nContent-Length: 0\r\n\r\n"));
    });
    EXPECT_EQ(http_scene(server.where()).ask(), "well") << status;
  }
}

TEST(HttpCheck, OtherStatusesAreToldWithWhatWasAsked) {
  scripted_server ill(answers("503 Service Unavailable"));
  EXPECT_EQ(http_scene(ill.where()).ask(),
            "GET " + settings::text(ill.where()) + "/healthz answered 503");
  scripted_server moved(answers("302 Found"));
  EXPECT_THAT(http_scene(moved.where()).ask(), HasSubstr("redirects (status 302)"));
}

TEST(HttpCheck, PathAndQueryAreSentAndTheQueryIsNotTold) {
  std::string asked;
  scripted_server server([&](tests::peer& with, int) {
    asked = with.request();
    with.send("HTTP/1.1 500 x\r\nContent-Length: 0\r\n\r\n");
  });
  const std::string said = http_scene(server.where(), "/a/?token=hunter2").ask();
  EXPECT_THAT(said, HasSubstr("/a/ answered 500"));
  EXPECT_THAT(said, Not(HasSubstr("hunter2")));
  EXPECT_THAT(asked, StartsWith("GET /a/?token=hunter2 HTTP/1.1\r\n"));
  EXPECT_EQ(http_scene(server.where(), "?x").check->subject(),
            "GET " + settings::text(server.where()) + "/");
}

TEST(HttpCheck, ServerThatHangsIsToldWithTheTimeItHad) {
  scripted_server server([](tests::peer& with, int) {
    with.request();
    with.closed();
  });
  EXPECT_EQ(http_scene(server.where()).ask(100ms),
            "GET " + settings::text(server.where()) + "/healthz: no answer within 100ms");
}

TEST(HttpCheck, NobodyThereIsAFailureAndNotAnError) {
  settings::endpoint nobody;
  {
    const scripted_server server([](tests::peer&, int) {});
    nobody = server.where();
  }
  EXPECT_THAT(http_scene(nobody).ask(), HasSubstr("Connection refused"));
}

TEST(HttpCheck, EachIsAConnectionOfItsOwn) {
  scripted_server server(answers("200 OK"));
  http_scene s(server.where());
  EXPECT_EQ(s.ask(), "well");
  EXPECT_EQ(s.ask(), "well");
  EXPECT_EQ(server.connections(), 2);
}

TEST(HttpCheck, OneThatWasCancelledIsNotTakenForTheNext) {
  std::atomic<bool> hang = true;
  scripted_server server([&](tests::peer& with, int) {
    with.request();
    if (hang) {
      with.closed();
    } else {
      with.send("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    }
  });
  http_scene s(server.where());
  s.check->begin(200ms,
                 [](const health::health_check::verdict&) { ADD_FAILURE() << "was cancelled"; });
  ASSERT_TRUE(s.run_until([&] { return server.connections() == 1; }));
  s.check->cancel();
  hang = false;
  EXPECT_EQ(s.ask(), "well");
}

TEST(CommandCheck, ExitStatusDecides) {
  EXPECT_EQ(command_scene({"true"}).ask(), "well");
  EXPECT_EQ(command_scene({"false"}).ask(), "false exited with status 1");
  EXPECT_EQ(command_scene({"sh", "-c", "kill -9 $$"}).ask(),
            "sh with 2 arguments was ended by SIGKILL");
}

TEST(CommandCheck, OneThatCannotBeExecutedSaysWhatToDo) {
  EXPECT_EQ(command_scene({"no-such-program", "-x"}).ask(),
            "no-such-program with 1 argument cannot be executed: No such file or directory "
            "(ENOENT); check its name, PATH and permissions");
}

TEST(CommandCheck, ArgumentsAreNeverTold) {
  for (const char* argument : {"exit 1 # hunter2", "sleep 1000 # hunter2"}) {
    command_scene s({"sh", "-c", argument});
    EXPECT_THAT(s.ask(100ms), Not(HasSubstr("hunter2")));
    EXPECT_THAT(s.check->subject(), Not(HasSubstr("hunter2")));
  }
}

TEST(CommandCheck, OneThatHangsFailsInItsTimeAndTheNextIsMadeWhenItIsDead) {
  const temporary_directory in;
  const std::string hang = in / "hang";
  std::ofstream(hang) << "";
  command_scene s({"sh", "-c", "[ ! -e " + hang + " ] || { sleep 1000; sleep 1000; }"});
  EXPECT_EQ(s.ask(100ms), "sh with 2 arguments: no end within 100ms");
  EXPECT_EQ(s.ask(100ms), "sh with 2 arguments: no end within 100ms");
  std::filesystem::remove(hang);
  EXPECT_EQ(s.ask(), "well");
  EXPECT_TRUE(tests::eventually([] { return living_children().empty(); }));
}

TEST(CommandCheck, OneThatTheKernelDoesNotEndHoldsTheOthersUpAndNobodyElse) {
  // A stopped keeper simulates one that hangs in the kernel.
  command_scene s({"sh", "-c", "sleep 1000; sleep 1000"});
  s.check->begin(20s,
                 [](const health::health_check::verdict&) { ADD_FAILURE() << "was cancelled"; });
  const std::vector<pid_t> keepers = living_children();
  ASSERT_EQ(keepers.size(), 1U);
  ::kill(keepers.front(), SIGSTOP);
  s.check->cancel();
  EXPECT_THAT(s.ask(100ms), HasSubstr("the previous check was killed"));
  EXPECT_EQ(living_children().size(), 1U) << "at most one at a time";
  ::kill(keepers.front(), SIGCONT);
  EXPECT_THAT(s.ask(100ms), HasSubstr("no end within 100ms"));
}

TEST(CommandCheck, OneThatWasCancelledIsKilledAndTheNextStartsAnew) {
  const temporary_directory in;
  command_scene s({"sh", "-c", "[ -e " + (in / "go").string() + " ] || sleep 1000"});
  s.check->begin(20s,
                 [](const health::health_check::verdict&) { ADD_FAILURE() << "was cancelled"; });
  s.check->cancel();
  std::ofstream(in / "go") << "";
  EXPECT_EQ(s.ask(), "well");
}

TEST(FileCheck, FileThatIsThereIsWell) {
  const temporary_directory in;
  const std::string path = in / "ok";
  EXPECT_EQ(file_scene(path).ask(), path + ": No such file or directory (ENOENT)");
  std::ofstream(path) << "";
  EXPECT_EQ(file_scene(path).ask(), "well");
  EXPECT_EQ(file_scene(in.path()).ask(), "well") << "a directory will do";
}

TEST(FileCheck, FileThatIsTooOldIsToldWithBothAges) {
  using clock = std::filesystem::file_time_type::clock;
  const temporary_directory in;
  const std::string path = in / "ok";
  std::ofstream(path) << "";
  std::filesystem::last_write_time(path, clock::now() - 42s);
  EXPECT_EQ(file_scene(path, 10min).ask(), "well");
  const std::string said = file_scene(path, 30s).ask();
  EXPECT_THAT(said, StartsWith(path + " is 4"));
  EXPECT_THAT(said, HasSubstr("s old; at most 30s is allowed"));
  std::filesystem::last_write_time(path, clock::now() + 1h);
  EXPECT_EQ(file_scene(path, 30s).ask(), "well") << "from the future counts as now";
}

}  // namespace
}  // namespace tenure::runtime
