// `tenure exec` on Leases of Kubernetes beside client-go's leaderelection, on one API server as it
// is by default, over one etcd.
//   kubernetes_bench [--rounds N] [--part hand-over|crash|memory|requests]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "contestants.hpp"
#include "figures.hpp"

namespace {

using namespace tenure;
using namespace tenure::bench;

constexpr int ttl_seconds = 15;
constexpr int their_rounds = 4;  // each takes seconds
constexpr int container_rounds = 20;
constexpr int crash_rounds = 3;
constexpr double hand_over_goal_ms = 20;
constexpr double workload_goal_ms = 50;
constexpr double crash_goal_seconds = ttl_seconds + 0.6;
constexpr long rss_goal_kb = 7 * 1000;

/// What programs need to sign in.
std::vector<std::string> access_to(const servers::kubernetes_server& server) {
  return {"TENURE_CA_FILE=" + server.ca_file(),
          "TENURE_TOKEN_FILE=" + server.member_user().token_file, "TENURE_NAMESPACE=default"};
}

std::vector<double> turns(contestants& of, ending how, int rounds, double unit) {
  std::vector<double> all;
  for (int round = 0; round < rounds; ++round) {
    of.settle();
    const contestants::turn t = of.hand_over(how);
    all.push_back(static_cast<double>(t.began - t.ended) / unit);
  }
  return all;
}

void measure_hand_overs(const servers::kubernetes_server& server, int rounds) {
  const auto ours = two_tenures("kubernetes", server, ttl_seconds);
  const auto theirs = two_electors(ELECTOR, server);
  const struct {
    const char* what;
    ending how;
    double goal;
  } kinds[] = {{"hand-over: SIGTERM -> next first instruction", ending::asked, hand_over_goal_ms},
               {"the workload is killed, its agent lives -> next first instruction",
                ending::workload, workload_goal_ms}};
  for (const auto& kind : kinds) {
    const std::vector<double> us = turns(*ours, kind.how, rounds, 1e6);
    std::printf("%s\n", kind.what);
    print_row("  tenure", us, "ms");
    print_row("  client-go", turns(*theirs, kind.how, their_rounds, 1e6), "ms");
    std::printf("  goal: median under %.0f ms: %s\n", kind.goal, verdict(median(us) < kind.goal));
  }
}

void measure_crashes(const servers::kubernetes_server& server) {
  {
    const auto pods = two_pods("kubernetes", server.endpoint(0), ttl_seconds);
    print_row("the main container is killed, its agent lives, ttl 15 s",
              container_deaths(*pods, container_rounds), "ms");
  }
  print_row(killed_run, killed_runs("kubernetes", server.endpoint(0), crash_rounds), "ms");
  // The same election, which they have left without a release.
  std::this_thread::sleep_for(std::chrono::seconds(ttl_seconds + 1));
  const auto ours = two_tenures("kubernetes", server, ttl_seconds);
  const auto theirs = two_electors(ELECTOR, server);
  std::printf("everything of the holder is killed, ttl %d s -> next first instruction\n",
              ttl_seconds);
  const std::vector<double> us = turns(*ours, ending::vanished, crash_rounds, 1e9);
  print_row("  tenure", us, "s");
  print_row("  client-go", turns(*theirs, ending::vanished, crash_rounds, 1e9), "s");
  const double worst = *std::ranges::max_element(us);
  std::printf("  goal under %.1f s: %s\n", crash_goal_seconds, verdict(worst < crash_goal_seconds));
}

void measure_memory(const servers::kubernetes_server& server) {
  const tests::temporary_directory in;
  const tests::member a(in, {.ttl = "15s", .store = "kubernetes", .endpoint = server.endpoint(0)});
  const bool active = tests::eventually([&] { return a.is_active(); });
  const tests::program theirs(
      {ELECTOR, "-server=" + server.endpoint(0), "-ca-file=" + server.ca_file(),
       "-token-file=" + server.member_user().token_file, "-name=other", "-id=x", "sleep", "1000"},
      in / "theirs");
  const bool leads = tests::eventually([&] { return !tests::children_of(theirs.pid()).empty(); });
  if (!active || !leads) return std::puts("memory: nobody holds"), void();
  std::this_thread::sleep_for(std::chrono::seconds(1));  // what follows a start is over
  const long rss = kilobytes(a.agent().value_or(0), "status", "VmRSS:");
  std::printf("the agent that holds: %ld kB resident, client-go %ld kB; goal under %ld kB: %s\n",
              rss, kilobytes(theirs.pid(), "status", "VmRSS:"), rss_goal_kb,
              verdict(rss < rss_goal_kb));
}

/// How many requests about Leases of "default" the API server has answered, by its own count.
std::map<std::string, double> requests_so_far(const servers::kubernetes_server& server) {
  std::map<std::string, double> all;
  const std::string page = server.call("GET", "/metrics").body;
  constexpr std::string_view begin = "apiserver_request_total{";
  for (auto at = page.find(begin); at != std::string::npos; at = page.find(begin, at + 1)) {
    const std::string line = page.substr(at, page.find('\n', at) - at);
    if (!line.contains("resource=\"leases\"") || line.contains("scope=\"cluster\"")) continue;
    const auto verb = line.find("verb=\"");
    const auto name = line.substr(verb + 6, line.find('"', verb + 6) - verb - 6);
    all[name] += std::atof(line.c_str() + line.rfind(' '));
  }
  return all;
}

using counts = std::map<std::string, double>;
counts requests_in(const servers::kubernetes_server& server, std::chrono::seconds time) {
  const counts before = requests_so_far(server);
  std::this_thread::sleep_for(time);
  counts after = requests_so_far(server);
  for (const auto& [verb, count] : before) after[verb] -= count;
  return after;
}

void print_counts(const char* who, const counts& all, const counts& without, double per_hour) {
  std::printf("  %s:", who);
  for (const auto& [verb, count] : all) {
    const auto other = without.find(verb);
    const double more = count - (other == without.end() ? 0 : other->second);
    if (more > 0.5) std::printf(" %s %.0f", verb.c_str(), more * per_hour);
  }
  std::puts("");
}

/// The API server renews a Lease of its own, which the first count shows.
void measure_requests(const servers::kubernetes_server& server) {
  constexpr std::chrono::seconds time{60};
  const double per_hour = 3600.0 / static_cast<double>(time.count());
  const counts of_server = requests_in(server, time);
  const tests::temporary_directory in;
  const auto options = [&](const char* name) {
    return tests::member::options{
        .identity = name, .ttl = "15s", .store = "kubernetes", .endpoint = server.endpoint(0)};
  };
  const auto elector = [&](const char* name) {
    return std::make_unique<tests::program>(
        std::vector<std::string>{ELECTOR, "-server=" + server.endpoint(0),
                                 "-ca-file=" + server.ca_file(),
                                 "-token-file=" + server.member_user().token_file, "-name=other",
                                 std::string("-id=") + name, "sleep", "1000"},
        in / name);
  };
  std::puts("requests an hour about Leases, ttl 15 s, measured for a minute each");
  {
    const tests::member a(in, options("a"));
    if (!tests::eventually([&] { return a.is_active(); })) return std::puts("nobody holds"), void();
    const counts of_holder = requests_in(server, time);
    print_counts("holder, tenure", of_holder, of_server, per_hour);
    const tests::member b(in, options("b"));
    if (!tests::eventually([&] { return b.process().said("holder=a"); })) return;
    print_counts("standby, tenure", requests_in(server, time), of_holder, per_hour);
  }
  const auto x = elector("x");
  if (!tests::eventually([&] { return !tests::children_of(x->pid()).empty(); })) return;
  const counts of_holder = requests_in(server, time);
  print_counts("holder, client-go", of_holder, of_server, per_hour);
  const auto y = elector("y");
  if (!tests::eventually([&] { return y->said("leader="); })) return;
  print_counts("standby, client-go", requests_in(server, time), of_holder, per_hour);
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
  for (const servers::server_release& release : servers::kubernetes_releases()) {
    if (release.binary.empty()) {
      std::printf("-- Kubernetes \"%s\" left out: %s\n", release.name.c_str(), release.why.c_str());
      continue;
    }
    std::printf("-- Kubernetes \"%s\"\n", release.name.c_str());
    const servers::kubernetes_server server(release);
    const tests::shared_environment access(access_to(server));
    const auto wanted = [&](const char* part) { return only.empty() || only == part; };
    if (wanted("hand-over")) measure_hand_overs(server, rounds);
    if (wanted("crash")) measure_crashes(server);
    if (wanted("memory")) measure_memory(server);
    if (wanted("requests")) measure_requests(server);
  }
}
