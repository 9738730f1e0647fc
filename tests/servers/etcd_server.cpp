#include "servers/etcd_server.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "core/check.hpp"
#include "servers/plain_http.hpp"
#include "support/eventually.hpp"

namespace tenure::servers {
namespace {

constexpr int attempts_to_start = 3;  // another test may take a port between its choice and use
constexpr std::size_t log_tail_bytes = 4000;

/// A look asks a member; asked without a pause it would keep it from getting ready.
constexpr std::chrono::milliseconds between_looks{20};

using tests::eventually;

etcd_release find_release(const std::string& name, const char* variable, const char* folder,
                          const char* advice) {
  const char* named = std::getenv(variable);
  const std::string path =
      named != nullptr ? named : std::string(TENURE_SERVERS_FOLDER) + "/" + folder + "/etcd";
  if (::access(path.c_str(), X_OK) == 0) return {.name = name, .binary = path, .why = {}};
  return {.name = name,
          .binary = {},
          .why = "there is no etcd at " + path + ": " + advice + ", or set " + variable};
}

}  // namespace

void PrintTo(const etcd_release& release, std::ostream* out) {
  *out << release.name;
}

std::vector<etcd_release> etcd_releases() {
  return {find_release("debian", "TENURE_ETCD_DEBIAN", "etcd-debian", "`./dev test` unpacks it"),
          find_release("today", "TENURE_ETCD_TODAY", "etcd-today",
                       "`./dev test` without --quick builds it")};
}

etcd_cluster::etcd_cluster(const etcd_release& release, etcd_options options)
    : release_(release), options_(std::move(options)), members_(options_.members) {
  TENURE_CHECK(!release.binary.empty() && !members_.empty());
  for (int left = attempts_to_start; !start_all(); --left) {
    if (left <= 1) {
      ADD_FAILURE() << release_.binary << " does not become healthy";
      return;
    }
  }
}

etcd_cluster::~etcd_cluster() {
  if (!::testing::Test::HasFailure()) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::cerr << "--- " << members_[i].name << " of " << release_.binary << "\n" << log_tail(i);
  }
}

void etcd_cluster::draw_ports() {
  std::vector<std::uint16_t> taken;
  const auto draw = [&taken] {
    std::uint16_t port = free_port();
    while (std::ranges::find(taken, port) != taken.end()) port = free_port();
    taken.push_back(port);
    return port;
  };
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].name = "m" + std::to_string(i);
    members_[i].client_port = draw();
    members_[i].peer_port = draw();
    members_[i].metrics_port = draw();
  }
}

bool etcd_cluster::start_all() {
  draw_ports();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::filesystem::remove_all(folder_.path() / members_[i].name);
    start(i);
  }
  bool all_run = true;
  const bool ready = eventually(
      [&] {
        all_run = std::ranges::all_of(members_, [](const member& m) { return m.process->runs(); });
        std::size_t good = 0;
        while (good < members_.size() && healthy(good)) ++good;
        return !all_run || good == members_.size();
      },
      between_looks);
  return ready && all_run;
}

std::vector<std::string> etcd_cluster::command(const member& one) const {
  const auto plain = [](std::uint16_t port) { return "http://127.0.0.1:" + std::to_string(port); };
  const std::string client = (options_.tls ? "https" : "http") + plain(one.client_port).substr(4);
  std::string cluster;
  for (const member& m : members_) {
    cluster += (cluster.empty() ? "" : ",") + m.name + "=" + plain(m.peer_port);
  }
  std::vector<std::string> words{
      release_.binary,
      "--name=" + one.name,
      "--data-dir=" + (folder_.path() / one.name).string(),
      "--listen-client-urls=" + client,
      "--advertise-client-urls=" + client,
      "--listen-peer-urls=" + plain(one.peer_port),
      "--initial-advertise-peer-urls=" + plain(one.peer_port),
      "--listen-metrics-urls=" + plain(one.metrics_port),
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
  return members_.at(member).client_port;
}

std::string etcd_cluster::endpoint(std::size_t member) const {
  return std::string(options_.tls ? "https" : "http") +
         "://127.0.0.1:" + std::to_string(port(member));
}

std::vector<std::string> etcd_cluster::endpoints() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < members_.size(); ++i) all.push_back(endpoint(i));
  return all;
}

server_process& etcd_cluster::running(std::size_t member) {
  TENURE_CHECK(members_.at(member).process != nullptr);
  return *members_.at(member).process;
}

void etcd_cluster::kill(std::size_t member) {
  members_.at(member).process.reset();
}

void etcd_cluster::stop(std::size_t member) {
  running(member).stop();
  members_.at(member).process.reset();
}

void etcd_cluster::freeze(std::size_t member) {
  running(member).freeze();
}

void etcd_cluster::thaw(std::size_t member) {
  running(member).thaw();
}

std::unique_ptr<slow_disk> etcd_cluster::slow_down(std::size_t member, std::chrono::seconds each) {
  return std::make_unique<slow_disk>(running(member).pid(), each, folder_.path() / "strace.log");
}

void etcd_cluster::start(std::size_t member) {
  auto& one = members_.at(member);
  one.process.reset();
  one.process = std::make_unique<server_process>(command(one), log_of(one));
}

std::string etcd_cluster::metrics(const member& one, std::string_view path) const {
  if (!one.process) return {};
  return ask(one.metrics_port, "GET", path);
}

bool etcd_cluster::healthy(std::size_t member) const {
  const std::string health = metrics(members_.at(member), "/health");
  return health.find(R"("health":"true")") != std::string::npos;
}

std::optional<std::size_t> etcd_cluster::leader() const {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::string all = metrics(members_[i], "/metrics");
    if (all.find("\netcd_server_is_leader 1\n") != std::string::npos) return i;
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

void etcd_cluster::wait_until_healthy() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!members_[i].process) continue;
    const bool good = eventually([&] { return healthy(i); }, between_looks);
    EXPECT_TRUE(good) << members_[i].name << " is not healthy";
  }
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

std::filesystem::path etcd_cluster::log_of(const member& one) const {
  return folder_.path() / (one.name + ".log");
}

std::string etcd_cluster::log_tail(std::size_t member) const {
  std::ifstream in(log_of(members_.at(member)), std::ios::binary);
  std::string all{std::istreambuf_iterator<char>(in), {}};
  if (all.size() > log_tail_bytes) all.erase(0, all.size() - log_tail_bytes);
  return all;
}

}  // namespace tenure::servers
