#include "base/terminal.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

namespace tenure::base {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

int standard_terminal() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (is_terminal(fd)) return fd;
  }
  return -1;
}

// Linux answers EIO to nearly every request about a terminal that was hung up
// (drivers/tty/tty_io.c, hung_up_tty_ioctl). One that is there answers, or says ENOTTY to who is
// not in its session.
bool has_hung_up(int terminal) {
  return terminal >= 0 && ::tcgetpgrp(terminal) < 0 && errno == EIO;
}

bool wants_colour(int fd) {
  const std::string_view kind = variable("TERM");
  return is_terminal(fd) && variable("NO_COLOR").empty() && !kind.empty() && kind != "dumb";
}

}  // namespace tenure::base
