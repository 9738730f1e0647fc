#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "base/unique_fd.hpp"
#include "support/eventually.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {

/// What becomes of a log when nobody takes it.
enum class output_that : std::uint8_t {
  is_a_full_pipe,
  has_lost_its_reader,  ///< a pipe
  is_a_deaf_socket,     ///< as of a journal that stands still
  has_lost_its_peer,    ///< a socket, as of a journal that has ended
  is_a_stopped_terminal,
  is_on_a_full_disk,
  is_on_a_hung_mount,  ///< writers hang in the kernel, and not even SIGKILL ends them
  is_closed,
};

inline std::string name(output_that kind) {
  constexpr std::array names{
      "FullPipe",        "PipeWithoutReader", "DeafSocket", "SocketWithoutPeer",
      "StoppedTerminal", "FullDisk",          "HungMount",  "Closed"};
  return names[static_cast<std::size_t>(kind)];
}

/// True if what was written meanwhile can be read after `go_on`.
inline bool comes_back(output_that kind) {
  return kind == output_that::is_a_full_pipe || kind == output_that::is_a_deaf_socket ||
         kind == output_that::is_a_stopped_terminal || kind == output_that::is_on_a_hung_mount;
}

/// Stderr for a program that must not mind. A hung mount is a file system of its own that is
/// frozen; it is thawed when this process ends, however it ends, or hangs.
class stuck_output {
 public:
  explicit stuck_output(output_that kind) : kind_(kind) {
    switch (kind) {
      case output_that::is_a_full_pipe:
      case output_that::has_lost_its_reader:
        make_pipe();
        return;
      case output_that::is_a_deaf_socket:
      case output_that::has_lost_its_peer:
        make_socket();
        return;
      case output_that::is_a_stopped_terminal:
        make_terminal();
        return;
      case output_that::is_on_a_full_disk:
        ours_.reset(::open("/dev/full", O_WRONLY | O_CLOEXEC));
        return;
      case output_that::is_on_a_hung_mount:
        make_mount();
        return;
      case output_that::is_closed:
        return;
    }
  }
  ~stuck_output() { thaw(); }
  stuck_output(const stuck_output&) = delete;
  stuck_output& operator=(const stuck_output&) = delete;

  /// Why there is none here; empty if there is.
  [[nodiscard]] const std::string& missing() const { return missing_; }

  /// The reader that is to get lost leaves now.
  void lose_reader() {
    const bool is_lost =
        kind_ == output_that::has_lost_its_reader || kind_ == output_that::has_lost_its_peer;
    if (is_lost) theirs_.reset();
  }

  /// To be descriptor 2 of the program; -1: none is.
  [[nodiscard]] int fd() const { return ours_.get(); }

  /// Takes everything from now on, if it `comes_back`.
  void go_on() {
    thaw();
    if (kind_ == output_that::is_a_stopped_terminal) ::tcflow(ours_.get(), TCOON);
  }

  /// What was written so far, without what filled it. Precondition: `go_on` was called.
  [[nodiscard]] const std::string& text() {
    std::array<char, 4096> some{};
    for (;;) {
      pollfd one{.fd = theirs_.get(), .events = POLLIN, .revents = 0};
      const bool is_file = kind_ == output_that::is_on_a_hung_mount;
      if (!is_file && (::poll(&one, 1, 0) <= 0 || (one.revents & POLLIN) == 0)) return text_;
      const ssize_t got = ::read(theirs_.get(), some.data(), some.size());
      if (got <= 0) return text_;
      for (const char c : std::string_view(some.data(), static_cast<std::size_t>(got))) {
        if (c != filler && c != '\r') text_ += c;
      }
    }
  }

 private:
  static constexpr char filler = '\x01';

  void make_pipe() {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) std::abort();
    theirs_.reset(ends[0]);
    ours_.reset(ends[1]);
    if (kind_ == output_that::has_lost_its_reader) return;
    ::fcntl(ours_.get(), F_SETPIPE_SZ, 4096);
    // By a description of its own: the flags of ours stay as they are.
    const base::unique_fd other(
        ::open(("/proc/self/fd/" + std::to_string(ours_.get())).c_str(), O_WRONLY | O_NONBLOCK));
    while (::write(other.get(), &filler, 1) == 1) {
    }
  }

  void make_socket() {
    int ends[2];
    if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
    theirs_.reset(ends[0]);
    ours_.reset(ends[1]);
    if (kind_ == output_that::has_lost_its_peer) return;
    while (::send(ours_.get(), &filler, 1, MSG_DONTWAIT) == 1) {
    }
  }

  void make_terminal() {
    theirs_.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!theirs_ || ::grantpt(theirs_.get()) != 0 || ::unlockpt(theirs_.get()) != 0) std::abort();
    ours_.reset(::open(::ptsname(theirs_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    if (!ours_ || ::tcflow(ours_.get(), TCOOFF) != 0) missing_ = "no terminal can be stopped here";
  }

  void make_mount() {
    const std::string image = directory_ / "image";
    const std::string place = directory_ / "mount";
    const std::string make = "truncate -s 8M " + image + " && mkfs.ext4 -q -F " + image +
                             " && mkdir " + place + " && mount -o loop " + image + " " + place;
    if (std::system((make + " 2>/dev/null").c_str()) != 0) {
      missing_ = "no file system can be mounted here: not root, or no loop device";
      return;
    }
    ours_.reset(::open((place + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666));
    theirs_.reset(::open((place + "/log").c_str(), O_RDONLY | O_CLOEXEC));
    const std::string ends = "exec setsid sh -c 'timeout 100 head -c 1; fsfreeze -u " + place + "'";
    thawer_ = ::popen(ends.c_str(), "we");
    if (std::system(("fsfreeze -f " + place).c_str()) != 0) missing_ = "fsfreeze fails here";
  }

  void thaw() {
    if (thawer_ == nullptr) return;
    // A child of ours may have its end, too.
    std::fputc('\n', thawer_);
    ::pclose(thawer_);
    thawer_ = nullptr;
    // With the last descriptor of it, it is gone.
    static_cast<void>(std::system(("umount -l " + (directory_ / "mount").string()).c_str()));
  }

  output_that kind_;
  temporary_directory directory_;
  std::string missing_;
  base::unique_fd ours_;
  base::unique_fd theirs_;
  std::FILE* thawer_ = nullptr;
  std::string text_;
};

}  // namespace tenure::tests
