#include "guard/file_reader.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "process/bare_call.hpp"

namespace tenure::guard {
namespace {

using process::bare_call;

/// Does not wait for the writer of a pipe, and takes no terminal.
constexpr int always = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;

/// Returns 0 or an errno value. Makes bare calls only. `about` and `size` are zeros before.
int read_file(const char* path, int flags, std::span<char> room, struct stat& about,
              std::size_t& size) {
  const long fd = bare_call(SYS_openat, AT_FDCWD, path, flags | always, 0);
  if (fd < 0) return static_cast<int>(-fd);
  long error = -bare_call(SYS_fstat, fd, &about);
  while (error == 0 && size < room.size()) {
    const long got = bare_call(SYS_read, fd, room.data() + size, room.size() - size);
    if (got == -EINTR) continue;
    if (got == 0) break;
    if (got < 0) {
      error = -got;
    } else {
      size += static_cast<std::size_t>(got);
    }
  }
  bare_call(SYS_close, fd);
  return static_cast<int>(error);
}

class direct_reader final : public file_reader {
 public:
  answer read(const char* path, int flags, std::span<char> room) override {
    answer out;
    std::size_t size = 0;
    out.error = read_file(path, flags, room, out.about, size);
    out.text = {room.data(), size};
    return out;
  }
};

}  // namespace

file_reader& reader_that_waits() {
  static direct_reader one;
  return one;
}

side_reader::~side_reader() {
  for (const desk& each : desks_) each.process.kill();
}

int side_reader::open() {
  for (desk& each : desks_) {
    if (!each.memory.make(process_name, sizeof(order))) return errno;
    each.process.prepare(process_name, &side_reader::serve, each.memory.data());
  }
  return desks_.front().process.start();
}

/// True also if the process is dead: then the order was not carried out.
bool side_reader::desk::has_answered(int within_ms) {
  char done = 0;
  const int socket = process.socket().get();
  pollfd one{.fd = socket, .events = POLLIN, .revents = 0};
  if (::poll(&one, 1, within_ms) <= 0) return false;
  if (::recv(socket, &done, sizeof done, MSG_DONTWAIT) <= 0) present().error = ETIMEDOUT;
  return true;
}

file_reader::answer side_reader::read(const char* path, int flags, std::span<char> room) {
  answer out{.error = ETIMEDOUT};
  desk* idle = nullptr;
  for (desk& each : desks_) {
    if (each.hangs) each.hangs = !each.has_answered(0);
    if (each.hangs && std::strcmp(each.present().path.data(), path) == 0) return out;
    if (!each.hangs && idle == nullptr) idle = &each;
  }
  const std::size_t length = std::strlen(path) + 1;
  if (length > most_read_bytes) out.error = ENAMETOOLONG;
  if (idle == nullptr || length > most_read_bytes) return out;
  order& asked = idle->present();
  std::copy_n(path, length, asked.path.data());
  asked.flags = flags;
  if (!idle->process.send(".")) return out;
  idle->hangs = !idle->has_answered(most_waited_ms);
  if (idle->hangs) return out;
  out.error = asked.error;
  out.about = asked.about;
  const std::size_t size = std::min(asked.size, room.size());
  std::copy_n(asked.text.data(), size, room.data());
  out.text = {room.data(), size};
  return out;
}

// From here on: in the process, which makes bare calls only.

/// Ends with the guard.
void side_reader::serve(void* of, int socket) {
  order& what = *static_cast<order*>(of);
  char go = 0;
  while (bare_call(SYS_read, socket, &go, sizeof go) > 0) {
    what.about = {};
    what.size = 0;
    what.error = read_file(what.path.data(), what.flags, what.text, what.about, what.size);
    if (bare_call(SYS_write, socket, &go, sizeof go) <= 0) return;
  }
}

}  // namespace tenure::guard
