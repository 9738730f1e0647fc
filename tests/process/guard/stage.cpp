#include "stage.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>

#include "process/process_scan.hpp"
#include "scripted_agent.hpp"

namespace tenure::tests {
namespace {

bool readable(int fd) {
  pollfd one{.fd = fd, .events = POLLIN, .revents = 0};
  return ::poll(&one, 1, std::chrono::milliseconds(eventually_within).count()) > 0;
}

std::string text_of(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

base::unique_fd listen_at(const std::string& path) {
  base::unique_fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!fd) std::abort();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(::listen(fd.get(), 8), 0);
  return fd;
}

}  // namespace

bool runs(pid_t pid) {
  process::process_scan processes;
  EXPECT_TRUE(processes.open());
  const auto found = processes.look_up(pid);
  return found && !found->dead();
}

agent_line::agent_line(base::unique_fd socket) : socket_(std::move(socket)) {
  std::istringstream words(hear("agent"));
  std::string agent;
  words >> agent >> pid_ >> session_ >> last_term_;
  std::getline(words >> std::ws, found_);
}

void agent_line::tell(const std::string& order) {
  const std::string line = order + "\n";
  EXPECT_EQ(::send(socket_.get(), line.data(), line.size(), MSG_NOSIGNAL),
            static_cast<ssize_t>(line.size()));
}

std::string agent_line::hear() {
  while (true) {
    const std::size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    char more[4096];
    const ssize_t got = readable(socket_.get()) ? ::read(socket_.get(), more, sizeof more) : 0;
    if (got <= 0) return "(nothing)";
    unread_.append(more, static_cast<std::size_t>(got));
  }
}

std::string agent_line::hear(const std::string& beginning) {
  while (true) {
    std::string line = hear();
    if (line.starts_with(beginning)) return line;
    if (line == "(nothing)") {
      ADD_FAILURE() << "the agent never said \"" << beginning << "\"";
      return line;
    }
  }
}

pid_t agent_line::start(int version, const std::string& environment) {
  tell("arm " + std::to_string(version) + " 3600000");
  tell("start " + std::to_string(version) + " " + environment);
  pid_t leader = 0;
  EXPECT_EQ(std::sscanf(hear("started").c_str(), "started %d", &leader), 1);
  return leader;
}

stage::stage(const std::vector<std::string>& command, const prefix& before,
             std::optional<int> err) {
  const std::string control = directory_ / "control";
  listener_ = listen_at(control);

  std::vector<std::string> words = before;
  words.insert(words.end(), {GUARD_STAGE, "guard", "--"});
  words.insert(words.end(), command.begin(), command.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  std::vector<std::string> variables{std::string(control_variable) + "=" + control,
                                     "DIR=" + directory_.path().string(),
                                     "INHERITED=from the guard"};
  for (char** entry = ::environ; *entry != nullptr; ++entry) variables.emplace_back(*entry);
  std::vector<char*> environment;
  for (std::string& variable : variables) environment.push_back(variable.data());
  environment.push_back(nullptr);

  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  ::posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_addopen(&files, 1, (directory_ / "stdout").c_str(),
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
  if (!err) {
    ::posix_spawn_file_actions_addopen(&files, 2, (directory_ / "stderr").c_str(),
                                       O_WRONLY | O_CREAT | O_APPEND, 0600);
  } else if (*err >= 0) {
    ::posix_spawn_file_actions_adddup2(&files, *err, 2);
  } else {
    ::posix_spawn_file_actions_addclose(&files, 2);
  }
  // The guard must not inherit the descriptors of the tests.
  ::posix_spawn_file_actions_addclosefrom_np(&files, 3);
  EXPECT_EQ(::posix_spawnp(&guard_, argv[0], &files, nullptr, argv.data(), environment.data()), 0);
  ::posix_spawn_file_actions_destroy(&files);
}

stage::~stage() {
  if (guard_ > 0) {
    ::kill(guard_, SIGKILL);
    ::waitpid(guard_, nullptr, 0);
  }
  // Repeat until none is seen twice in a row: a process that is just executing a program shows no
  // environment, and so no mark.
  int unseen = 0;
  EXPECT_TRUE(eventually([&] {
    const std::vector<pid_t> left = with_variable("DIR=" + directory_.path().string());
    unseen = left.empty() ? unseen + 1 : 0;
    for (const pid_t one : left) ::kill(one, SIGKILL);
    return unseen == 2;
  }));
  if (testing::Test::HasFailure()) std::fputs(read("stderr").c_str(), stderr);
}

std::vector<std::string> stage::shell(const std::string& script) {
  return {"sh", "-c", script};
}

agent_line stage::agent() {
  if (!readable(listener_.get())) ADD_FAILURE() << "no agent has connected";
  return agent_line(
      base::unique_fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
}

void stage::signal_guard(int signo) const {
  EXPECT_EQ(::kill(guard_, signo), 0);
}

int stage::end() {
  int status = 0;
  const bool ended = eventually([&] { return ::waitpid(guard_, &status, WNOHANG) == guard_; });
  EXPECT_TRUE(ended) << "the guard never ended";
  if (!ended) return -1;
  guard_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string stage::read(const std::string& file) const {
  return text_of(directory_ / file);
}

bool stage::has(const std::string& file) const {
  return std::filesystem::exists(directory_ / file);
}

std::string stage::mark() const {
  return "TENURE_TEST_MARK=" + directory_.path().string();
}

std::vector<pid_t> stage::marked() const {
  return with_variable(mark());
}

std::vector<pid_t> stage::with_variable(const std::string& entry) {
  std::vector<pid_t> found;
  process::process_scan processes;
  EXPECT_TRUE(processes.open());
  while (const auto process = processes.next()) {
    const std::string environment = text_of("/proc/" + std::to_string(process->pid) + "/environ");
    if (environment.find(entry) != std::string::npos) found.push_back(process->pid);
  }
  return found;
}

}  // namespace tenure::tests
