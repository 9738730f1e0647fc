#include "process/process_scan.hpp"

#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenure::process {
namespace {

/// The kernel's struct linux_dirent64, which glibc does not declare.
struct directory_entry {
  ino64_t inode;
  off64_t offset;
  unsigned short size;
  unsigned char type;
  char name[1];
};

}  // namespace

bool proc_is_ours() {
  char self[16] = {};
  if (::readlink("/proc/self", self, sizeof self - 1) <= 0) return false;
  return std::strtol(self, nullptr, 10) == ::getpid();
}

bool process_scan::open() {
  if (!proc_is_ours()) return false;
  proc_.reset(::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return static_cast<bool>(proc_);
}

bool process_scan::open_threads(pid_t process) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/%d/task", process);
  proc_.reset(::open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  return static_cast<bool>(proc_);
}

void process_scan::rewind() {
  ::lseek(proc_.get(), 0, SEEK_SET);
  used_ = at_ = 0;
  ended_ = failed_ = false;
}

bool process_scan::fill() {
  const long got = ::syscall(SYS_getdents64, proc_.get(), buffer_.data(), buffer_.size());
  at_ = 0;
  used_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  ended_ = got == 0;
  return used_ > 0;
}

std::optional<process_stat> process_scan::next() {
  while (at_ < used_ || fill()) {
    const auto* entry = reinterpret_cast<const directory_entry*>(buffer_.data() + at_);
    at_ += entry->size;
    const auto pid = static_cast<pid_t>(std::strtol(entry->name, nullptr, 10));
    if (pid <= 0) continue;
    int error = 0;
    if (const auto found = look_up(pid, error)) return found;
    // A process that has ended meanwhile is not a failure; running out of descriptors is.
    if (!is_gone(error)) failed_ = true;
  }
  return std::nullopt;
}

std::optional<process_stat> process_scan::look_up(pid_t pid) const {
  int ignored = 0;
  return look_up(pid, ignored);
}

std::optional<process_stat> process_scan::look_up(pid_t pid, int& error) const {
  char path[32];
  std::snprintf(path, sizeof path, "%d/stat", pid);
  const base::unique_fd fd(::openat(proc_.get(), path, O_RDONLY | O_CLOEXEC));
  if (!fd) {
    error = errno;
    return std::nullopt;
  }
  char text[512];
  const ssize_t got = ::read(fd.get(), text, sizeof text - 1);
  if (got <= 0) {
    error = got < 0 ? errno : ESRCH;
    return std::nullopt;
  }
  text[got] = '\0';
  // The name of the program, in parentheses, may contain anything, even a parenthesis.
  const char* after_name = std::strrchr(text, ')');
  if (after_name == nullptr) return std::nullopt;
  constexpr auto fields =
      ") %c %d %d %d"                // state, parent, group, session
      " %*d %*d %u %*u %*u %*u %*u"  // terminal, flags, faults
      " %*u %*u %*d %*d %*d %*d %d"  // times, priorities, number of threads
      " %*d %" SCNu64;               // timer, start
  process_stat stat{.pid = pid};
  constexpr unsigned kernel_thread = 0x00200000;   // PF_KTHREAD
  constexpr unsigned on_its_way_out = 0x00000004;  // PF_EXITING
  unsigned flags = 0;
  const int read = std::sscanf(after_name, fields, &stat.state, &stat.parent, &stat.group,
                               &stat.session, &flags, &stat.threads, &stat.start);
  stat.of_the_kernel = (flags & kernel_thread) != 0;
  stat.exiting = (flags & on_its_way_out) != 0;
  return read == 7 ? std::optional(stat) : std::nullopt;
}

pid_t living_thread(const process_stat& process) {
  process_scan threads;
  if (process.state != 'Z' || !threads.open_threads(process.pid)) return process.pid;
  while (const auto thread = threads.next()) {
    if (thread->state != 'Z' && thread->state != 'X') return thread->pid;
  }
  return process.pid;
}

}  // namespace tenure::process
