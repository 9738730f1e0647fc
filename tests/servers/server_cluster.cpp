#include "servers/server_cluster.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>
#include <set>
#include <utility>

#include "core/check.hpp"
#include "support/eventually.hpp"

namespace tenure::servers {
namespace {

constexpr int attempts_to_start = 3;  // another test may take a port between its choice and use
constexpr std::size_t log_tail_bytes = 4000;

}  // namespace

using tests::eventually;

void PrintTo(const server_release& release, std::ostream* out) {
  *out << release.name;
}

server_release find_release(const std::string& name, const std::string& program,
                            const std::string& folder, const char* variable, const char* advice) {
  const char* named = std::getenv(variable);
  const std::string path =
      named != nullptr ? named : std::string(TENURE_SERVERS_FOLDER) + "/" + folder + "/" + program;
  if (::access(path.c_str(), X_OK) == 0) return {.name = name, .binary = path, .why = {}};
  return {.name = name,
          .binary = {},
          .why = "there is no " + program + " at " + path + ": " + advice + ", or set " + variable};
}

server_cluster::server_cluster(std::string binary, std::size_t members, std::size_t ports)
    : binary_(std::move(binary)), members_(members) {
  TENURE_CHECK(!binary_.empty() && !members_.empty());
  for (std::size_t i = 0; i < members_.size(); ++i) {
    members_[i].name = "m" + std::to_string(i);
    members_[i].ports.resize(ports);
  }
}

server_cluster::~server_cluster() {
  if (!::testing::Test::HasFailure()) return;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::cerr << "--- " << members_[i].name << " of " << binary_ << "\n" << log_tail(i);
  }
}

void server_cluster::boot() {
  for (int left = attempts_to_start; !start_all(); --left) {
    if (left <= 1) {
      ADD_FAILURE() << binary_ << " does not become healthy";
      return;
    }
  }
}

void server_cluster::draw_ports() {
  std::set<std::uint16_t> taken;
  for (member& one : members_) {
    for (std::uint16_t& port : one.ports) {
      do port = free_port();
      while (!taken.insert(port).second);
    }
  }
}

bool server_cluster::start_all() {
  draw_ports();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    std::filesystem::remove_all(data_of(i));
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

server_process& server_cluster::running(std::size_t member) {
  TENURE_CHECK(started(member));
  return *members_.at(member).process;
}

void server_cluster::kill(std::size_t member) {
  members_.at(member).process.reset();
}

void server_cluster::stop(std::size_t member) {
  running(member).stop();
  members_.at(member).process.reset();
}

void server_cluster::ask_to_end(std::size_t member) {
  ::kill(running(member).pid(), SIGTERM);
}

void server_cluster::freeze(std::size_t member) {
  running(member).freeze();
}

void server_cluster::thaw(std::size_t member) {
  running(member).thaw();
}

void server_cluster::start(std::size_t member) {
  auto& one = members_.at(member);
  one.process.reset();
  one.process = std::make_unique<server_process>(command(member), log_of(one));
}

std::vector<std::string> server_cluster::endpoints() const {
  std::vector<std::string> all;
  for (std::size_t i = 0; i < size(); ++i) all.push_back(endpoint(i));
  return all;
}

void server_cluster::wait_until_healthy() {
  for (std::size_t i = 0; i < members_.size(); ++i) {
    if (!started(i)) continue;
    const bool good = eventually([&] { return healthy(i); }, between_looks);
    EXPECT_TRUE(good) << members_[i].name << " is not healthy";
  }
}

std::filesystem::path server_cluster::log_of(const member& one) const {
  return folder() / (one.name + ".log");
}

std::string server_cluster::log_tail(std::size_t member) const {
  std::ifstream in(log_of(members_.at(member)), std::ios::binary);
  std::string all{std::istreambuf_iterator<char>(in), {}};
  if (all.size() > log_tail_bytes) all.erase(0, all.size() - log_tail_bytes);
  return all;
}

}  // namespace tenure::servers
