#include "harness.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <sstream>

#include "stamp_page.hpp"

extern char** environ;

namespace tenure::tests {
namespace {

/// See `shared_environment`.
std::vector<std::string>& given_to_all() {
  static std::vector<std::string> variables;
  return variables;
}

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream out;
  out << file.rdbuf();
  return out.str();
}

/// A child's name once it has one of its own. For a moment after the guard's clone, a process that
/// waits in the guard's place has the guard's name, and would be taken for a workload.
std::string name_of_child(pid_t child, pid_t parent) {
  const auto words = [](pid_t pid) {
    return contents("/proc/" + std::to_string(pid) + "/cmdline");
  };
  eventually([&] {
    return name_of(child) != "tenure" || words(child) != words(parent) || !is_alive(child);
  });
  return name_of(child);
}

void kill_tree(pid_t pid) {
  ::kill(pid, SIGSTOP);
  for (const pid_t child : children_of(pid)) kill_tree(child);
  ::kill(pid, SIGKILL);
}

std::vector<std::string> member_words(const temporary_directory& in, const member::options& o) {
  const std::string endpoint = o.endpoint.empty() ? (in / "db").string() : o.endpoint;
  std::vector<std::string> words = o.before;
  words.insert(words.end(), {tenure_binary(), "exec", "--store", o.store, "--endpoint", endpoint,
                             "--election", "test", "--identity", o.identity, "--ttl", o.ttl,
                             "--listen", o.listen, "--probe-listen", "off"});
  words.insert(words.end(), o.more.begin(), o.more.end());
  words.emplace_back("--");
  if (o.command.empty()) {
    words.push_back(stamper_binary());
    words.push_back(in.path());
  } else {
    words.insert(words.end(), o.command.begin(), o.command.end());
  }
  return words;
}

}  // namespace

shared_environment::shared_environment(std::vector<std::string> variables) {
  given_to_all() = std::move(variables);
}

shared_environment::~shared_environment() {
  given_to_all().clear();
}

program::program(const std::vector<std::string>& words, const std::filesystem::path& output,
                 const std::vector<std::string>& environment, std::optional<int> errors)
    : output_(output) {
  std::vector<std::string> variables;
  for (char** e = environ; *e != nullptr; ++e) {
    if (std::string_view(*e).substr(0, 7) != "TENURE_") variables.emplace_back(*e);
  }
  variables.insert(variables.end(), given_to_all().begin(), given_to_all().end());
  variables.insert(variables.end(), environment.begin(), environment.end());
  const auto is_runtime_dir = [](const std::string& v) {
    return v.starts_with("TENURE_RUNTIME_DIR=");
  };
  if (std::ranges::none_of(environment, is_runtime_dir)) {
    variables.push_back("TENURE_RUNTIME_DIR=" + (output_.parent_path() / "agents").string());
  }
  std::vector<char*> argv;
  std::vector<char*> envp;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  for (const std::string& v : variables) envp.push_back(const_cast<char*>(v.c_str()));
  argv.push_back(nullptr);
  envp.push_back(nullptr);
  const std::string out = output_.string() + ".out";
  const std::string err = output_.string() + ".err";
  pid_ = ::fork();
  if (pid_ != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::setpgid(0, 0);
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  const int to = ::open(out.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const int lines = ::open(err.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  if (null < 0 || to < 0 || lines < 0) ::_exit(127);
  ::dup2(null, STDIN_FILENO);
  ::dup2(to, STDOUT_FILENO);
  ::dup2(errors.value_or(-1) < 0 ? lines : *errors, STDERR_FILENO);
  ::execvpe(argv[0], argv.data(), envp.data());
  ::_exit(127);
}

program::~program() {
  if (status_ || pid_ <= 0) return;
  kill_tree(pid_);
  ::waitpid(pid_, nullptr, 0);
}

void program::send(int signo) const {
  ::kill(pid_, signo);
}

std::optional<int> program::wait() {
  eventually([this] {
    int status = 0;
    if (!status_ && ::waitpid(pid_, &status, WNOHANG) == pid_) {
      status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
    return status_.has_value();
  });
  return status_;
}

std::string program::out() const {
  return contents(output_.string() + ".out");
}
std::string program::err() const {
  return contents(output_.string() + ".err");
}

bool program::said(const std::string& words) const {
  return err().find(words) != std::string::npos;
}

std::string program::get(const std::string& path) const {
  return exchange("GET " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
}

std::string program::post(const std::string& path, const std::string& body,
                          const std::string& token) const {
  return exchange("POST " + path + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n" +
                  (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n") +
                  "Content-Length: " + std::to_string(body.size()) + "\r\n\r\n" + body);
}

std::string program::api() const {
  const std::string log = err();
  constexpr std::string_view name = " api=";
  const auto at = log.rfind(std::string(name) + "127.0.0.1:");
  if (at == std::string::npos) return {};
  const auto begin = at + name.size();
  return "http://" + log.substr(begin, log.find_first_of(" \n", begin) - begin);
}

std::string program::exchange(const std::string& ask) const {
  const std::string where = api();
  if (where.empty()) return {};
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(static_cast<std::uint16_t>(std::atoi(where.c_str() + where.rfind(':') + 1)));
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  const int link = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (link < 0) return {};
  std::string answer;
  if (::connect(link, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 &&
      ::send(link, ask.data(), ask.size(), MSG_NOSIGNAL) > 0) {
    std::array<char, 4096> piece{};
    for (ssize_t got = 0; (got = ::recv(link, piece.data(), piece.size(), 0)) > 0;) {
      answer.append(piece.data(), static_cast<std::size_t>(got));
    }
  }
  ::close(link);
  return answer;
}

finished run(const std::vector<std::string>& words, const temporary_directory& in,
             const std::vector<std::string>& environment) {
  static int count = 0;
  program p(words, in / ("run" + std::to_string(++count)), environment);
  const auto status = p.wait();
  return {.status = status.value_or(-1), .out = p.out(), .err = p.err()};
}

member::member(const temporary_directory& in, const options& o)
    : identity_(o.identity), process_(member_words(in, o), in / o.identity, {}, o.errors) {}

std::optional<pid_t> member::agent() const {
  for (const pid_t child : children_of(process_.pid())) {
    std::string words;
    // There are no words for an instant while a child replaces the guard's program with its own.
    do {
      words = contents("/proc/" + std::to_string(child) + "/cmdline");
    } while (words.empty() && is_alive(child));
    if (words.find(std::string("\0exec\0", 6)) != std::string::npos) return child;
  }
  return std::nullopt;
}

std::optional<pid_t> member::workload() const {
  for (const pid_t child : children_of(process_.pid())) {
    if (child != agent()) return child;
  }
  return std::nullopt;
}

bool member::is_active() const {
  return get("/leader").find("HTTP/1.1 200") == 0;
}

void member::pull_the_plug() {
  kill_tree(process_.pid());
  process_.wait();
}

std::vector<stamped_run> stamped_runs(const temporary_directory& in) {
  std::vector<stamped_run> runs;
  for (const auto& entry : std::filesystem::directory_iterator(in.path())) {
    if (entry.path().extension() != ".run") continue;
    const std::string bytes = contents(entry.path());
    if (bytes.size() < sizeof(stamp_page)) continue;
    stamp_page page{};
    std::memcpy(&page, bytes.data(), sizeof page);
    if (page.last == 0) continue;
    const std::string stem = entry.path().stem();
    runs.push_back({.identity = stem.substr(0, stem.find('.')),
                    .version = page.version,
                    .first = page.first,
                    .last = page.last});
  }
  std::ranges::sort(runs, {}, &stamped_run::first);
  return runs;
}

std::size_t most_at_once(const std::vector<stamped_run>& runs) {
  std::size_t most = 0;
  // The most run at an instant at which one of them begins.
  for (const stamped_run& begins : runs) {
    const auto count = std::ranges::count_if(runs, [&](const stamped_run& one) {
      return one.first <= begins.first && begins.first <= one.last;
    });
    most = std::max(most, static_cast<std::size_t>(count));
  }
  return most;
}

bool never_two_at_once(const std::vector<stamped_run>& runs) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].first <= runs[i - 1].last) return false;
  }
  return true;
}

bool versions_grow(const std::vector<stamped_run>& runs) {
  for (std::size_t i = 1; i < runs.size(); ++i) {
    if (runs[i].version <= runs[i - 1].version) return false;
  }
  return true;
}

std::optional<stamped_run> runs_as(const temporary_directory& in, const std::string& identity,
                                   std::uint64_t above) {
  std::optional<stamped_run> found;
  eventually([&] {
    for (const stamped_run& r : stamped_runs(in)) {
      if (r.identity == identity && r.version > above) found = r;
    }
    return found.has_value();
  });
  return found;
}

std::vector<pid_t> children_of(pid_t pid) {
  std::vector<pid_t> out;
  std::error_code gone;
  // The kernel lists children by the thread that created them.
  const std::filesystem::path tasks = "/proc/" + std::to_string(pid) + "/task";
  for (std::filesystem::directory_iterator task(tasks, gone), end; !gone && task != end;
       task.increment(gone)) {
    std::ifstream list(task->path() / "children");
    for (pid_t child = 0; list >> child;) {
      const std::string name = name_of_child(child, pid);
      if (name != "tenure-log" && name != "tenure-look") out.push_back(child);
    }
  }
  return out;
}

bool is_alive(pid_t pid) {
  const std::string status = contents("/proc/" + std::to_string(pid) + "/stat");
  const auto state = status.rfind(") ");
  return state != std::string::npos && status[state + 2] != 'Z' && status[state + 2] != 'X';
}

std::string tenure_binary() {
  return TENURE_BINARY;
}
std::string stamper_binary() {
  return TENURE_STAMPER;
}
std::string stamper_for_all(const temporary_directory& in) {
  const std::filesystem::path copy = in / "stamper";
  std::filesystem::copy_file(stamper_binary(), copy);
  std::filesystem::permissions(copy, std::filesystem::perms(0755));
  return copy;
}

}  // namespace tenure::tests
