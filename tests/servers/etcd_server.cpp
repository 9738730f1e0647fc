#include "servers/etcd_server.hpp"

#include <gtest/gtest.h>

#include <utility>

#include "core/check.hpp"
#include "servers/plain_http.hpp"
#include "support/eventually.hpp"

namespace tenure::servers {
namespace {

/// The ports of a member, by their place.
enum : std::size_t { client_port, peer_port, metrics_port, ports_each };

using tests::eventually;

}  // namespace

std::vector<server_release> etcd_releases() {
  return {find_release("debian", "etcd", "etcd-debian", "TENURE_ETCD_DEBIAN",
                       "`./dev test` unpacks it"),
          find_release("today", "etcd", "etcd-today", "TENURE_ETCD_TODAY",
                       "`./dev test` without --quick builds it")};
}

etcd_cluster::etcd_cluster(const server_release& release, etcd_options options)
    : server_cluster(release.binary, options.members, ports_each),
      release_(release),
      options_(std::move(options)) {
  boot();
}

std::vector<std::string> etcd_cluster::command(std::size_t member) const {
  const auto plain = [](std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); };
  const std::string client =
      (options_.tls ? "https" : "http") + plain(port_of(member, client_port)).substr(4);
  std::string cluster;
  for (std::size_t i = 0; i < size(); ++i) {
    cluster += (cluster.empty() ? "" : ",") + name_of(i) + "=" + plain(port_of(i, peer_port));
  }
  std::vector<std::string> words{
      release_.binary,
      "--name=" + name_of(member),
      "--data-dir=" + data_of(member).string(),
      "--listen-client-urls=" + client,
      "--advertise-client-urls=" + client,
      "--listen-peer-urls=" + plain(port_of(member, peer_port)),
      "--initial-advertise-peer-urls=" + plain(port_of(member, peer_port)),
      "--listen-metrics-urls=" + plain(port_of(member, metrics_port)),
      "--initial-cluster=" + cluster,
      "--heartbeat-interval=" + std::to_string(options_.heartbeat.count()),
      "--election-timeout=" + std::to_string(options_.election.count()),
      "--bcrypt-cost=4"};
  if (options_.tls) {
    words.push_back("--cert-file=" + options_.tls->certificate);
    words.push_back("--key-file=" + options_.tls->key);
    if (!options_.tls->client_ca.empty()) {
      words.push_back("--trusted-ca-file=" + options_.tls->client_ca);
      words.emplace_back("--client-cert-auth");
    }
  }
  words.insert(words.end(), options_.flags.begin(), options_.flags.end());
  return words;
}

std::uint16_t etcd_cluster::port(std::size_t member) const {
  return port_of(member, client_port);
}

std::string etcd_cluster::endpoint(std::size_t member) const {
  return std::string(options_.tls ? "https" : "http") +
         "://127.0.0.1:" + std::to_string(port(member));
}

std::unique_ptr<slow_disk> etcd_cluster::slow_down(std::size_t member, std::chrono::seconds each) {
  return std::make_unique<slow_disk>(running(member).pid(), each, folder() / "strace.log");
}

std::string etcd_cluster::metrics(std::size_t member, std::string_view path) const {
  return started(member) ? ask(port_of(member, metrics_port), "GET", path) : "";
}

bool etcd_cluster::healthy(std::size_t member) const {
  return metrics(member, "/health").contains(R"("health":"true")");
}

std::optional<std::size_t> etcd_cluster::leader() const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (metrics(i, "/metrics").contains("\netcd_server_is_leader 1\n")) return i;
  }
  return std::nullopt;
}

std::size_t etcd_cluster::wait_for_leader() {
  std::optional<std::size_t> found;
  const bool there = eventually(
      [&] {
        found = leader();
        return found.has_value();
      },
      between_looks);
  EXPECT_TRUE(there) << "no member leads";
  return found.value_or(0);
}

std::string etcd_cluster::post(std::string_view path, std::string_view body,
                               std::size_t member) const {
  TENURE_CHECK(!options_.tls);
  return body_of(ask(port(member), "POST", path, body));
}

void etcd_cluster::enable_auth(const std::string& password) {
  post("/v3/auth/user/add", R"({"name":"root","password":")" + password + "\"}");
  post("/v3/auth/role/add", R"({"name":"root"})");
  post("/v3/auth/user/grant", R"({"user":"root","role":"root"})");
  const std::string answer = post("/v3/auth/enable", "{}");
  EXPECT_NE(answer.find("header"), std::string::npos) << answer;
}

}  // namespace tenure::servers
