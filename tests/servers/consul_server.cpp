#include "servers/consul_server.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <utility>

#include "servers/plain_http.hpp"
#include "support/eventually.hpp"

namespace tenure::servers {
namespace {

/// The ports of a member, by their place.
enum : std::size_t { http_port, https_port, server_port, serf_port, ports_each };

/// What a Consul of this release is told about TLS. `tls` exists since 1.12; the older words mean
/// the same.
std::string tls_words(const consul_tls& what, bool is_old) {
  const auto word = [](const std::string& name, const std::string& value) {
    return name + " = \"" + value + "\"\n";
  };
  std::string all = word("cert_file", what.certificate) + word("key_file", what.key);
  if (!what.client_ca.empty()) {
    all += word("ca_file", what.client_ca);
    all += is_old ? "verify_incoming_https = true\n" : "verify_incoming = true\n";
  }
  return is_old ? all : "tls { https {\n" + all + "} }";
}

}  // namespace

std::vector<server_release> consul_releases() {
  return {find_release("debian", "consul", "consul-debian", "TENURE_CONSUL_DEBIAN",
                       "`./dev test` unpacks it"),
          find_release("today", "consul", "consul-today", "TENURE_CONSUL_TODAY",
                       "`./dev test` without --quick builds it")};
}

consul_cluster::consul_cluster(const server_release& release, consul_options options)
    : server_cluster(release.binary, options.members + options.clients, ports_each),
      release_(release),
      options_(std::move(options)) {
  boot();
}

std::vector<std::string> consul_cluster::command(std::size_t member) const {
  const auto port = [this](std::size_t of, std::size_t which) {
    return std::to_string(port_of(of, which));
  };
  const bool serves = member < options_.members;
  std::vector<std::string> words{
      release_.binary, "agent", "-node=" + name_of(member), "-data-dir=" + data_of(member).string(),
      "-bind=127.0.0.1", "-client=127.0.0.1", "-http-port=" + port(member, http_port),
      "-server-port=" + port(member, server_port), "-serf-lan-port=" + port(member, serf_port),
      "-serf-wan-port=-1", "-dns-port=-1", "-disable-host-node-id", "-retry-interval=1s",
      // Elections within a second or two instead of five times that.
      "-hcl=performance { raft_multiplier = 1 }",
      "-hcl=session_ttl_min = \"" + std::to_string(options_.least_ttl.count()) + "ms\"",
      "-hcl=disable_update_check = true"};
  if (serves) {
    words.insert(words.end(), {"-server", "-bootstrap-expect=" + std::to_string(options_.members)});
  }
  const bool is_old = release_.name == "debian";
  if (options_.tls) {
    words.push_back("-hcl=ports { https = " + port(member, https_port) + " }");
    words.push_back("-hcl=" + tls_words(*options_.tls, is_old));
  }
  if (!is_old) words.emplace_back("-hcl=ports { grpc_tls = -1 }");
  if (!options_.token.empty()) {
    // Renamed since.
    const std::string name = is_old ? "master" : "initial_management";
    words.push_back("-hcl=acl { enabled = true default_policy = \"deny\" tokens { " + name +
                    " = \"" + options_.token + "\" agent = \"" + options_.token + "\" } }");
  }
  for (std::size_t i = 0; i < options_.members; ++i) {
    if (i != member) words.push_back("-retry-join=127.0.0.1:" + port(i, serf_port));
  }
  words.insert(words.end(), options_.flags.begin(), options_.flags.end());
  if (!serves) {
    words.insert(words.end(), options_.client_flags.begin(), options_.client_flags.end());
  }
  return words;
}

std::uint16_t consul_cluster::port(std::size_t member) const {
  return port_of(member, http_port);
}

std::uint16_t consul_cluster::tls_port(std::size_t member) const {
  return port_of(member, https_port);
}

std::string consul_cluster::endpoint(std::size_t member) const {
  if (options_.tls) return "https://127.0.0.1:" + std::to_string(tls_port(member));
  return "http://127.0.0.1:" + std::to_string(port(member));
}

bool consul_cluster::healthy(std::size_t member) const {
  if (!started(member)) return false;
  const consul_answer of_itself =
      call("GET", "/v1/health/node/" + name_of(member) + "?consistent", "", member);
  return of_itself.status == 200 &&
         of_itself.body.contains(
             R"("CheckID":"serfHealth","Name":"Serf Health Status","Status":"passing")");
}

std::optional<std::size_t> consul_cluster::leader() const {
  for (std::size_t asked = 0; asked < size(); ++asked) {
    if (!started(asked)) continue;
    const std::string address = call("GET", "/v1/status/leader", "", asked).body;
    for (std::size_t i = 0; i < size(); ++i) {
      if (started(i) && address.contains(":" + std::to_string(port_of(i, server_port)) + "\"")) {
        return i;
      }
    }
  }
  return std::nullopt;
}

std::size_t consul_cluster::wait_for_leader() {
  std::optional<std::size_t> found;
  const bool there = tests::eventually(
      [&] {
        found = leader();
        return found && healthy(*found);
      },
      between_looks);
  EXPECT_TRUE(there) << "no member leads";
  return found.value_or(0);
}

consul_answer consul_cluster::call(std::string_view method, std::string_view path,
                                   std::string_view body, std::size_t member) const {
  std::string target(path);
  if (!options_.token.empty()) {
    target.append(target.contains('?') ? "&" : "?").append("token=").append(options_.token);
  }
  const std::string all = ask(port(member), method, target, body);
  constexpr std::string_view protocol = "HTTP/1.1 ";
  if (!all.starts_with(protocol)) return {};
  return {.status = std::atoi(all.c_str() + protocol.size()),
          .head = all.substr(0, all.find("\r\n\r\n")),
          .body = body_of(all)};
}

}  // namespace tenure::servers
