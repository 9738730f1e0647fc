#include "contestants.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <thread>
#include <utility>

#include "base/base64.hpp"
#include "figures.hpp"

namespace tenure::bench {
namespace {

using tests::member;
using tests::program;
using tests::stamped_run;

constexpr std::array<const char*, 2> names{"a", "b"};

[[noreturn]] void give_up(const std::string& why) {
  std::fprintf(stderr, "bench: %s\n", why.c_str());
  std::exit(1);
}

void need(bool condition, const std::string& why) {
  if (!condition) give_up(why);
}

/// When the last line with these words was written, on CLOCK_BOOTTIME; 0: there is none.
std::int64_t time_of(const std::string& words, const std::string& log) {
  const auto found = log.rfind(words);
  if (found == std::string::npos) return 0;
  const auto line = log.rfind('\n', found) + 1;  // 0 if there is none
  const auto time = log.find_first_of("0123456789", line);
  std::tm when{};
  const char* const rest = ::strptime(log.c_str() + time, "%Y-%m-%dT%H:%M:%S.", &when);
  if (rest == nullptr) return 0;
  constexpr std::int64_t million = 1'000'000;
  const std::int64_t written =
      std::int64_t{::timegm(&when)} * 1000 * million + std::int64_t{std::atoi(rest)} * million;
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  // What a log leaves out of a millisecond, half of it on average.
  return written + million / 2 + boot_nanoseconds() -
         std::chrono::duration_cast<std::chrono::nanoseconds>(wall).count();
}

/// What both kinds have in common: the stamps tell who holds.
class in_turn : public contestants {
 public:
  turn hand_over(ending how) final {
    const auto before = tests::stamped_runs(in_);
    const auto holder = static_cast<std::size_t>(before.back().identity == names[0] ? 0 : 1);
    turn out{.ended = boot_nanoseconds()};
    finish(holder, how);
    if (how != ending::vanished) std::this_thread::sleep_for(before_looking);
    std::vector<stamped_run> now;
    const auto taken_over = [&] {
      return tests::eventually([&] {
        now = tests::stamped_runs(in_);
        return now.size() > before.size();
      });
    };
    // `consul lock` takes 45 s after a crash.
    need(taken_over() || taken_over(), "nobody took the lock over: " + log(1 - holder));
    need(tests::never_two_at_once(now), "two workloads ran at once");
    if (how == ending::vanished) out.ended = now[now.size() - 2].last;
    out.began = now.back().first;
    note_parts(holder, out);
    if (how != ending::vanished) leave(holder);
    start(holder);
    return out;
  }

 protected:
  virtual void start(std::size_t which) = 0;
  /// Waits until one that was told to end has done so: the next one may begin before that.
  virtual void leave(std::size_t /*which*/) {}
  virtual void finish(std::size_t holder, ending how) = 0;
  virtual void note_parts(std::size_t /*holder*/, turn& /*of*/) {}
  [[nodiscard]] virtual std::string log(std::size_t which) const = 0;

  void start_first() {
    start(0);
    need(tests::eventually([&] { return !tests::stamped_runs(in_).empty(); }),
         "nobody took the free lock: " + log(0));
    start(1);
  }

  tests::temporary_directory in_;
};

class tenures final : public in_turn {
 public:
  tenures(std::string store, const servers::server_cluster& at, int ttl_seconds,
          std::vector<std::string> more)
      : store_(std::move(store)),
        endpoint_(at.endpoint(0)),
        ttl_(std::to_string(ttl_seconds) + "s"),
        more_(std::move(more)) {
    start_first();
  }

  void settle() override {
    const std::size_t holder = tests::stamped_runs(in_).back().identity == names[0] ? 0 : 1;
    const std::string shown = std::string(R"("holder":")") + names[holder] + '"';
    need(tests::eventually([&] {
           return members_[holder]->is_active() &&
                  members_[1 - holder]->get("/v1/elections/test").find(shown) != std::string::npos;
         }),
         "the standby does not see the holder: " + log(1 - holder));
  }

 protected:
  void start(std::size_t which) override {
    members_[which] = std::make_unique<member>(in_, member::options{.identity = names[which],
                                                                    .ttl = ttl_,
                                                                    .store = store_,
                                                                    .endpoint = endpoint_,
                                                                    .more = more_});
  }

  void leave(std::size_t which) override {
    need(members_[which]->process().wait().has_value(), "an agent does not end: " + log(which));
  }

  void finish(std::size_t holder, ending how) override {
    member& m = *members_[holder];
    switch (how) {
      case ending::asked:
        return m.process().send(SIGTERM);
      case ending::workload:
        ::kill(m.workload().value_or(0), SIGKILL);
        return;
      case ending::container:
      case ending::vanished:
        return m.pull_the_plug();
    }
  }

  void note_parts(std::size_t holder, turn& of) override {
    of.seen_dead = time_of("\"the workload ", log(holder));
    of.granted = time_of("\"active under version", log(1 - holder));
  }

  [[nodiscard]] std::string log(std::size_t which) const override {
    return members_[which]->process().err();
  }

 private:
  std::string store_;
  std::string endpoint_;
  std::string ttl_;
  std::vector<std::string> more_;
  std::array<std::unique_ptr<member>, 2> members_;
};

/// What a container shows to others: none of its processes.
const std::vector<std::string> container{"unshare", "--pid", "--fork", "--kill-child",
                                         "--mount-proc"};

class pods final : public in_turn {
 public:
  pods(std::string store, std::string endpoint, int ttl_seconds)
      : store_(std::move(store)),
        endpoint_(std::move(endpoint)),
        ttl_(std::to_string(ttl_seconds) + "s") {
    start_first();
  }

  void settle() override {
    const std::size_t holder = tests::stamped_runs(in_).back().identity == names[0] ? 0 : 1;
    need(tests::eventually([&] {
           const std::string shown = log(1 - holder);
           const auto last = shown.rfind("holder=");
           const auto died = shown.rfind("the container of the guard has ended");
           const auto found = shown.rfind("guard found");
           return last != std::string::npos &&
                  shown.substr(last).starts_with(std::string("holder=") + names[holder]) &&
                  (died == std::string::npos || (found != std::string::npos && found > died));
         }),
         "the standby does not see the holder: " + log(1 - holder));
    let_campaign(1 - holder);
  }

 protected:
  void start(std::size_t which) override {
    const std::string directory = (in_ / (std::string("shared-") + names[which])).string();
    std::vector<std::string> guard = container;
    guard.insert(guard.end(), {tests::tenure_binary(), "guard", "--dir", directory, "--",
                               tests::stamper_binary(), in_.path()});
    const std::string number = std::to_string(++started_);
    guards_[which] = std::make_unique<program>(guard, in_ / ("guard" + number));
    if (agents_[which]) return;
    std::vector<std::string> agent = container;
    agent.insert(agent.end(), {tests::tenure_binary(), "agent", "--store", store_, "--endpoint",
                               endpoint_.empty() ? (in_ / "db").string() : endpoint_, "--election",
                               "test", "--identity", names[which], "--ttl", ttl_, "--guard-dir",
                               directory, "--listen", "127.0.0.1:0", "--probe-listen", "off"});
    agents_[which] = std::make_unique<program>(agent, in_ / ("agent" + number));
  }

  void finish(std::size_t holder, ending how) override {
    if (how == ending::asked) return guards_[holder]->send(SIGTERM);
    if (how == ending::vanished) agents_[holder].reset();
    for (const pid_t first : tests::children_of(guards_[holder]->pid())) ::kill(first, SIGKILL);
  }

  void note_parts(std::size_t holder, turn& of) override {
    of.seen_dead = time_of("\"the workload ", log(holder));
    of.granted = time_of("\"active under version", log(1 - holder));
  }

  [[nodiscard]] std::string log(std::size_t which) const override {
    return agents_[which] ? agents_[which]->err() : std::string();
  }

 private:
  /// One whose container has died rests, each time for longer, so that others go first.
  void let_campaign(std::size_t which) {
    const std::string shown = log(which);
    constexpr std::string_view name = " local_socket=";
    const auto begin = shown.rfind(name);
    if (begin == std::string::npos) return;
    const std::string socket =
        shown.substr(begin + name.size(), shown.find(' ', begin + 1) - begin - name.size());
    tests::run({tests::tenure_binary(), "resume", "--api", "unix:" + socket}, in_);
  }

  std::string store_;
  std::string endpoint_;
  std::string ttl_;
  int started_ = 0;
  std::array<std::unique_ptr<program>, 2> guards_;
  std::array<std::unique_ptr<program>, 2> agents_;
};

class etcdctls final : public in_turn {
 public:
  etcdctls(const servers::server_release& of, const servers::etcd_cluster& at, int ttl_seconds)
      : cluster_(at), etcdctl_(etcdctl_of(of)), ttl_(std::to_string(ttl_seconds)) {
    start_first();
  }

  void settle() override {
    need(tests::eventually([&] { return contenders(cluster_) == 2; }),
         "etcdctl does not queue up: " + log(0) + log(1));
  }

 protected:
  void start(std::size_t which) override {
    programs_[which] = std::make_unique<program>(
        std::vector<std::string>{etcdctl_, "lock", "--ttl", ttl_, "test", tests::stamper_binary(),
                                 in_.path()},
        in_ / names[which],
        // Handed on to the stamper, which so starts without a shell between.
        std::vector<std::string>{"ETCDCTL_API=3", "ETCDCTL_ENDPOINTS=" + cluster_.endpoint(),
                                 std::string("TENURE_IDENTITY=") + names[which],
                                 "TENURE_VERSION=1"});
  }

  void finish(std::size_t holder, ending how) override {
    // etcdctl passes no signal on: a clean stop is one of its command.
    if (how == ending::vanished) return programs_[holder].reset();
    for (const pid_t command : tests::children_of(programs_[holder]->pid())) {
      ::kill(command, how == ending::asked ? SIGTERM : SIGKILL);
    }
  }

  [[nodiscard]] std::string log(std::size_t which) const override {
    return programs_[which] ? programs_[which]->err() : std::string();
  }

 private:
  const servers::etcd_cluster& cluster_;
  std::string etcdctl_;
  std::string ttl_;
  std::array<std::unique_ptr<program>, 2> programs_;
};

class consul_locks final : public in_turn {
 public:
  consul_locks(const servers::server_release& of, const servers::consul_cluster& at)
      : cluster_(at), consul_(of.binary) {
    start_first();
  }

  void settle() override {
    need(tests::eventually([&] {
           const std::string all = cluster_.call("GET", "/v1/session/list").body;
           const auto first = all.find("Consul lock");
           return first != std::string::npos && all.find("Consul lock", first + 1) != all.npos;
         }),
         "consul lock does not wait: " + log(0) + log(1));
  }

 protected:
  void start(std::size_t which) override {
    programs_[which] = std::make_unique<program>(
        std::vector<std::string>{consul_, "lock", "-shell=false", "test", tests::stamper_binary(),
                                 in_.path()},
        in_ / names[which],
        std::vector<std::string>{"CONSUL_HTTP_ADDR=" + cluster_.endpoint(),
                                 std::string("TENURE_IDENTITY=") + names[which],
                                 "TENURE_VERSION=1"});
  }

  void finish(std::size_t holder, ending how) override {
    if (how == ending::vanished) return programs_[holder].reset();
    for (const pid_t command : tests::children_of(programs_[holder]->pid())) {
      ::kill(command, how == ending::asked ? SIGTERM : SIGKILL);
    }
  }

  [[nodiscard]] std::string log(std::size_t which) const override {
    return programs_[which] ? programs_[which]->err() : std::string();
  }

 private:
  const servers::consul_cluster& cluster_;
  std::string consul_;
  std::array<std::unique_ptr<program>, 2> programs_;
};

class electors final : public in_turn {
 public:
  electors(std::string elector, const servers::kubernetes_server& at)
      : server_(at), elector_(std::move(elector)) {
    start_first();
  }

  void settle() override {
    need(tests::eventually(
             [&] { return programs_[0]->said("leader=") && programs_[1]->said("leader="); }),
         "a Go program does not see who leads: " + log(0) + log(1));
  }

 protected:
  void start(std::size_t which) override {
    programs_[which] = std::make_unique<program>(
        std::vector<std::string>{
            elector_, "-server=" + server_.endpoint(0), "-ca-file=" + server_.ca_file(),
            "-token-file=" + server_.member_user().token_file, "-name=other",
            std::string("-id=") + names[which], tests::stamper_binary(), in_.path()},
        in_ / names[which]);
  }

  void finish(std::size_t holder, ending how) override {
    if (how == ending::vanished) return programs_[holder].reset();
    if (how == ending::asked) return programs_[holder]->send(SIGTERM);
    for (const pid_t command : tests::children_of(programs_[holder]->pid())) {
      ::kill(command, SIGKILL);
    }
  }

  [[nodiscard]] std::string log(std::size_t which) const override {
    return programs_[which] ? programs_[which]->err() : std::string();
  }

 private:
  const servers::kubernetes_server& server_;
  std::string elector_;
  std::array<std::unique_ptr<program>, 2> programs_;
};

}  // namespace

samples measure(contestants& ours, contestants& theirs, ending how, int rounds,
                std::chrono::milliseconds rest) {
  samples out;
  const auto add = [rounds](double& to, std::int64_t nanoseconds) {
    to += static_cast<double>(nanoseconds) / 1e6 / rounds;
  };
  for (int round = 0; round < rounds; ++round) {
    for (const bool is_ours : {true, false}) {
      contestants& who = is_ours ? ours : theirs;
      who.settle();
      std::this_thread::sleep_for(rest);  // what follows a start is over
      const contestants::turn t = who.hand_over(how);
      (is_ours ? out.ours : out.theirs).push_back(static_cast<double>(t.began - t.ended) / 1e6);
      if (t.seen_dead == 0 || t.granted == 0) continue;
      add(out.until_seen_dead, t.seen_dead - t.ended);
      add(out.until_granted, t.granted - t.seen_dead);
      add(out.until_began, t.began - t.granted);
    }
  }
  return out;
}

void print_parts(const samples& all) {
  std::printf(
      "  of which, on average: death seen %.1f ms, granted %.1f ms, first instruction %.1f ms\n",
      all.until_seen_dead, all.until_granted, all.until_began);
}

std::unique_ptr<contestants> two_tenures(const std::string& store,
                                         const servers::server_cluster& at, int ttl_seconds,
                                         std::vector<std::string> more) {
  return std::make_unique<tenures>(store, at, ttl_seconds, std::move(more));
}

std::unique_ptr<contestants> two_pods(const std::string& store, const std::string& endpoint,
                                      int ttl_seconds) {
  return std::make_unique<pods>(store, endpoint, ttl_seconds);
}

std::vector<double> container_deaths(contestants& pods, int rounds) {
  std::vector<double> out;
  for (int round = 0; round < rounds; ++round) {
    pods.settle();
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    const contestants::turn one = pods.hand_over(ending::container);
    out.push_back(static_cast<double>(one.began - one.ended) / 1e6);
  }
  return out;
}

std::vector<double> killed_runs(const std::string& store, const std::string& endpoint, int rounds) {
  const auto one = [&](const std::string& identity) {
    return member::options{
        .identity = identity, .ttl = "15s", .store = store, .endpoint = endpoint};
  };
  std::vector<double> out;
  for (int round = 0; round < rounds; ++round) {
    const tests::temporary_directory in;
    auto a = std::make_unique<member>(in, one("a"));
    // What the round before has left runs out first.
    if (!tests::runs_as(in, "a")) std::abort();
    const member b(in, one("b"));
    tests::eventually([&] { return b.process().said("holder=a"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    a->pull_the_plug();
    a = std::make_unique<member>(in, one("a"));
    if (!tests::eventually([&] { return tests::stamped_runs(in).size() > 1; })) std::abort();
    const auto runs = tests::stamped_runs(in);
    out.push_back(static_cast<double>(runs[1].first - runs[0].last) / 1e6);
  }
  return out;
}

std::unique_ptr<contestants> two_consul_locks(const servers::server_release& of,
                                              const servers::consul_cluster& at) {
  return std::make_unique<consul_locks>(of, at);
}

std::unique_ptr<contestants> two_electors(const std::string& elector,
                                          const servers::kubernetes_server& at) {
  return std::make_unique<electors>(elector, at);
}

std::unique_ptr<contestants> two_etcdctls(const servers::server_release& of,
                                          const servers::etcd_cluster& at, int ttl_seconds) {
  return std::make_unique<etcdctls>(of, at, ttl_seconds);
}

std::string etcdctl_of(const servers::server_release& release) {
  return std::filesystem::path(release.binary).replace_filename("etcdctl");
}

long contenders(const servers::etcd_cluster& at) {
  return keys_under(at, "test/");
}

long keys_under(const servers::etcd_cluster& at, const std::string& prefix) {
  std::string until = prefix;
  ++until.back();
  const std::string answer =
      at.post("/v3/kv/range", R"({"key":")" + base::to_base64(prefix) + R"(","range_end":")" +
                                  base::to_base64(until) + R"(","count_only":true})");
  const std::string name = R"("count":")";
  const auto found = answer.find(name);
  if (found != std::string::npos) return std::atol(answer.c_str() + found + name.size());
  return answer.find("\"header\"") != std::string::npos ? 0 : -1;
}

}  // namespace tenure::bench
