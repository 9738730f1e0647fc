#include "process/child_list.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>

namespace tenure::process {

bool child_list::open(pid_t parent, way how) {
  if (!proc_is_ours()) return false;
  parent_ = parent;
  file_.reset();
  if (how == way::scan) return scan_.open();
  char path[64];
  std::snprintf(path, sizeof path, "/proc/%d/task/%d/children", parent, parent);
  file_.reset(::open(path, O_RDONLY | O_CLOEXEC));
  return file_ || scan_.open();
}

void child_list::rewind() {
  if (!file_) return scan_.rewind();
  ::lseek(file_.get(), 0, SEEK_SET);
  used_ = at_ = 0;
  ended_ = false;
}

bool child_list::fill() {
  const ssize_t got = ::read(file_.get(), buffer_.data(), buffer_.size());
  at_ = 0;
  used_ = got > 0 ? static_cast<std::size_t>(got) : 0;
  ended_ = got == 0;
  return used_ > 0;
}

std::optional<pid_t> child_list::next() {
  if (!file_) {
    while (const auto process = scan_.next()) {
      if (process->parent == parent_) return process->pid;
    }
    return std::nullopt;
  }
  pid_t pid = 0;  // each number is followed by a space
  while (at_ < used_ || fill()) {
    const char c = buffer_[at_++];
    if (c >= '0' && c <= '9') {
      pid = pid * 10 + (c - '0');
    } else if (pid != 0) {
      return pid;
    }
  }
  return std::nullopt;
}

}  // namespace tenure::process
