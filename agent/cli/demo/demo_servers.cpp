#include "cli/demo/demo_servers.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
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
#include "cli/demo/demo_child.hpp"
#include "core/check.hpp"

namespace tenure::cli {
namespace {

constexpr core::duration status_patience = std::chrono::milliseconds(300);

std::string loopback_url(std::uint16_t port, const std::string& host = "127.0.0.1") {
  return "http://" + host + ":" + std::to_string(port);
}

/// Ports that are free now. They are released before the servers take them; there is no better way,
/// as they cannot be given open sockets.
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

class demo_etcd final : public demo_servers {
 public:
  demo_etcd(std::string binary, std::filesystem::path folder)
      : demo_servers("etcd", std::move(binary),
                     "install etcd (Debian: etcd-server), or name it "
                     "with --etcd PATH",
                     std::move(folder), ports_each) {}

 private:
  enum : std::size_t { client, peer, ports_each };

  [[nodiscard]] std::vector<std::string> command(const server& one) const override {
    std::string cluster;
    for (const server& s : servers()) {
      cluster += (cluster.empty() ? "" : ",") + s.name + "=" + loopback_url(s.ports[peer]);
    }
    const std::string client_url = loopback_url(one.ports[client]);
    const std::string peer_url = loopback_url(one.ports[peer]);
    return {binary(), "--name=" + one.name, "--data-dir=" + data_of(one).string(),
            "--listen-client-urls=" + client_url, "--advertise-client-urls=" + client_url,
            "--listen-peer-urls=" + peer_url, "--initial-advertise-peer-urls=" + peer_url,
            "--initial-cluster=" + cluster,
            // A third of the defaults or less, so that there is a new leader within the demo's
            // short lease.
            "--heartbeat-interval=50", "--election-timeout=400"};
  }

  [[nodiscard]] bool leads(const server& one) const override {
    const auto status =
        ask({.host = "127.0.0.1", .port = one.ports[client]},
            {.method = "POST", .target = "/v3/maintenance/status", .body = "{}"}, status_patience);
    return status && etcd_leads(status->body);
  }
};

class demo_consul final : public demo_servers {
 public:
  demo_consul(std::string binary, std::filesystem::path folder)
      : demo_servers("consul", std::move(binary), "install Consul, or name it with --consul PATH",
                     std::move(folder), ports_each) {}

 private:
  enum : std::size_t { http, rpc, serf, ports_each };

  [[nodiscard]] std::vector<std::string> command(const server& one) const override {
    const auto port = [&](std::size_t which) { return std::to_string(one.ports[which]); };
    std::vector<std::string> out{
        binary(), "agent", "-server", "-bootstrap-expect=3", "-node=" + one.name,
        "-data-dir=" + data_of(one).string(), "-bind=" + host_of(one),
        // Later releases listen on further ports, which earlier ones cannot be told not to.
        "-client=" + host_of(one), "-http-port=" + port(http), "-server-port=" + port(rpc),
        "-serf-lan-port=" + port(serf), "-serf-wan-port=-1", "-dns-port=-1",
        "-disable-host-node-id", "-retry-interval=1s", "-hcl=disable_update_check = true",
        "-hcl=ports { grpc = -1 }",
        // A fifth of the default, and leases of seconds: both for the
        // demo's short lease.
        "-hcl=performance { raft_multiplier = 1 }", "-hcl=session_ttl_min = \"1s\""};
    for (const server& s : servers()) {
      if (s.name == one.name) continue;
      out.push_back("-retry-join=" + host_of(s) + ":" + std::to_string(s.ports[serf]));
    }
    return out;
  }

  /// 127.0.0.2 to 4.
  [[nodiscard]] std::string host_of(const server& one) const override {
    return "127.0.0." + std::to_string(&one - servers().data() + 2);
  }

  [[nodiscard]] bool leads(const server& one) const override {
    const auto status = ask({.host = host_of(one), .port = one.ports[http]},
                            {.method = "GET", .target = "/v1/status/leader"}, status_patience);
    return status && status->body.contains(":" + std::to_string(one.ports[rpc]) + "\"");
  }
};

}  // namespace

std::unique_ptr<demo_servers> make_demo_etcd(std::string binary, std::filesystem::path folder) {
  return std::make_unique<demo_etcd>(std::move(binary), std::move(folder));
}

std::unique_ptr<demo_servers> make_demo_consul(std::string binary, std::filesystem::path folder) {
  return std::make_unique<demo_consul>(std::move(binary), std::move(folder));
}

demo_servers::demo_servers(std::string store, std::string binary, std::string where_from,
                           std::filesystem::path folder, std::size_t ports_each)
    : store_(std::move(store)),
      binary_(std::move(binary)),
      where_from_(std::move(where_from)),
      folder_(std::move(folder)),
      ports_each_(ports_each) {}

demo_servers::~demo_servers() {
  for (const server& one : servers_) {
    if (one.process > 0) ::kill(one.process, SIGKILL);
  }
  for (const server& one : servers_) {
    if (one.process > 0) ::waitpid(one.process, nullptr, 0);
  }
}

std::expected<void, std::string> demo_servers::start() {
  if (!can_be_run(binary_)) {
    return std::unexpected("there is no program \"" + binary_ + "\"; " + where_from_);
  }
  constexpr std::size_t count = 3;
  const auto ports = free_ports(count * ports_each_);
  if (ports.empty()) return std::unexpected("no free ports on 127.0.0.1");
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = ports.begin() + static_cast<std::ptrdiff_t>(i * ports_each_);
    servers_.push_back({.name = store_ + "-" + std::to_string(i + 1),
                        .ports = {first, first + static_cast<std::ptrdiff_t>(ports_each_)}});
  }
  for (server& one : servers_) launch(one);
  return {};
}

void demo_servers::launch(server& one) const {
  const std::vector<std::string> words = command(one);
  one.process = ::fork();
  // The demo ends the servers last.
  if (one.process == 0) become(words.front(), words, folder_ / (one.name + ".log"), SIGKILL);
}

std::optional<std::string> demo_servers::leader() const {
  const auto found = std::ranges::find_if(
      servers_, [this](const server& one) { return one.process > 0 && leads(one); });
  return found == servers_.end() ? std::nullopt : std::optional(found->name);
}

demo_servers::server& demo_servers::named(const std::string& member) {
  const auto found = std::ranges::find(servers_, member, &server::name);
  TENURE_CHECK(found != servers_.end());
  return *found;
}

void demo_servers::kill(const std::string& member) {
  server& one = named(member);
  ::kill(one.process, SIGKILL);
  ::waitpid(one.process, nullptr, 0);
  one.process = -1;
}

void demo_servers::start_again(const std::string& member) {
  launch(named(member));
}

std::vector<std::string> demo_servers::endpoints() const {
  std::vector<std::string> out;
  for (const server& one : servers_) out.push_back(loopback_url(one.ports.front(), host_of(one)));
  return out;
}

}  // namespace tenure::cli
