#include "pod.hpp"

#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "process/process_scan.hpp"
#include "support/eventually.hpp"
#include "support/own_cgroup.hpp"

namespace tenure::tests {
namespace {

pid_t only_child_of(pid_t parent) {
  process::process_scan processes;
  EXPECT_TRUE(processes.open());
  while (const auto one = processes.next()) {
    if (one->parent == parent) return one->pid;
  }
  return 0;
}

/// Removes cgroups from the leaves up, once the last process has left.
void remove_cgroups(const std::string& root) {
  const auto remove_all = [&root] {
    std::vector<std::filesystem::path> found{root};
    std::error_code error;
    for (const auto& one : std::filesystem::recursive_directory_iterator(root, error)) {
      if (one.is_directory()) found.push_back(one.path());
    }
    std::ranges::sort(found, std::greater());
    bool gone = true;
    for (const auto& one : found) gone = (::rmdir(one.c_str()) == 0 || errno == ENOENT) && gone;
    return gone;
  };
  EXPECT_TRUE(eventually(remove_all)) << root;
}

words operator+(words left, const words& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

}  // namespace

words as_nobody() {
  return {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"};
}

actor::actor(const words& command) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  line_.reset(ends[0]);
  const base::unique_fd theirs(ends[1]);
  words copy = command;
  std::vector<char*> argv;
  for (std::string& word : copy) argv.push_back(word.data());
  argv.push_back(nullptr);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_adddup2(&files, theirs.get(), 0);
  ::posix_spawn_file_actions_adddup2(&files, theirs.get(), 1);
  EXPECT_EQ(::posix_spawnp(&pid_, argv[0], &files, nullptr, argv.data(), ::environ), 0) << argv[0];
  ::posix_spawn_file_actions_destroy(&files);
}

actor::~actor() {
  if (pid_ <= 0) return;
  line_.reset();
  EXPECT_TRUE(eventually([this] {
    // nsenter stops with its child, and would then not see it die.
    ::kill(pid_, SIGCONT);
    return ::waitpid(pid_, nullptr, WNOHANG) == pid_;
  }));
}

std::string actor::ask(const std::string& order) {
  const std::string line = order + "\n";
  EXPECT_EQ(::send(line_.get(), line.data(), line.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(line.size()));
  return hear();
}

std::string actor::hear() {
  for (;;) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd one{.fd = line_.get(), .events = POLLIN, .revents = 0};
    const auto most = std::chrono::milliseconds(eventually_within).count();
    char more[4096];
    const ssize_t got =
        ::poll(&one, 1, static_cast<int>(most)) == 1 ? ::read(line_.get(), more, sizeof more) : 0;
    if (got <= 0) return "(nothing)";
    unread_.append(more, static_cast<std::size_t>(got));
  }
}

std::string actor::hear_all(int& status) {
  std::string all;
  for (std::string line = hear(); line != "(nothing)"; line = hear()) all += line + "\n";
  EXPECT_TRUE(eventually([&] { return ::waitpid(pid_, &status, WNOHANG) == pid_; }));
  pid_ = -1;
  return all;
}

pod::pod(apart how) : how_(how) {
  ::chmod(directory_.path().c_str(), 0755);
  if (::geteuid() != 0) {
    missing_ = "only root may make a PID namespace";
    return;
  }
  if (how != apart::not_at_all) {
    const std::string mount = cgroup_mount(how == apart::by_version_2 ? "" : "pids");
    root_ = mount + "/tenure-" + directory_.path().filename().string();
    if (mount.empty() || ::mkdir(root_.c_str(), 0755) != 0) {
      missing_ = "no cgroup can be made here, at \"" + mount + "\"";
      root_.clear();
      return;
    }
  }
  const words unshare{"unshare",      "--pid",      "--mount-proc", "--fork",
                      "--kill-child", TARGET_STAGE, "pause"};
  words command = unshare;
  if (!root_.empty()) {
    const std::string mine = cgroup('f', "");
    std::filesystem::create_directories(mine);
    const std::string join = "echo $$ > " + mine + "/cgroup.procs && exec \"$@\"";
    command = words{"sh", "-c", join, "join"} + unshare;
  }
  namespace_ = std::make_unique<actor>(command);
  if (namespace_->hear() != "ready") {
    missing_ = "no PID namespace can be made here";
    return;
  }
  // The shell has become unshare; its child is the pause process.
  pause_ = only_child_of(namespace_->pid());
}

pod::~pod() {
  if (pause_ > 0) ::kill(pause_, SIGKILL);
  actors_.clear();
  namespace_.reset();
  if (!root_.empty()) remove_cgroups(root_);
}

std::string pod::cgroup(char container, const std::string& below) const {
  constexpr std::size_t digits_of_an_id = 64;
  return root_ + "/" + std::string(digits_of_an_id, container) + below;
}

words pod::inside(char container, const std::string& below, const words& command) {
  words out;
  if (!root_.empty()) {
    const std::string mine = cgroup(container, below);
    std::filesystem::create_directories(mine);
    out = {"sh", "-c", "echo $$ > " + mine + "/cgroup.procs && exec \"$@\"", "join"};
    if (how_ == apart::by_private_namespace && container == 'a') {
      out = out + words{"unshare", "--cgroup", "--"};
    }
  }
  // A session of its own, as with a container runtime.
  const words enter{"nsenter", "--target", std::to_string(pause_), "--pid", "--mount",
                    "--",      "setsid"};
  return out + enter + command;
}

std::unique_ptr<actor> pod::start(char container, const words& command, const std::string& below) {
  return std::make_unique<actor>(inside(container, below, command));
}

pid_t pod::start_script(char container, const std::string& script, const words& before,
                        const std::string& below) {
  actors_.push_back(start(container, before + words{"sh", "-c", script}, below));
  const std::string line = actors_.back()->hear();
  const int pid = std::atoi(line.c_str());
  EXPECT_GT(pid, 0) << script << " said " << line;
  return pid;
}

pid_t pod::start_program(char container, const std::string& command, const words& before,
                         const std::string& below) {
  const std::string script = "echo $$; exec " + command;
  const pid_t pid = start_script(container, script, before, below);
  const std::string show = "{ tr '\\0' ' ' < /proc/" + std::to_string(pid) + "/cmdline; echo; }";
  EXPECT_TRUE(eventually([&] {
    // Nothing at all in the middle of the exec, and of one that has ended.
    const std::string line = ask_shell(show);
    return line.find_first_not_of(" \n") == std::string::npos ? !runs(pid) : !line.contains(script);
  })) << script;
  return pid;
}

std::unique_ptr<actor> pod::finder(const std::string& kind, const std::string& value,
                                   const words& before) {
  auto out = start('a', before + words{TARGET_STAGE, "find", kind, value});
  EXPECT_EQ(out->hear(), "ready");
  return out;
}

std::string pod::survey(const std::string& kind, const std::string& value, const words& before) {
  int status = 0;
  const std::string said =
      start('a', before + words{TARGET_STAGE, "survey", kind, value})->hear_all(status);
  fault_ = WEXITSTATUS(status);
  return said;
}

std::string pod::ask_shell(const std::string& script) const {
  int status = 0;
  return actor({"nsenter", "--target", std::to_string(pause_), "--pid", "--mount", "--", "sh", "-c",
                script + " 2> /dev/null || echo"})
      .hear_all(status);
}

char pod::state(pid_t pid) const {
  std::istringstream said(ask_shell("cut -d ')' -f 2- /proc/" + std::to_string(pid) + "/stat"));
  char state = 'X';
  said >> state;
  return state;
}

bool pod::runs(pid_t pid) const {
  const char now = state(pid);
  return now != 'X' && now != 'Z';
}

bool pod::has_process(pid_t pid) const {
  return state(pid) != 'X';
}

void pod::signal(pid_t pid, int signo) {
  int status = -1;
  const words kill{"sh", "-c", "kill -" + std::to_string(signo) + " " + std::to_string(pid)};
  start('e', kill)->hear_all(status);
  EXPECT_EQ(status, 0);
}

bool pod::has(const std::string& name) const {
  return std::filesystem::exists(file(name));
}

std::string pod::write(const std::string& name, const std::string& text) const {
  std::ofstream(file(name)) << text;
  return file(name);
}

std::string pod::shell() {
  return std::filesystem::canonical("/bin/sh").filename();
}

std::string killed(actor& finder) {
  std::string said;
  static_cast<void>(eventually([&] {
    finder.ask("kill");
    said = finder.ask("look");
    return said == nothing_left;
  }));
  return said;
}

}  // namespace tenure::tests
