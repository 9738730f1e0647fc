#include "guard/workload_tree.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <utility>

#include "guard/guard_protocol.hpp"
#include "process/environment.hpp"
#include "process/exec_child.hpp"
#include "process/proc_text.hpp"
#include "process/program_starter.hpp"

namespace tenure::guard {
namespace {

/// "KEY=" of "KEY=VALUE"; empty if there is none.
std::string_view key_of(std::string_view entry) {
  const std::size_t equals = entry.find('=');
  if (equals == std::string_view::npos || equals == 0) return {};
  return entry.substr(0, equals + 1);
}

/// True if process 1, as we see it, is in our container. The runtime says that a container has
/// ended when it has reaped the container's first process, and the kernel ends all of a PID
/// namespace before its first process can be reaped (zap_pid_ns_processes, kernel/pid_namespace.c).
/// In a PID namespace that containers share, and in the host's, process 1 is in another cgroup.
bool has_first_process() {
  std::array<char, 4096> theirs;
  std::array<char, 4096> ours;
  const auto first = process::read_proc(1, "cgroup", theirs);
  const auto own = process::read_proc(::getpid(), "cgroup", ours);
  return first && own && !first->empty() && *first == *own;
}

}  // namespace

bool workload_tree::prepare(const std::vector<std::string>& command, bool keeps_hup_ignored,
                            worker_page& page) {
  command_ = command;
  argv_ = process::pointers_to(command_);
  own_ = process::own_environment();
  own_.push_back(page.variable());
  page_fd_ = page.workload_fd();
  merged_.resize(own_.size() + max_environment_entries + 1);
  added_.reserve(max_environment_bytes);
  starter_.prepare(command_.front(), command_.size());
  keeps_hup_ignored_ = keeps_hup_ignored;
  // Who may not kill other users' processes lets none become one: `sudo` in the workload would
  // outlive every deadline.
  may_kill_all_ = process::may_signal_all();
  // Once and here: asking a file on a mount that hangs would wait.
  may_have_terminal_ = ::isatty(STDIN_FILENO) == 1;
  ends_with_container_ = has_first_process();
  return children_.open(::getpid());
}

int workload_tree::start(std::string_view environment) {
  // The message that brings it will be overwritten, and the child may still need it then.
  added_ = environment;
  if (const int error = merge_environment(added_); error != 0) return error;
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
  exec_pipe_.reset(ends[0]);
  const base::unique_fd theirs(ends[1]);
  has_terminal_ = in_foreground();
  const pid_t pid = starter_.start({.argv = argv_.data(),
                                    .environment = merged_.data(),
                                    .dies_with_us = true,
                                    .takes_terminal = has_terminal_,
                                    .keeps_hup_ignored = keeps_hup_ignored_,
                                    .gains_no_privileges = !may_kill_all_,
                                    .inherits = {page_fd_, -1, -1},
                                    .last_words = last_words_,
                                    .error_pipe = theirs.get()});
  if (pid < 0) {
    const int error = errno;
    exec_pipe_.reset();
    finish();
    return error;
  }
  leader_ = group_ = pid;
  return 0;
}

int workload_tree::merge_environment(std::string_view added) {
  if (!added.empty() && added.back() != '\0') return EINVAL;
  std::size_t count = 0;
  last_words_ = {};
  for (std::size_t at = 0; at < added.size();) {
    const std::string_view entry(added.data() + at);
    const std::string_view key = key_of(entry);
    if (key.empty()) return EINVAL;
    if (count == max_environment_entries) return E2BIG;
    if (key.substr(0, key.size() - 1) == last_words_variable) {
      if (ends_with_container_) last_words_ = entry.substr(key.size());
    } else {
      merged_[count++] = const_cast<char*>(added.data() + at);
    }
    at += entry.size() + 1;
  }
  const auto end_of_added = merged_.begin() + static_cast<std::ptrdiff_t>(count);
  for (char* entry : own_) {
    const std::string_view key = key_of(entry);
    const bool overridden = std::any_of(merged_.begin(), end_of_added, [&](const char* other) {
      return !key.empty() && std::string_view(other).starts_with(key);
    });
    if (!overridden) merged_[count++] = entry;
  }
  merged_[count] = nullptr;
  return 0;
}

std::optional<int> workload_tree::exec_result() {
  int error = 0;
  const ssize_t got = ::read(exec_pipe_.get(), &error, sizeof error);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::nullopt;
  exec_pipe_.reset();
  return got == sizeof error ? error : 0;
}

bool workload_tree::in_foreground() const {
  return may_have_terminal_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp();
}

/// The next child that belongs to the workload.
std::optional<pid_t> workload_tree::next_child(pid_t agent) {
  for (;;) {
    const auto child = children_.next();
    if (!child || (*child != agent && *child != writer_.pid())) return child;
  }
}

bool workload_tree::empty(pid_t agent) {
  if (leader_ != 0) return false;
  children_.rewind();
  return !next_child(agent) && children_.complete();
}

void workload_tree::signal_all(int signo, pid_t agent) {
  // Until the leader is reaped, its group's id cannot be reused, even if /proc does not show it.
  bool group_done = leader_ != 0;
  if (group_done) ::kill(-group_, signo);
  children_.rewind();
  while (const auto child = next_child(agent)) {
    const pid_t group = ::getpgid(*child);
    if (group == group_) {
      if (!group_done) ::kill(-group, signo);
      group_done = true;
    } else {
      // A daemon leads a group of its own; children that it is just forking are in it.
      ::kill(group == *child ? -group : *child, signo);
    }
  }
}

void workload_tree::kill_all(pid_t agent, bool deep) {
  signal_all(SIGKILL, agent);
  if (deep) process::kill_descendants(::getpid(), std::array{agent, writer_.pid()});
}

process::survivors workload_tree::living(pid_t agent) {
  return process::living_descendants(::getpid(), std::array{agent, writer_.pid()});
}

void workload_tree::signal_group(int signo, pid_t agent) {
  bool exists = leader_ != 0;
  children_.rewind();
  while (!exists) {
    const auto child = next_child(agent);
    if (!child) return;
    exists = ::getpgid(*child) == group_;
  }
  ::kill(-group_, signo);
}

void workload_tree::finish() {
  leader_ = group_ = 0;
  if (std::exchange(has_terminal_, false)) ::tcsetpgrp(STDIN_FILENO, ::getpgrp());
}

}  // namespace tenure::guard
