#include "log/line_writer.hpp"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "core/check.hpp"
#include "log/standard_streams.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::log {
namespace {

using testing::ElementsAre;
using tests::eventually;

std::string missing(std::uint64_t lost, int error) {
  return "missing " + std::to_string(lost) + " of " + std::to_string(error);
}

/// A pipe whose reader the test is. Its end for writing stays open, as stderr does.
struct reader {
  explicit reader(int flags = 0) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC | flags), 0);
    from = base::unique_fd(ends[0]);
    to = base::unique_fd(ends[1]);
    ::fcntl(from.get(), F_SETFL, O_NONBLOCK);
  }

  void leave() { from = base::unique_fd(); }
  void come_back() {
    const std::string path = "/proc/self/fd/" + std::to_string(to.get());
    from = base::unique_fd(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    ASSERT_TRUE(from);
  }
  /// Until nothing more fits; returns how many bytes that were.
  std::size_t fill() const {
    const std::string path = "/proc/self/fd/" + std::to_string(to.get());
    const base::unique_fd again(::open(path.c_str(), O_WRONLY | O_NONBLOCK | O_CLOEXEC));
    std::size_t filled = 0;
    for (ssize_t n = 0; (n = ::write(again.get(), std::string(4096, '#').data(), 4096)) > 0;) {
      filled += static_cast<std::size_t>(n);
    }
    return filled;
  }
  /// The next line, without its end.
  std::string line() {
    std::size_t end = 0;
    EXPECT_TRUE(eventually([&] {
      std::string piece(4096, '\0');
      const ssize_t n = ::read(from.get(), piece.data(), piece.size());
      if (n > 0) unread.append(piece, 0, static_cast<std::size_t>(n));
      end = unread.find('\n');
      return end != std::string::npos;
    })) << unread;
    const std::string out = unread.substr(0, end);
    unread.erase(0, end + 1);
    return out;
  }
  [[nodiscard]] bool has_something() const {
    int bytes = 0;
    return ::ioctl(from.get(), FIONREAD, &bytes) == 0 && bytes > 0;
  }

  base::unique_fd from;
  base::unique_fd to;
  std::string unread;
};

bool loses(const line_writer& one, std::uint64_t count) {
  return eventually([&] { return one.lost() == count; });
}

TEST(LineWriter, WritesLinesInTheirOrderAndAllOfThemBeforeItsEnd) {
  reader its;
  {
    line_writer out(its.to.get(), missing);
    out.write("one");
    out.write("two");
  }
  EXPECT_EQ(its.line(), "one");
  EXPECT_EQ(its.line(), "two");
}

TEST(LineWriter, WithoutAReaderLinesAreLostAndOneLineSaysHowManyOnceThereIsOne) {
  reader its;
  line_writer out(its.to.get(), missing);
  its.leave();
  for (const char* const lost : {"one", "two", "three"}) out.write(lost);
  ASSERT_TRUE(loses(out, 3));
  its.come_back();
  out.write("four");
  out.write("five");
  EXPECT_EQ(its.line(), missing(3, EPIPE));
  EXPECT_EQ(its.line(), "four");
  EXPECT_EQ(its.line(), "five");
  EXPECT_EQ(out.lost(), 3U);
}

TEST(LineWriter, ASocketWithoutAReaderEndsNobodyWhateverIsInherited) {
  ::signal(SIGPIPE, SIG_DFL);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const base::unique_fd to(ends[0]);
  ::close(ends[1]);
  line_writer out(to.get(), missing);
  out.write("one");
  EXPECT_TRUE(loses(out, 1));
}

TEST(LineWriter, WithAReaderThatStandsStillTheOldestAreLostWhereTheyAreMissing) {
  // Another program may have made the pipe non-blocking, for all that share it.
  for (const int flags : {0, O_NONBLOCK}) {
    reader its(flags);
    line_writer out(its.to.get(), missing);
    const std::string larger_than_a_pipe(100'000, '#');
    out.write(larger_than_a_pipe);
    ASSERT_TRUE(eventually([&] { return its.has_something(); }));
    constexpr std::size_t too_many = 7;
    constexpr std::size_t last = line_writer::most_waiting + too_many;
    for (std::size_t i = 1; i <= last; ++i) out.write(std::to_string(i));
    EXPECT_EQ(out.lost(), too_many);
    EXPECT_EQ(its.line(), larger_than_a_pipe);
    EXPECT_EQ(its.line(), missing(too_many, 0));
    for (std::size_t i = too_many + 1; i <= last; ++i) ASSERT_EQ(its.line(), std::to_string(i));
  }
}

TEST(LineWriter, ALineThatWasCutOffDoesNotRunIntoTheNextOne) {
  // The next line is written once the file may grow again, as on a disk that was full.
  const tests::temporary_directory in;
  const base::unique_fd to(
      ::open((in / "log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  line_writer out(to.get(), missing);
  rlimit small = before;
  small.rlim_cur = 10;
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  out.write("first");
  out.write("second");
  out.write("third");
  const bool are_lost = loses(out, 2);
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &before), 0);
  ASSERT_TRUE(are_lost);
  out.write("fourth");
  const auto lines = [&] {
    std::vector<std::string> all;
    std::ifstream file(in / "log");
    for (std::string line; std::getline(file, line);) all.push_back(line);
    return all;
  };
  ASSERT_TRUE(eventually([&] { return lines().size() == 4; }));
  EXPECT_THAT(lines(), ElementsAre("first", "seco", missing(2, EFBIG), "fourth"));
}

TEST(LineWriter, FullDisksAndClosedDescriptorsCostLinesAndNothingElse) {
  const base::unique_fd full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const base::unique_fd not_for_writing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  for (const int fd : {full.get(), not_for_writing.get(), -1}) {
    line_writer out(fd, missing);
    for (int i = 0; i < 3; ++i) out.write("x");
    EXPECT_TRUE(loses(out, 3));
  }
}

TEST(LineWriter, ItsEndLeavesAWriteBehindThatHangs) {
  // Static: what is left behind may still use it.
  static reader its;
  const std::size_t filled = its.fill();
  {
    line_writer(its.to.get(), missing).write("late");
  }
  // It has not come to the write's end, and here we are. Now the reader wakes up.
  EXPECT_EQ(its.line(), std::string(filled, '#') + "late");
}

/// As the programs that live on: with this stderr.
[[noreturn]] void with_stderr(int fd, void (*then)()) {
  ::dup2(fd, STDERR_FILENO);
  outlive_stderr();
  then();
  ::_exit(0);
}

TEST(StandardStreamsDeathTest, MessageThatNobodyReadsHoldsNobodyUp) {
  const reader stuck;
  stuck.fill();
  const auto complain = [] {
    std::fprintf(stderr, "wrong: %d\n", 7);
    std::fputs("and more\n", stderr);
    ::_exit(2);
  };
  EXPECT_EXIT(with_stderr(stuck.to.get(), complain), testing::ExitedWithCode(2), "");
}

TEST(StandardStreamsDeathTest, MessageWithoutAReaderEndsNobody) {
  reader gone;
  gone.leave();
  const auto complain = [] {
    std::fputs("wrong\n", stderr);
    if (::write(STDERR_FILENO, "x", 1) != -1) ::_exit(1);
    ::_exit(2);
  };
  EXPECT_EXIT(with_stderr(gone.to.get(), complain), testing::ExitedWithCode(2), "");
}

TEST(StandardStreamsDeathTest, MessageThatIsReadArrivesAsItIs) {
  const auto complain = [] {
    std::fputs("wrong: ", stderr);
    std::fputs("this\nand that\n", stderr);
    ::_exit(2);
  };
  EXPECT_EXIT(with_stderr(STDERR_FILENO, complain), testing::ExitedWithCode(2),
              "^wrong: this\nand that\n$");
}

TEST(StandardStreamsDeathTest, FailedCheckEndsTheProcessAlthoughNobodyReads) {
  const reader stuck;
  stuck.fill();
  EXPECT_EXIT(with_stderr(stuck.to.get(), [] { TENURE_CHECK(false); }),
              testing::KilledBySignal(SIGABRT), "");
}

TEST(StandardStreamsDeathTest, NothingThatIsOpenedGetsTheNumberOfAClosedOne) {
  const auto open_one = [] {
    for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::close(fd);
    reserve_standard_streams();
    const bool fails = ::write(STDERR_FILENO, "x", 1) == -1 && errno == EBADF;
    ::_exit(::open("/dev/null", O_RDONLY) > STDERR_FILENO && fails ? 3 : 1);
  };
  EXPECT_EXIT(open_one(), testing::ExitedWithCode(3), "");
}

}  // namespace
}  // namespace tenure::log
