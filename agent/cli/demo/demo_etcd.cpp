#include "cli/demo/demo_etcd.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <csignal>
#include <cstdlib>
#include <sstream>
#include <utility>

#include "base/unique_fd.hpp"
#include "cli/client/ask.hpp"
#include "cli/client/json_codec.hpp"
#include "core/check.hpp"

namespace tenure::cli {
namespace {

constexpr core::duration status_patience = std::chrono::milliseconds(300);
/// A third of etcd's defaults or less, so that there is a new leader within the demo's short lease.
constexpr const char* heartbeat_ms = "50";
constexpr const char* election_timeout_ms = "400";

std::string loopback_url(std::uint16_t port) {
  return "http://127.0.0.1:" + std::to_string(port);
}

/// Ports that are free now. They are released before etcd takes them; there is no better way, as
/// etcd cannot be given an open socket.
std::vector<std::uint16_t> free_ports(std::size_t count) {
  std::vector<base::unique_fd> held;
  std::vector<std::uint16_t> out;
  while (out.size() < count) {
    base::unique_fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in at{};
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof at;
    if (!fd || ::bind(fd.get(), reinterpret_cast<const sockaddr*>(&at), size) != 0 ||
        ::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&at), &size) != 0) {
      return {};
    }
    out.push_back(ntohs(at.sin_port));
    held.push_back(std::move(fd));
  }
  return out;
}

bool can_be_run(const std::string& binary) {
  if (binary.find('/') != std::string::npos) return ::access(binary.c_str(), X_OK) == 0;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path == nullptr ? "" : path);
  for (std::string folder; std::getline(folders, folder, ':');) {
    if (::access((folder + "/" + binary).c_str(), X_OK) == 0) return true;
  }
  return false;
}

}  // namespace

demo_etcd::demo_etcd(std::string binary, std::filesystem::path folder)
    : binary_(std::move(binary)), folder_(std::move(folder)) {}

demo_etcd::~demo_etcd() {
  for (const server& one : servers_) {
    if (one.process > 0) ::kill(one.process, SIGKILL);
  }
  for (const server& one : servers_) {
    if (one.process > 0) ::waitpid(one.process, nullptr, 0);
  }
}

std::expected<void, std::string> demo_etcd::start() {
  if (!can_be_run(binary_)) {
    return std::unexpected("there is no program \"" + binary_ +
                           "\"; install etcd (Debian: etcd-server), or name it with --etcd PATH");
  }
  const auto ports = free_ports(6);
  if (ports.empty()) return std::unexpected("no free ports on 127.0.0.1");
  for (std::size_t i = 0; i < 3; ++i) {
    servers_.push_back({.name = "etcd-" + std::to_string(i + 1),
                        .client_port = ports[2 * i],
                        .peer_port = ports[2 * i + 1],
                        .process = -1});
  }
  for (server& one : servers_) launch(one);
  return {};
}

void demo_etcd::launch(server& one) const {
  std::string cluster;
  for (const server& s : servers_) {
    cluster += (cluster.empty() ? "" : ",") + s.name + "=" + loopback_url(s.peer_port);
  }
  const std::string client = loopback_url(one.client_port);
  const std::string peer = loopback_url(one.peer_port);
  const std::vector<std::string> words{binary_,
                                       "--name",
                                       one.name,
                                       "--data-dir",
                                       folder_ / one.name,
                                       "--listen-client-urls",
                                       client,
                                       "--advertise-client-urls",
                                       client,
                                       "--listen-peer-urls",
                                       peer,
                                       "--initial-advertise-peer-urls",
                                       peer,
                                       "--initial-cluster",
                                       cluster,
                                       "--heartbeat-interval",
                                       heartbeat_ms,
                                       "--election-timeout",
                                       election_timeout_ms};
  std::vector<char*> argv;
  for (const std::string& w : words) argv.push_back(const_cast<char*>(w.c_str()));
  argv.push_back(nullptr);
  const std::string log = folder_ / (one.name + ".log");
  one.process = ::fork();
  if (one.process != 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  // Ctrl-C is for the demo, which ends the servers last.
  ::setpgid(0, 0);
  const int out = ::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  const int in = ::open("/dev/null", O_RDONLY);
  if (in < 0 || out < 0) ::_exit(127);
  ::dup2(in, STDIN_FILENO);
  ::dup2(out, STDOUT_FILENO);
  ::dup2(out, STDERR_FILENO);
  ::execvp(argv[0], argv.data());
  ::_exit(127);
}

std::optional<std::string> demo_etcd::leader() const {
  for (const server& one : servers_) {
    const auto status =
        ask({.host = "127.0.0.1", .port = one.client_port},
            {.method = "POST", .target = "/v3/maintenance/status", .body = "{}"}, status_patience);
    if (status && etcd_leads(status->body)) return one.name;
  }
  return std::nullopt;
}

demo_etcd::server& demo_etcd::named(const std::string& member) {
  const auto found = std::ranges::find(servers_, member, &server::name);
  TENURE_CHECK(found != servers_.end());
  return *found;
}

void demo_etcd::kill(const std::string& member) {
  server& one = named(member);
  ::kill(one.process, SIGKILL);
  ::waitpid(one.process, nullptr, 0);
  one.process = -1;
}

void demo_etcd::start_again(const std::string& member) {
  launch(named(member));
}

std::vector<std::string> demo_etcd::endpoints() const {
  std::vector<std::string> out;
  for (const server& one : servers_) out.push_back(loopback_url(one.client_port));
  return out;
}

}  // namespace tenure::cli
