#include "guard/file_reader.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <fstream>
#include <memory>
#include <string>

#include "support/eventually.hpp"
#include "support/hung_mount.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {
namespace {

using guard::side_reader;

/// Reads by other processes. All signals have to be blocked, so a child does it.
class SideReader : public testing::Test {
 protected:
  /// What `act` finds wrong; empty if nothing.
  template <class Act>
  std::string in_a_child(Act act) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return "no pipe";
    const base::unique_fd read_end(ends[0]);
    base::unique_fd write_end(ends[1]);
    const pid_t child = ::fork();
    if (child == 0) {
      sigset_t all;
      ::sigfillset(&all);
      ::sigprocmask(SIG_SETMASK, &all, nullptr);
      {
        const auto reader = std::make_unique<side_reader>();
        const std::string wrong = reader->open() == 0 ? act(*reader) : "it does not start";
        [[maybe_unused]] const ssize_t sent = ::write(write_end.get(), wrong.data(), wrong.size());
      }
      ::_exit(0);
    }
    write_end.reset();
    std::string wrong;
    std::array<char, 512> some{};
    for (ssize_t got = 0; (got = ::read(read_end.get(), some.data(), some.size())) > 0;) {
      wrong.append(some.data(), static_cast<std::size_t>(got));
    }
    int status = -1;
    ::waitpid(child, &status, 0);
    return status == 0 ? wrong : wrong + " (ended by " + std::to_string(status) + ")";
  }

  side_reader::answer read(guard::file_reader& by, const std::string& path, int flags = 0) {
    return by.read(path.c_str(), flags, room_);
  }

  std::string write(const std::string& name, const std::string& text) {
    std::ofstream(in_ / name) << text;
    return in_ / name;
  }

  temporary_directory in_;
  std::array<char, guard::most_read_bytes> room_{};
};

TEST_F(SideReader, AnswersAsAReaderThatWaitsDoes) {
  const std::string file = write("file", "4711\n");
  const std::string link = in_ / "link";
  ASSERT_EQ(::symlink(file.c_str(), link.c_str()), 0);
  const std::string large = write("large", std::string(2 * guard::most_read_bytes, 'x'));
  struct one {
    std::string path;
    int flags;
  };
  const std::string wrong = in_a_child([&](side_reader& reader) {
    for (const one& each : {one{file, 0}, one{link, 0}, one{link, O_NOFOLLOW}, one{large, 0},
                            one{in_ / "missing", 0}, one{in_.path(), 0}, one{"/proc/version", 0}}) {
      std::array<char, guard::most_read_bytes> other{};
      const auto expected = guard::reader_that_waits().read(each.path.c_str(), each.flags, other);
      const auto got = read(reader, each.path, each.flags);
      const bool is_same = got.error == expected.error && got.about.st_ino == expected.about.st_ino;
      const bool is_text = got.text == expected.text;
      if (!is_same || !is_text) return each.path + ": error " + std::to_string(got.error);
    }
    return std::string();
  });
  EXPECT_EQ(wrong, "");
}

TEST_F(SideReader, GoesOnWhileAFileHangs) {
  const std::string place = in_ / "place";
  ASSERT_EQ(::mkdir(place.c_str(), 0700), 0);
  const std::string file = write("file", "4711\n");
  const hung_mount hung(place);
  if (!hung.is_there()) GTEST_SKIP() << "no file system of FUSE can be mounted here: not root";
  const std::string wrong = in_a_child([&](side_reader& reader) -> std::string {
    for (int i = 0; i < 3; ++i) {
      if (read(reader, place + "/pid").error != ETIMEDOUT) return "a file that hangs was read";
      if (read(reader, file).text != "4711\n") return "another one was not read";
    }
    // Each further one takes another process, and then there is none.
    for (std::size_t i = 1; i < side_reader::most_processes; ++i) {
      if (read(reader, place + "/" + std::to_string(i)).error != ETIMEDOUT) return "it was read";
    }
    if (read(reader, file).error != ETIMEDOUT) return "who has read it?";
    // Whoever waits there is answered, though it stays mounted as long as somebody uses it.
    ::umount2(place.c_str(), MNT_FORCE);
    const bool comes_back = eventually([&] { return read(reader, file).text == "4711\n"; });
    return comes_back ? "" : "it never reads again";
  });
  EXPECT_EQ(wrong, "");
}

TEST_F(SideReader, ReplacesAProcessThatSomebodyHasKilled) {
  const std::string file = write("file", "4711\n");
  const std::string wrong = in_a_child([&](side_reader& reader) -> std::string {
    const pid_t before = reader.process(0).pid();
    ::kill(before, SIGKILL);
    const bool reads = eventually([&] { return read(reader, file).text == "4711\n"; });
    if (!reads) return "it never reads again";
    return reader.process(0).pid() == before ? "that one is dead" : "";
  });
  EXPECT_EQ(wrong, "");
}

}  // namespace
}  // namespace tenure::tests
