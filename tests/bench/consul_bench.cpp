// `tenure exec` on Consul beside `consul lock`, on one server as it is by default, and an agent
// with as many elections as it may have.
//   consul_bench [--rounds N] [--part hand-over|crash|memory|requests|many]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contestants.hpp"
#include "figures.hpp"

namespace {

using namespace tenure;
using namespace tenure::bench;

constexpr int ttl_seconds = 10;
constexpr int crash_rounds = 2;
constexpr int most_elections = 10'000;
constexpr double hand_over_goal = 0.7;  // of consul lock's
constexpr double crash_goal_seconds = 21;
constexpr long rss_goal_kb = 7 * 1000;

servers::consul_options plain_consul() {
  return {.least_ttl = std::chrono::seconds(10)};
}

void measure_hand_overs(const servers::server_release& release, int rounds) {
  const servers::consul_cluster cluster_of_ours(release, plain_consul());
  const servers::consul_cluster cluster_of_theirs(release, plain_consul());
  const auto ours = two_tenures("consul", cluster_of_ours, ttl_seconds);
  const auto theirs = two_consul_locks(release, cluster_of_theirs);
  const struct {
    const char* what;
    ending how;
  } kinds[] = {
      {"hand-over: SIGTERM (tenure: to it; consul lock: to its command) -> next first instruction",
       ending::asked},
      {"the workload is killed, its agent lives -> next first instruction", ending::workload}};
  for (const auto& kind : kinds) {
    const samples all = measure(*ours, *theirs, kind.how, rounds);
    std::printf("%s\n", kind.what);
    print_row("  tenure", all.ours, "ms");
    print_row("  consul lock", all.theirs, "ms");
    const double ratio = median(all.ours) / median(all.theirs);
    std::printf("  ratio %.2f, goal at most %.2f: %s\n", ratio, hand_over_goal,
                verdict(ratio <= hand_over_goal));
  }
}

void measure_crashes(const servers::server_release& release) {
  const servers::consul_cluster cluster(release, plain_consul());
  const auto ours = two_tenures("consul", cluster, ttl_seconds);
  std::vector<double> all;
  for (int round = 0; round < crash_rounds; ++round) {
    ours->settle();
    const contestants::turn t = ours->hand_over(ending::vanished);
    all.push_back(static_cast<double>(t.began - t.ended) / 1e9);
  }
  std::printf("everything of the holder is killed, ttl 10 s -> next first instruction\n");
  print_row("  tenure", all, "s");
  const double worst = *std::ranges::max_element(all);
  std::printf("  goal under %.0f s: %s\n", crash_goal_seconds, verdict(worst < crash_goal_seconds));
}

void measure_memory(const servers::server_release& release) {
  const servers::consul_cluster cluster(release, plain_consul());
  const tests::temporary_directory in;
  const tests::member a(in, {.ttl = "10s", .store = "consul", .endpoint = cluster.endpoint()});
  const bool active = tests::eventually([&] { return a.is_active(); });
  const tests::program theirs({release.binary, "lock", "other", "sleep", "1000"}, in / "theirs",
                              {"CONSUL_HTTP_ADDR=" + cluster.endpoint()});
  const bool locked = tests::eventually([&] { return !tests::children_of(theirs.pid()).empty(); });
  if (!active || !locked) return std::puts("memory: nobody holds"), void();
  std::this_thread::sleep_for(std::chrono::seconds(1));  // what follows a start is over
  const long rss = kilobytes(a.agent().value_or(0), "status", "VmRSS:");
  std::printf("the agent that holds: %ld kB resident, consul lock %ld kB; goal under %ld kB: %s\n",
              rss, kilobytes(theirs.pid(), "status", "VmRSS:"), rss_goal_kb,
              verdict(rss < rss_goal_kb));
}

/// How many requests Consul has answered since `from` (its own count), by their kind. Its newest
/// interval of 10 s that is over is asked for again and again.
using requests = std::map<std::string, double>;
requests requests_in(const servers::consul_cluster& cluster, int intervals) {
  requests all;
  std::string last;
  for (int seen = 0; seen <= intervals;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const auto now = nlohmann::json::parse(cluster.call("GET", "/v1/agent/metrics").body);
    if (now.at("Timestamp") == last) continue;
    last = now.at("Timestamp");
    // The first one began before we asked.
    if (seen++ == 0) continue;
    for (const auto& one : now.at("Samples")) {
      std::string name = one.at("Name");
      // 1.9 has moved method and path into labels.
      if (name == "consul.api.http") {
        name = std::string(one.at("Labels").at("method")) + " " +
               std::string(one.at("Labels").at("path"));
      } else if (!name.starts_with("consul.http.")) {
        continue;
      }
      if (name.contains("metrics")) continue;
      all[name] += one.at("Count").get<double>() / intervals;
    }
  }
  return all;
}

void measure_requests(const servers::server_release& release) {
  constexpr int intervals = 6;
  const servers::consul_cluster cluster(release, plain_consul());
  const tests::temporary_directory in;
  const auto options = [&](const char* name) {
    return tests::member::options{
        .identity = name, .ttl = "15s", .store = "consul", .endpoint = cluster.endpoint()};
  };
  const tests::member a(in, options("a"));
  if (!tests::eventually([&] { return a.is_active(); })) return std::puts("nobody holds"), void();
  const requests of_holder = requests_in(cluster, intervals);
  const tests::member b(in, options("b"));
  requests of_both = requests_in(cluster, intervals);
  std::puts("requests in 10 s, ttl 15 s: the holder alone, and what a standby adds");
  for (const auto& [kind, count] : of_holder) of_both.try_emplace(kind, 0);
  for (const auto& [kind, count] : of_both) {
    const auto before = of_holder.find(kind);
    const double alone = before == of_holder.end() ? 0 : before->second;
    std::printf("  %-44s %5.1f %5.1f\n", kind.c_str(), alone, count - alone);
  }
}

void measure_many(const servers::server_release& release) {
  const servers::consul_cluster cluster(release, plain_consul());
  const tests::temporary_directory in;
  {
    std::ofstream file(in / "tenure.yaml");
    file << "store: consul\nendpoint: " << cluster.endpoint() << "\nttl: 30s\nidentity: a\n"
         << "listen: 127.0.0.1:0\nprobe_listen: 127.0.0.1:0\nelections:\n";
    for (int i = 0; i < most_elections; ++i) file << "  - many/e" << i << "\n";
  }
  const std::int64_t begin = boot_nanoseconds();
  const tests::program agent({tests::tenure_binary(), "agent", "--config", in / "tenure.yaml"},
                             in / "agent");
  const auto active = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const std::string log = agent.err();
    long count = 0;
    constexpr std::string_view words = "\"active under version";
    for (auto at = log.find(words); at != log.npos; at = log.find(words, at + 1)) ++count;
    return count;
  };
  long held = 0;
  for (int tries = 0; tries < 240 && held < most_elections; ++tries) held = active();
  const double seconds = static_cast<double>(boot_nanoseconds() - begin) / 1e9;
  std::printf("%d elections in one folder and one agent: %ld held after %.1f s, %ld kB resident\n",
              most_elections, held, seconds, kilobytes(agent.pid(), "status", "VmRSS:"));
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 20;
  std::string only;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--part") == 0) only = argv[i + 1];
  }
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  for (const servers::server_release& release : servers::consul_releases()) {
    if (release.binary.empty()) {
      std::printf("-- Consul \"%s\" left out: %s\n", release.name.c_str(), release.why.c_str());
      continue;
    }
    std::printf("-- Consul \"%s\"\n", release.name.c_str());
    const auto wanted = [&](const char* part) { return only.empty() || only == part; };
    if (wanted("hand-over")) measure_hand_overs(release, rounds);
    if (wanted("crash")) measure_crashes(release);
    if (wanted("memory")) measure_memory(release);
    if (wanted("requests")) measure_requests(release);
    if (wanted("many")) measure_many(release);
  }
}
