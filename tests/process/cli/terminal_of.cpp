#include "terminal_of.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>

#include "support/eventually.hpp"

namespace tenure::tests {

terminal_of::terminal_of(const std::vector<std::string>& words, unsigned short columns) {
  const winsize size{.ws_row = 10, .ws_col = columns, .ws_xpixel = 0, .ws_ypixel = 0};
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  int master = -1;
  pid_ = ::forkpty(&master, nullptr, nullptr, &size);
  if (pid_ == 0) {
    ::setenv("TERM", "xterm", 1);
    ::unsetenv("NO_COLOR");
    ::execvp(argv[0], argv.data());
    ::_exit(127);
  }
  master_.reset(master);
  ::fcntl(master, F_SETFL, O_NONBLOCK);
}

terminal_of::~terminal_of() {
  if (pid_ <= 0) return;
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

const std::string& terminal_of::shown() {
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = ::read(master_.get(), piece.data(), piece.size())) > 0;) {
    shown_.append(piece.data(), static_cast<std::size_t>(got));
  }
  return shown_;
}

void terminal_of::type(std::string_view keys) const {
  EXPECT_EQ(::write(master_.get(), keys.data(), keys.size()), static_cast<ssize_t>(keys.size()));
}

bool terminal_of::takes_keys() const {
  termios now{};
  return ::tcgetattr(master_.get(), &now) == 0 && (now.c_lflag & ICANON) == 0;
}

int terminal_of::ended_by() {
  int status = 0;
  eventually([&] {
    shown();
    return ::waitpid(pid_, &status, WNOHANG) == pid_;
  });
  pid_ = -1;
  shown();
  return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

}  // namespace tenure::tests
