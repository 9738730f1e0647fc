#include "log/standard_streams.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <string>
#include <utility>

#include "log/line_writer.hpp"

namespace tenure::log {
namespace {

/// Takes whole lines. Never fails: nobody could be told.
ssize_t write_in_time(void*, const char* text, std::size_t size) {
  std::string lines(text, size);
  if (lines.ends_with('\n')) lines.pop_back();
  try {
    line_writer(STDERR_FILENO, {}).write(std::move(lines));
  } catch (const std::exception&) {
    // No thread or no memory is left for it.
  }
  return static_cast<ssize_t>(size);
}

}  // namespace

void reserve_standard_streams() {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    // The lowest free number is taken, and only for reading.
    if (::fcntl(fd, F_GETFD) < 0) static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

void outlive_stderr() {
  ::signal(SIGPIPE, SIG_IGN);
  ::signal(SIGXFSZ, SIG_IGN);
  // Not only messages of ours: a check that fails must end the process, too.
  FILE* const in_time = ::fopencookie(
      nullptr, "w", {.read = nullptr, .write = write_in_time, .seek = nullptr, .close = nullptr});
  if (in_time == nullptr) return;
  std::setvbuf(in_time, nullptr, _IOLBF, BUFSIZ);
  stderr = in_time;
}

}  // namespace tenure::log
