#include "guard/log_writer.hpp"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <ctime>

#include "base/wall_time.hpp"
#include "process/bare_call.hpp"

namespace tenure::guard {
namespace {

using process::bare_call;

/// Waits until it is worth another try to write to stderr; true if the guard is gone.
bool hung_up(int socket, long error) {
  pollfd ends[] = {{.fd = socket, .events = 0, .revents = 0},
                   {.fd = STDERR_FILENO, .events = POLLOUT, .revents = 0}};
  // Others may have set stderr to non-blocking: then it tells when there is room.
  const int watched = error == EAGAIN ? 2 : 1;
  timespec pause{.tv_sec = 1, .tv_nsec = 0};
  bare_call(SYS_ppoll, ends, watched, &pause, nullptr);
  return ends[0].revents != 0;
}

}  // namespace

int log_writer::open() {
  process_.prepare(process_name, &log_writer::carry_lines, this);
  return process_.start();
}

bool log_writer::write(std::string_view line) {
  used_ = true;
  return process_.send(line);
}

std::int64_t log_writer::unix_ms() const {
  return base::wall_now_ms();
}

void log_writer::close() {
  process_.hang_up();
  if (!used_) return process_.kill();
  for (int waited_ms = 0; !process_.reap(); ++waited_ms) {
    if (waited_ms == most_waited_ms) return process_.kill();
    ::poll(nullptr, 0, 1);
  }
}

// From here on: in the process, which makes bare calls only, as `hung_up` does.

/// Ends once the guard is dead or has closed its end, and all its lines are read.
void log_writer::carry_lines(void* of, int socket) {
  auto* const self = static_cast<log_writer*>(of);
  for (;;) {
    const long size = bare_call(SYS_read, socket, self->line_.data(), self->line_.size());
    if (size <= 0) return;
    self->carry(static_cast<std::size_t>(size), socket);
  }
}

/// However long that takes; a line that cannot be written is given up once the guard is gone.
void log_writer::carry(std::size_t size, int socket) const {
  for (std::size_t at = 0; at < size;) {
    const long written = bare_call(SYS_write, STDERR_FILENO, line_.data() + at, size - at);
    if (written > 0) {
      at += static_cast<std::size_t>(written);
    } else if (hung_up(socket, -written)) {
      return;
    }
  }
}

}  // namespace tenure::guard
