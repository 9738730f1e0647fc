// `tenure exec` on Consul beside `consul lock`, on one server as it is by default, and an agent
// with as many elections as it may have.
//   consul_bench [--rounds N] [--part hand-over|steps|crash|memory|requests|many]
#include <fcntl.h>
#include <unistd.h>

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

#include "base/unique_fd.hpp"
#include "contestants.hpp"
#include "figures.hpp"
#include "servers/plain_http.hpp"

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
    std::chrono::milliseconds rest;
  } kinds[] = {
      {"hand-over: SIGTERM (tenure: to it; consul lock: to its command) -> next first instruction",
       ending::asked, std::chrono::milliseconds(100)},
      {"the same, 2 s after the standby's start: its session has to be renewed for the lock",
       ending::asked, std::chrono::seconds(2)},
      {"the workload is killed, its agent lives -> next first instruction", ending::workload,
       std::chrono::milliseconds(100)}};
  for (const auto& kind : kinds) {
    const samples all = measure(*ours, *theirs, kind.how, rounds, kind.rest);
    std::printf("%s\n", kind.what);
    print_row("  tenure", all.ours, "ms");
    print_row("  consul lock", all.theirs, "ms");
    print_parts(all);
    const double ratio = median(all.ours) / median(all.theirs);
    std::printf("  ratio %.2f, goal at most %.2f: %s\n", ratio, hand_over_goal,
                verdict(ratio <= hand_over_goal));
  }
}

void measure_crashes(const servers::server_release& release) {
  const servers::consul_cluster cluster_of_ours(release, plain_consul());
  const servers::consul_cluster cluster_of_theirs(release, plain_consul());
  const auto ours = two_tenures("consul", cluster_of_ours, ttl_seconds);
  const auto theirs = two_consul_locks(release, cluster_of_theirs);
  const samples all = measure(*ours, *theirs, ending::vanished, crash_rounds);
  const auto in_seconds = [](std::vector<double> ms) {
    for (double& one : ms) one /= 1000;
    return ms;
  };
  std::printf("everything of the holder is killed -> next first instruction\n");
  print_row("  tenure, ttl 10 s", in_seconds(all.ours), "s");
  print_row("  consul lock, ttl 15 s and lock-delay 15 s", in_seconds(all.theirs), "s");
  const double worst = *std::ranges::max_element(all.ours) / 1000;
  std::printf("  goal of ours under %.0f s: %s\n", crash_goal_seconds,
              verdict(worst < crash_goal_seconds));
}

// The steps of a hand-over ----------------------------------------------------------------------

double milliseconds_since(std::int64_t instant) {
  return static_cast<double>(boot_nanoseconds() - instant) / 1e6;
}

/// A connection that is kept, as those of an agent are.
class kept_connection {
 public:
  explicit kept_connection(std::uint16_t port)
      : http_(port, "GET", "/v1/status/leader", "", std::string_view()) {
    await();
  }

  void send(const std::string& method, const std::string& path, const std::string& body = {}) {
    http_.send(method + " " + path + " HTTP/1.1\r\nHost: localhost\r\nContent-Length: " +
               std::to_string(body.size()) + "\r\n\r\n" + body);
  }
  /// All that was answered so far.
  std::string await() {
    return http_.read_until("HTTP/1.1 ", ++answers_, std::chrono::seconds(10));
  }
  /// How long it takes until an answer begins to come.
  double ask(const std::string& method, const std::string& path, const std::string& body = {}) {
    const std::int64_t begin = boot_nanoseconds();
    send(method, path, body);
    await();
    return milliseconds_since(begin);
  }

 private:
  servers::plain_http http_;
  std::size_t answers_ = 0;
};

double write_to_disk(int fd) {
  const std::string page(4096, 'x');
  const std::int64_t begin = boot_nanoseconds();
  if (::pwrite(fd, page.data(), page.size(), 0) < 0 || ::fdatasync(fd) != 0) return -1;
  return milliseconds_since(begin);
}

double start_of_a_command() {
  const tests::temporary_directory in;
  const std::int64_t begin = boot_nanoseconds();
  const tests::program command({tests::stamper_binary(), in.path()}, in / "log",
                               {"TENURE_IDENTITY=a", "TENURE_VERSION=1"});
  if (!tests::eventually([&] { return !tests::stamped_runs(in).empty(); })) return -1;
  return static_cast<double>(tests::stamped_runs(in).front().first - begin) / 1e6;
}

/// What a hand-over waits for, each step by itself, on connections that are open.
void measure_steps(const servers::server_release& release) {
  constexpr int rounds = 50;
  using nlohmann::json;
  const servers::consul_cluster cluster(release, plain_consul());
  const auto made = json::parse(
      cluster.call("PUT", "/v1/session/create", R"({"TTL":"60s","NodeChecks":[]})").body);
  const std::string session = made.at("ID");
  const auto operation = [&](const char* verb, const char* key) {
    json kv{{"Verb", verb}, {"Key", key}, {"Value", "YQ=="}};
    if (verb != std::string_view("set")) kv["Session"] = session;
    return json{{"KV", kv}};
  };
  const std::string locks = json::array({operation("lock", "test/.lock")}).dump();
  const std::string unlocks =
      json::array({operation("unlock", "test/.lock"), operation("set", "test/.tenure/release")})
          .dump();
  kept_connection calls(cluster.port());
  kept_connection watch(cluster.port());
  const tests::temporary_directory in;
  const base::unique_fd file(::open((in / "file").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  std::vector<double> disk;
  std::vector<double> renewals;
  std::vector<double> lockings;
  std::vector<double> releases;
  std::vector<double> wakes;
  std::vector<double> starts;
  for (int i = 0; i < rounds; ++i) {
    disk.push_back(write_to_disk(file.get()));
    renewals.push_back(calls.ask("PUT", "/v1/session/renew/" + session));
    lockings.push_back(calls.ask("PUT", "/v1/txn", locks));
    const std::string head = cluster.call("GET", "/v1/kv/test/?recurse&consistent").head;
    const std::string name = "X-Consul-Index: ";
    const std::string index =
        std::to_string(std::stoull(head.substr(head.find(name) + name.size())));
    watch.send("GET", "/v1/kv/test/?recurse&consistent&wait=60s&index=" + index);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // it waits there
    std::int64_t seen_at = 0;
    std::jthread sees([&] {
      watch.await();
      seen_at = boot_nanoseconds();
    });
    const std::int64_t begin = boot_nanoseconds();
    releases.push_back(calls.ask("PUT", "/v1/txn", unlocks));
    sees.join();
    wakes.push_back(static_cast<double>(seen_at - begin) / 1e6);
    starts.push_back(start_of_a_command());
  }
  std::puts("the steps of a hand-over, each by itself");
  print_row("  a page written to the same disk (fdatasync)", disk, "ms");
  print_row("  release: a transaction that unlocks and writes", releases, "ms");
  print_row("  the same, until a blocking query is answered", wakes, "ms");
  print_row("  a renewal of the session", renewals, "ms");
  print_row("  lock: a transaction that locks", lockings, "ms");
  print_row("  a command's start -> its first instruction", starts, "ms");
  std::printf("  release until it is seen + lock + start: %.1f ms, of which two commits are %.1f\n",
              median(wakes) + median(lockings) + median(starts),
              median(releases) + median(lockings));
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

/// How many requests Consul has answered in 10 s (its own count), by their kind. Its newest
/// interval of 10 s that is over is asked for again and again.
using requests = std::map<std::string, double>;
requests requests_in(const servers::consul_cluster& cluster, int intervals) {
  requests all;
  std::string last;
  for (int seen = 0; seen <= intervals + 1;) {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    const auto now = nlohmann::json::parse(cluster.call("GET", "/v1/agent/metrics").body);
    if (now.at("Timestamp") == last) continue;
    last = now.at("Timestamp");
    // The first one was over before we asked, and the next one had begun.
    if (seen++ < 2) continue;
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

void print_requests(const requests& all) {
  for (const auto& [kind, count] : all) std::printf("  %-44s %5.1f\n", kind.c_str(), count);
}

/// What is counted in `now` beyond what was before.
requests beyond(requests now, const requests& before) {
  for (const auto& [kind, count] : before) now[kind] -= count;
  return now;
}

void measure_requests(const servers::server_release& release) {
  constexpr int intervals = 3;
  const servers::consul_cluster cluster(release, plain_consul());
  const tests::temporary_directory in;
  const auto join = [&](const char* name, std::vector<std::string> more = {}) {
    return std::make_unique<tests::member>(in,
                                           tests::member::options{.identity = name,
                                                                  .ttl = "15s",
                                                                  .store = "consul",
                                                                  .endpoint = cluster.endpoint(),
                                                                  .more = std::move(more)});
  };
  const auto a = join("a");
  if (!tests::eventually([&] { return a->is_active(); })) return std::puts("nobody holds"), void();
  const requests of_holder = requests_in(cluster, intervals);
  std::puts("requests in 10 s, ttl 15 s: a holder");
  print_requests(of_holder);
  auto b = join("b");
  std::puts("what a standby adds");
  print_requests(beyond(requests_in(cluster, intervals), of_holder));
  b.reset();
  // The name of b is in the list until its session ends, which is a change for all that watch.
  std::this_thread::sleep_for(std::chrono::seconds(31));
  b = join("b", {"--unlisted"});
  std::puts("what a standby adds that is not listed");
  print_requests(beyond(requests_in(cluster, intervals), of_holder));
}

void measure_many(const servers::server_release& release) {
  constexpr int intervals = 6;  // two renewals each of ttl / 3
  const servers::consul_cluster cluster(release, plain_consul());
  const tests::temporary_directory in;
  {
    std::ofstream file(in / "tenure.yaml");
    file << "store: consul\nendpoint: " << cluster.endpoint() << "\nttl: 60s\nidentity: a\n"
         << "unlisted: true\nlisten: 127.0.0.1:0\nprobe_listen: 127.0.0.1:0\nelections:\n";
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
  for (int tries = 0; tries < 480 && held < most_elections; ++tries) held = active();
  std::printf("%d elections in one folder and one agent: %ld held after %.1f s, %ld kB resident\n",
              most_elections, held, milliseconds_since(begin) / 1000,
              kilobytes(agent.pid(), "status", "VmRSS:"));
  if (held < most_elections) return;
  requests in_a_period = requests_in(cluster, intervals);
  double renewals = 0;
  for (auto& [kind, count] : in_a_period) {
    count *= 2;  // of 20 s
    if (kind.contains("session") && kind.contains("renew")) renewals += count;
  }
  std::puts("requests in a renewal period, 20 s");
  print_requests(in_a_period);
  std::printf("  renewals of sessions: %.1f, goal 1: %s\n", renewals, verdict(renewals < 1.5));
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
    if (wanted("steps")) measure_steps(release);
    if (wanted("crash")) measure_crashes(release);
    if (wanted("memory")) measure_memory(release);
    if (wanted("requests")) measure_requests(release);
    if (wanted("many")) measure_many(release);
  }
}
