// `tenure exec` on etcd beside `etcdctl lock`, on one etcd with its default fsync, and an agent
// with as many elections as it may have.
//   etcd_bench [--rounds N] [--etcd debian|today] [--part hand-over|requests|many|crowd]
//   [--candidates N]
#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contestants.hpp"
#include "figures.hpp"
#include "servers/plain_http.hpp"
#include "stores/etcd/layout.hpp"

namespace {

using namespace tenure;
using namespace tenure::bench;

constexpr int crash_rounds = 3;
constexpr int crash_ttl_seconds = 2;
constexpr int long_ttl_seconds = 15;
constexpr std::chrono::milliseconds short_rest{100};
/// More than half a TTL: what a standby was told at its start is too old by then.
constexpr std::chrono::seconds long_rest{long_ttl_seconds * 2 / 3};
constexpr int counted_ttl_seconds = 6;
/// Whole numbers of renewals, which come every third of a TTL.
constexpr int counted_renewals = 6;
constexpr int most_elections = 10'000;

constexpr double hand_over_goal = 1.0;            // of etcdctl's
constexpr double hand_over_goal_with_word = 0.5;  // the same
constexpr double crash_goal_seconds = crash_ttl_seconds + 0.6;
constexpr long rss_goal_kb = 60 * 1000;
constexpr double crowd_goal = 2.0;  // of what 2 candidates take
constexpr int most_seconds_to_gather = 600;
constexpr std::chrono::milliseconds between_joins{200};
constexpr std::chrono::seconds pause_among_many{6};

/// etcd as it is by default.
servers::etcd_options plain_etcd() {
  servers::etcd_options out;
  out.heartbeat = std::chrono::milliseconds(100);
  out.election = std::chrono::milliseconds(1000);
  return out;
}

// Requests, as etcd counts them -----------------------------------------------------------------

/// By method, since etcd was started. What it has answered, as it is one answer for each request
/// of those we count, on a stream, too; newer releases count the end of a stream as received.
using request_count = std::map<std::string, double>;

request_count requests_at(const servers::etcd_cluster& cluster) {
  std::istringstream lines(servers::body_of(servers::ask(cluster.port(), "GET", "/metrics")));
  request_count out;
  const std::string method = "grpc_method=\"";
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("grpc_server_msg_sent_total{")) continue;
    const auto begin = line.find(method) + method.size();
    out[line.substr(begin, line.find('"', begin) - begin)] +=
        std::atof(line.c_str() + line.rfind(' '));
  }
  return out;
}

request_count operator-(request_count left, const request_count& right) {
  for (const auto& [method, count] : right) left[method] -= count;
  std::erase_if(left, [](const auto& one) { return one.second == 0; });
  return left;
}

double total(const request_count& all) {
  double sum = 0;
  for (const auto& [method, count] : all) sum += count;
  return sum;
}

std::string text(const request_count& all) {
  std::ostringstream out;
  for (const auto& [method, count] : all) out << ' ' << method << ' ' << count;
  return all.empty() ? " none" : out.str();
}

std::chrono::milliseconds renewals(int count) {
  return std::chrono::milliseconds(1000 * counted_ttl_seconds / 3 * count);
}

void print_requests(const char* who, const request_count& all) {
  const double hours =
      std::chrono::duration<double, std::ratio<3600>>(renewals(counted_renewals)).count();
  std::printf("  %-26s %5.2f a renewal period, %5.0f an hour (%s )\n", who,
              total(all) / counted_renewals, total(all) / hours, text(all).c_str());
}

/// Two clusters, so that both windows are the same.
void measure_requests(const servers::server_release& release) {
  const servers::etcd_cluster for_ours(release, plain_etcd());
  const servers::etcd_cluster for_theirs(release, plain_etcd());
  const std::string ttl = std::to_string(counted_ttl_seconds);
  const tests::temporary_directory in;
  const auto member = [&](const char* name) {
    return std::make_unique<tests::member>(
        in,
        tests::member::options{
            .identity = name, .ttl = ttl + "s", .store = "etcd", .endpoint = for_ours.endpoint()});
  };
  const auto etcdctl = [&](const char* name) {
    return std::make_unique<tests::program>(
        std::vector<std::string>{etcdctl_of(release), "lock", "--ttl", ttl, "test", "sleep", "600"},
        in / name,
        std::vector<std::string>{"ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=" + for_theirs.endpoint()});
  };
  const auto window = [&](request_count& ours, request_count& theirs) {
    const request_count ours_before = requests_at(for_ours);
    const request_count theirs_before = requests_at(for_theirs);
    std::this_thread::sleep_for(renewals(counted_renewals));
    ours = requests_at(for_ours) - ours_before;
    theirs = requests_at(for_theirs) - theirs_before;
  };
  const auto their_count_is = [&](long count) {
    return tests::eventually([&] { return contenders(for_theirs) == count; });
  };

  const auto holder = member("a");
  const auto their_holder = etcdctl("x");
  if (!tests::eventually([&] { return holder->is_active(); }) || !their_count_is(1)) std::abort();
  std::this_thread::sleep_for(renewals(1));  // what follows a start is over
  request_count ours;
  request_count theirs;
  window(ours, theirs);
  std::printf("requests at etcd, ttl %d s, over %d renewals\n", counted_ttl_seconds,
              counted_renewals);
  print_requests("tenure, holder", ours);
  print_requests("etcdctl lock, holder", theirs);
  std::printf("  agent holding one election: rss %ld kB, private %ld kB\n",
              kilobytes(*holder->agent(), "status", "VmRSS:"),
              kilobytes(*holder->agent(), "smaps_rollup", "Private_Clean:") +
                  kilobytes(*holder->agent(), "smaps_rollup", "Private_Dirty:"));

  const auto standby = member("b");
  const auto their_waiter = etcdctl("y");
  if (!tests::eventually([&] { return standby->process().said("holder=a"); }) ||
      !their_count_is(2)) {
    std::abort();
  }
  std::this_thread::sleep_for(renewals(1));
  request_count ours_with_standby;
  request_count theirs_with_waiter;
  window(ours_with_standby, theirs_with_waiter);
  print_requests("tenure, idle standby adds", ours_with_standby - ours);
  print_requests("etcdctl lock, waiter adds", theirs_with_waiter - theirs);
}

// Hand-overs ------------------------------------------------------------------------------------

void print(const char* what, const samples& all) {
  std::printf("%s\n", what);
  print_row("  tenure", all.ours, "ms");
  print_row("  etcdctl lock", all.theirs, "ms");
}

/// `with`: our members tell each other a word, or not.
void measure_hand_overs(const servers::server_release& release, int rounds, const char* with,
                        const std::vector<std::string>& flags, double goal) {
  const servers::etcd_cluster cluster_of_ours(release, plain_etcd());
  const servers::etcd_cluster cluster_of_theirs(release, plain_etcd());
  const auto ours = two_tenures("etcd", cluster_of_ours, long_ttl_seconds, flags);
  const auto theirs = two_etcdctls(release, cluster_of_theirs, long_ttl_seconds);
  const struct {
    const char* what;
    ending how;
    int rounds;
    std::chrono::milliseconds rest;
  } kinds[] = {
      {"hand-over: SIGTERM (tenure: to it; etcdctl: to its command) -> next first instruction",
       ending::asked, rounds, short_rest},
      {"the same after the standby has waited for more than half a TTL", ending::asked,
       std::max(3, rounds / 3), long_rest},
      {"the workload is killed, its agent lives -> next first instruction", ending::workload,
       rounds, short_rest}};
  for (const auto& kind : kinds) {
    const samples all = measure(*ours, *theirs, kind.how, kind.rounds, kind.rest);
    std::printf("%s, ", with);
    print(kind.what, all);
    print_parts(all);
    const double ratio = median(all.ours) / median(all.theirs);
    std::printf("  ratio %.2f, goal at most %.2f: %s\n", ratio, goal, verdict(ratio <= goal));
  }
}

void measure_hand_overs(const servers::server_release& release, int rounds) {
  measure_hand_overs(release, rounds, "without the word", {}, hand_over_goal);
  measure_hand_overs(release, rounds, "with the word", {"--peer-listen", "127.0.0.1:0"},
                     hand_over_goal_with_word);
  const servers::etcd_cluster for_pods(release, plain_etcd());
  const auto pods = two_pods("etcd", for_pods.endpoint(), long_ttl_seconds);
  print_row("the main container is killed, its agent lives, ttl 15 s",
            container_deaths(*pods, rounds), "ms");
  const servers::etcd_cluster for_runs(release, plain_etcd());
  print_row(killed_run, killed_runs("etcd", for_runs.endpoint(), crash_rounds), "ms");
  const servers::etcd_cluster fresh(release, plain_etcd());
  const servers::etcd_cluster fresh_for_theirs(release, plain_etcd());
  const auto ours = two_tenures("etcd", fresh, crash_ttl_seconds);
  const auto theirs = two_etcdctls(release, fresh_for_theirs, crash_ttl_seconds);
  const samples all = measure(*ours, *theirs, ending::vanished, crash_rounds);
  print("everything of the holder is killed, ttl 2 s -> next first instruction", all);
  const double worst = *std::ranges::max_element(all.ours) / 1000;
  std::printf("  worst ttl %+.2f s, goal at most ttl +0.60 s: %s\n", worst - crash_ttl_seconds,
              verdict(worst <= crash_goal_seconds));
}

// Many elections --------------------------------------------------------------------------------

long count_of(std::string_view words, std::string_view text) {
  long count = 0;
  for (std::size_t at = text.find(words); at != text.npos; at = text.find(words, at + 1)) ++count;
  return count;
}

void measure_many(const servers::server_release& release) {
  const servers::etcd_cluster cluster(release, plain_etcd());
  const tests::temporary_directory in;
  {
    std::ofstream file(in / "tenure.yaml");
    file << "store: etcd\nendpoint: " << cluster.endpoint() << "\nttl: " << counted_ttl_seconds
         << "s\nidentity: a\nlisten: 127.0.0.1:0\nprobe_listen: 127.0.0.1:0\nelections:\n";
    for (int i = 0; i < most_elections; ++i) file << "  - e" << i << "\n";
  }
  const std::int64_t begin = boot_nanoseconds();
  const tests::program agent({tests::tenure_binary(), "agent", "--config", in / "tenure.yaml"},
                             in / "agent");
  // By the agent's own word: its keys in etcd are not terms alone. Seldom: its log is long.
  const auto active = [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    return count_of("\"active under version", agent.err());
  };
  if (!tests::eventually([&] { return active() >= most_elections; })) {
    std::printf("%d elections in one agent: only %ld are held after %d s\n%s\n", most_elections,
                active(), static_cast<int>(tests::eventually_within.count()),
                agent.err().substr(0, 2000).c_str());
    return;
  }
  const double seconds = static_cast<double>(boot_nanoseconds() - begin) / 1e9;
  std::this_thread::sleep_for(renewals(1));  // what follows a start is over
  const request_count before = requests_at(cluster);
  std::this_thread::sleep_for(renewals(counted_renewals));
  const request_count asked = requests_at(cluster) - before;
  const long rss = kilobytes(agent.pid(), "status", "VmRSS:");
  std::printf("%d elections in one agent\n", most_elections);
  std::printf("  all held %.1f s after its start\n", seconds);
  std::printf("  requests over %d renewals:%s\n", counted_renewals, text(asked).c_str());
  std::printf("  rss %ld kB (peak %ld kB), goal under %ld kB: %s\n", rss,
              kilobytes(agent.pid(), "status", "VmHWM:"), rss_goal_kb, verdict(rss < rss_goal_kb));
}

// Many candidates -------------------------------------------------------------------------------

/// Real agents, in processes of their own, that wait for one election and come after all others.
class crowd {
 public:
  crowd(const servers::etcd_cluster& at, int count) {
    for (int i = 0; i < count; ++i) {
      const std::string name = "c" + std::to_string(i);
      std::vector<std::string> words = {tests::tenure_binary(), "agent"};
      for (const std::string& word : words_for_all(at)) words.push_back(word);
      words.push_back("--identity=" + name);
      members_.push_back(std::make_unique<tests::program>(words, in_ / name));
      // Each one that joins is told to all others. All at once would silence etcd for minutes.
      std::this_thread::sleep_for(between_joins);
    }
  }

 private:
  static std::vector<std::string> words_for_all(const servers::etcd_cluster& at) {
    const std::string ttl = std::to_string(long_ttl_seconds) + "s";
    return {"--election=test",
            "--store=etcd",
            "--endpoint=" + at.endpoint(),
            "--ttl=" + ttl,
            "--priority=-1",
            "--listen=127.0.0.1:0",
            "--probe-listen=off",
            "--peer-listen=127.0.0.1:0",
            "--log-level=warn"};
  }

  tests::temporary_directory in_;
  std::vector<std::unique_ptr<tests::program>> members_;
};

/// What one hand-over asks of etcd, beyond what it is asked in as many idle seconds. Without what
/// it tells on watches: that goes to everybody.
request_count requests_of_a_hand_over(const servers::etcd_cluster& at, contestants& ours) {
  constexpr std::chrono::seconds window{long_ttl_seconds};
  ours.settle();
  const request_count first = requests_at(at);
  std::this_thread::sleep_for(window);
  const request_count second = requests_at(at);
  const auto until = std::chrono::steady_clock::now() + window;
  ours.hand_over(ending::asked);
  std::this_thread::sleep_until(until);
  request_count out = (requests_at(at) - second) - (second - first);
  out.erase("Watch");
  return out;
}

struct crowd_figures {
  std::vector<double> asked;
  std::vector<double> workload;
  std::vector<double> vanished;
  request_count requests;
};

/// `pause`: until all know of a standby that has just started.
crowd_figures measure_with(const servers::etcd_cluster& at, contestants& ours, int rounds,
                           std::chrono::seconds pause) {
  crowd_figures out;
  const auto take = [&](ending how) {
    ours.settle();
    std::this_thread::sleep_for(pause);
    const contestants::turn one = ours.hand_over(how);
    return static_cast<double>(one.began - one.ended) / 1e6;
  };
  for (int i = 0; i < rounds; ++i) out.asked.push_back(take(ending::asked));
  for (int i = 0; i < rounds; ++i) out.workload.push_back(take(ending::workload));
  for (int i = 0; i < crash_rounds; ++i) out.vanished.push_back(take(ending::vanished));
  out.requests = requests_of_a_hand_over(at, ours);
  return out;
}

void measure_crowd(const servers::server_release& release, int rounds, int candidates) {
  const servers::etcd_cluster cluster(release, plain_etcd());
  const auto ours =
      two_tenures("etcd", cluster, long_ttl_seconds, {"--peer-listen", "127.0.0.1:0"});
  const crowd_figures alone = measure_with(cluster, *ours, rounds, std::chrono::seconds(1));
  const std::int64_t begin = boot_nanoseconds();
  const crowd others(cluster, candidates - 2);
  const auto listed = [&] {
    std::this_thread::sleep_for(std::chrono::seconds(1));
    return keys_under(cluster, stores::etcd::member_prefix("test"));
  };
  long count = 0;
  for (int tries = 0; tries < most_seconds_to_gather && count < candidates; ++tries)
    count = listed();
  const double seconds = static_cast<double>(boot_nanoseconds() - begin) / 1e9;
  if (count < candidates) {
    std::printf("%d candidates for one election: only %ld are listed after %.0f s\n", candidates,
                count, seconds);
    return;
  }
  std::printf("%d candidates for one election, each a process, all listed after %.0f s\n",
              candidates, seconds);
  // What follows a start is over.
  std::this_thread::sleep_for(std::chrono::seconds(2 * long_ttl_seconds));
  const crowd_figures crowded = measure_with(cluster, *ours, rounds, pause_among_many);
  const auto print_pair = [](const char* what, const std::vector<double>& few,
                             const std::vector<double>& many) {
    std::printf("%s\n", what);
    print_row("  2 candidates", few, "ms");
    print_row("  all of them", many, "ms");
    const double ratio = median(many) / median(few);
    std::printf("  ratio %.2f, goal at most %.2f: %s\n", ratio, crowd_goal,
                verdict(ratio <= crowd_goal));
  };
  print_pair("hand-over with the word", alone.asked, crowded.asked);
  print_pair("the workload is killed, its agent lives", alone.workload, crowded.workload);
  print_pair("everything of the holder is killed", alone.vanished, crowded.vanished);
  std::printf(
      "requests of a hand-over beyond idle ones, the start of the next standby included\n"
      "  2 candidates %.0f (%s )\n  all of them %.0f (%s )\n",
      total(alone.requests), text(alone.requests).c_str(), total(crowded.requests),
      text(crowded.requests).c_str());
}

}  // namespace

int main(int argc, char** argv) {
  int rounds = 20;
  std::string only_release;
  std::string only_part;
  int candidates = 100;
  for (int i = 1; i + 1 < argc; i += 2) {
    if (std::strcmp(argv[i], "--rounds") == 0) rounds = std::atoi(argv[i + 1]);
    if (std::strcmp(argv[i], "--etcd") == 0) only_release = argv[i + 1];
    if (std::strcmp(argv[i], "--part") == 0) only_part = argv[i + 1];
    if (std::strcmp(argv[i], "--candidates") == 0) candidates = std::atoi(argv[i + 1]);
  }
  const auto wanted = [&](const char* part) { return only_part.empty() || only_part == part; };
  std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ);
  for (const servers::server_release& release : servers::etcd_releases()) {
    if (!only_release.empty() && release.name != only_release) continue;
    if (release.binary.empty()) {
      std::printf("-- etcd \"%s\" left out: %s\n", release.name.c_str(), release.why.c_str());
      continue;
    }
    std::printf("-- etcd \"%s\"\n", release.name.c_str());
    if (wanted("hand-over")) measure_hand_overs(release, rounds);
    if (wanted("requests")) measure_requests(release);
    if (wanted("many")) measure_many(release);
    // Only if it is asked for: it takes minutes, and more than one small machine if they are many.
    if (only_part == "crowd") measure_crowd(release, rounds, candidates);
  }
}
