#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string_view>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// A small process that does for us what may wait for ever: a write to a log that nobody reads, a
/// look at a file on a mount that hangs.
///
/// A process and not a thread: a thread that hangs in the kernel keeps its process from ending, so
/// others would take us for alive. It uses our memory, on a stack of its own, so it costs hardly
/// any; its descriptors are its own. Packets go over a socket between the two, which never makes us
/// wait.
///
/// Not thread-safe; in a process of one thread.
class side_process {
 public:
  /// What it runs, with its end of the socket. It must call the kernel by `bare_call` alone, since
  /// `errno` is ours, and return when the socket is closed.
  using work = void (*)(void* with, int socket);

  /// Allocates its stack; nothing else here allocates. `name` shows in `ps`; at most 15 bytes.
  /// `with` outlives the process.
  void prepare(const char* name, work what, void* with);

  /// Starts it as our child; it has no descriptors but its end of the socket and stderr. Returns 0
  /// or an errno value. Preconditions: prepared; all signals are blocked; the process before it is
  /// dead.
  [[nodiscard]] int start();

  /// Sends it a packet. If it was not started yet, or somebody has killed it, it is started first.
  /// False if there is no room now, or it cannot be started.
  [[nodiscard]] bool send(std::string_view packet);

  /// Our end of the socket; empty if it was not started or is closed.
  [[nodiscard]] const base::unique_fd& socket() const { return socket_; }
  void hang_up() { socket_.reset(); }

  /// SIGKILL; nothing if it was reaped.
  void kill() const;

  /// Reaps it if it is dead; true once it is reaped. Never waits.
  [[nodiscard]] bool reap();

  /// The caller has reaped it.
  void reaped() { pid_ = 0; }

  /// 0: not started, or reaped.
  [[nodiscard]] pid_t pid() const { return pid_; }

 private:
  static int run(void* of);
  void close_others() const;

  std::unique_ptr<std::byte[]> stack_;
  const char* name_ = nullptr;
  work work_ = nullptr;
  void* with_ = nullptr;
  base::unique_fd socket_;
  int its_socket_ = -1;  ///< a descriptor of the process, not of ours
  pid_t pid_ = 0;
};

}  // namespace tenure::process
