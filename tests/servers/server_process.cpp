#include "servers/server_process.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <cstdlib>
#include <deque>
#include <optional>
#include <random>
#include <utility>

#include "core/check.hpp"

namespace tenure::servers {
namespace {

constexpr std::uint16_t first_port = 20000;
constexpr std::uint16_t last_port = 31999;
constexpr std::size_t most_claims = 200;

std::vector<char*> to_arguments(std::vector<std::string>& words) {
  std::vector<char*> out;
  for (std::string& word : words) out.push_back(word.data());
  out.push_back(nullptr);
  return out;
}

bool can_listen_on(std::uint16_t port) {
  const base::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const int yes = 1;  // as servers do: a connection in TIME_WAIT does not keep the port
  ::setsockopt(fd.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0;
}

/// Binds a name that one process can have at a time, so that nobody else draws the port while the
/// server that it was drawn for is stopped. Nothing if another process has it.
std::optional<base::unique_fd> claim(std::uint16_t port) {
  base::unique_fd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const std::string name = "tenure-test-port-" + std::to_string(port);
  sockaddr_un at{};
  at.sun_family = AF_UNIX;
  // A name that begins with a zero byte is no file, and goes with the socket (unix(7)).
  name.copy(at.sun_path + 1, sizeof at.sun_path - 1);
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0) return std::nullopt;
  return fd;
}

}  // namespace

std::uint16_t free_port() {
  static std::mt19937 draw{std::random_device{}()};
  static std::deque<base::unique_fd> claims;
  while (true) {
    const auto port = std::uniform_int_distribution<std::uint16_t>(first_port, last_port)(draw);
    auto claimed = claim(port);
    if (!claimed || !can_listen_on(port)) continue;
    claims.push_back(std::move(*claimed));
    // A process that runs many tests is through with the servers of the first ones.
    if (claims.size() > most_claims) claims.pop_front();
    return port;
  }
}

server_process::server_process(const std::vector<std::string>& words,
                               const std::filesystem::path& log) {
  std::vector<std::string> own = words;
  const std::vector<char*> arguments = to_arguments(own);
  const base::unique_fd out(
      ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, S_IRUSR | S_IWUSR));
  TENURE_CHECK(out);
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  TENURE_CHECK(pid_ >= 0);
  if (pid_ == 0) {
    // Only calls that are safe between fork and exec. The parent may have died before the
    // signal was asked for.
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (::getppid() != parent) ::_exit(1);
    ::dup2(out.get(), STDOUT_FILENO);
    ::dup2(out.get(), STDERR_FILENO);
    ::execv(arguments.front(), arguments.data());
    ::_exit(127);
  }
  pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid_, 0)));
  TENURE_CHECK(pidfd_);
}

server_process::~server_process() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

bool server_process::runs(std::chrono::milliseconds at_most) const {
  pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&ended, 1, static_cast<int>(at_most.count())) == 0;
}

void server_process::stop() {
  ::kill(pid_, SIGTERM);
  if (runs(patience)) ::kill(pid_, SIGKILL);
}

void server_process::freeze() {
  ::kill(pid_, SIGSTOP);
  siginfo_t ignored{};
  ::waitid(P_PID, static_cast<id_t>(pid_), &ignored, WSTOPPED | WEXITED | WNOWAIT);
}

void server_process::thaw() {
  ::kill(pid_, SIGCONT);
}

}  // namespace tenure::servers
