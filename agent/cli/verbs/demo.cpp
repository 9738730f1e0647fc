#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <optional>

#include "base/boot_time.hpp"
#include "base/error_text.hpp"
#include "base/unique_fd.hpp"
#include "cli/demo/demo_member.hpp"
#include "cli/demo/demo_record.hpp"
#include "cli/demo/demo_screen.hpp"
#include "cli/demo/demo_servers.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "config/values.hpp"
#include "runtime/exit_status.hpp"
#include "wire/election.hpp"

namespace tenure::cli {
namespace {

constexpr int look_again_ms = 5;
constexpr std::size_t lines_of_log = 6;
/// A step of the demo fails if it takes longer than this many leases.
constexpr int patience_in_ttls = 6;
constexpr core::duration least_patience = std::chrono::seconds(20);
/// How long each holder runs undisturbed, so that the picture shows it.
constexpr core::duration term_to_show = std::chrono::milliseconds(1500);

/// A folder that is deleted at the end.
class scratch_folder {
 public:
  /// Its path is empty, and errno says why, if it cannot be made.
  explicit scratch_folder(const std::filesystem::path& under) {
    std::string name = under / "tenure-demo-XXXXXX";
    if (::mkdtemp(name.data()) != nullptr) path_ = name;
  }
  ~scratch_folder() {
    std::error_code ignored;
    if (!path_.empty()) std::filesystem::remove_all(path_, ignored);
  }
  scratch_folder(const scratch_folder&) = delete;
  scratch_folder& operator=(const scratch_folder&) = delete;

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// The demo's script: the members, what happens to them, and what is observed.
class demo_play {
 public:
  /// `servers`: null if the lease is kept in SQLite, in `lease_file`.
  demo_play(std::filesystem::path folder, std::filesystem::path lease_file, std::string ttl_text,
            core::duration ttl, demo_servers* servers)
      : folder_(std::move(folder)),
        lease_file_(std::move(lease_file)),
        ttl_text_(std::move(ttl_text)),
        ttl_(ttl),
        servers_(servers),
        patience_(std::max(least_patience, ttl * patience_in_ttls)),
        screen_(base::boot_now()) {
    sigset_t ends;
    ::sigemptyset(&ends);
    for (const int signo : {SIGINT, SIGTERM, SIGHUP}) ::sigaddset(&ends, signo);
    ::sigprocmask(SIG_BLOCK, &ends, nullptr);
    interrupted_.reset(::signalfd(-1, &ends, SFD_CLOEXEC | SFD_NONBLOCK));
  }

  int run(bool stay) {
    screen_.title(
        "tenure demo: three agents, one lease of " + ttl_text_ + ", kept in " +
        (servers_ == nullptr ? std::string("SQLite") : "three " + servers_->store() + " servers"));
    const bool played = start_store() && begin() && kill_the_leader() && kill_the_stores_leader() &&
                        freeze_the_leader() && hand_over();
    if (played && stay) keep_running();
    return finish(played);
  }

 private:
  bool start_store() {
    if (servers_ == nullptr) return true;
    screen_.act("three " + servers_->store() + " servers start");
    if (const auto started = servers_->start(); !started) return give_up(started.error());
    std::optional<std::string> leads;
    if (!wait_until([&] { return (leads = servers_->leader()).has_value(); })) {
      return give_up(servers_->store() + " has no leader; its logs are in " + folder_.string());
    }
    screen_.event(base::boot_now(), *leads + " leads them");
    return true;
  }

  bool begin() {
    screen_.act("three agents start: a, b and c");
    for (const char* name : {"a", "b", "c"}) start(name);
    if (!somebody_runs(base::boot_now() - std::chrono::hours(1)))
      return give_up("nobody became active");
    demo_member& standby = *members_[&leader() == members_[0].get() ? 1 : 0];
    if (!wait_until(
            [&] { return standby.get(question).find("\"holder\":\"") != std::string::npos; })) {
      return give_up("the API of " + standby.name() + " did not answer");
    }
    screen_.note("$ curl " + *standby.api_address() + question + "   (asked of standby " +
                 standby.name() + ")");
    screen_.passage(standby.get(question));
    return rest();
  }

  bool kill_the_leader() {
    demo_member& victim = leader();
    screen_.act("the leader's node loses power: SIGKILL to all of " +
                screen_.member(victim.name()));
    const core::time_point from = base::boot_now();
    victim.pull_the_plug();
    if (!somebody_runs(from)) return give_up("nobody took over");
    screen_.note("the lease had to run out first: until then " + victim.name() +
                 " might have been alive behind a broken network");
    screen_.event(base::boot_now(), screen_.member(victim.name()) + " comes back, as a standby");
    start_again(victim);
    return rest();
  }

  /// The holder keeps its lease, if the remaining servers elect a leader in time.
  bool kill_the_stores_leader() {
    if (servers_ == nullptr) return true;
    std::optional<std::string> victim;
    if (!wait_until([&] { return (victim = servers_->leader()).has_value(); })) {
      return give_up(servers_->store() + " has no leader");
    }
    screen_.act("the store loses its leader: SIGKILL to " + *victim);
    const core::time_point from = base::boot_now();
    servers_->kill(*victim);
    std::optional<std::string> next;
    if (!wait_until([&] { return (next = servers_->leader()).has_value(); })) {
      return give_up(servers_->store() + " has no new leader");
    }
    screen_.event(base::boot_now(), *next + " leads the two that are left, " +
                                        spoken(base::boot_now() - from) + " later");
    // Longer than a lease: a workload that runs then runs under a lease that those servers renewed.
    const core::time_point proof = from + ttl_ + term_to_show;
    bool goes_on = false;
    // In between nobody may run: the lease of a holder that could not renew it runs out.
    wait_until([&] {
      const auto runs = read_runs(folder_);
      if (runs.empty()) return false;
      goes_on = runs.back().version == last_.version && runs.back().last >= proof;
      return goes_on || runs.back().version > last_.version;
    });
    if (goes_on) {
      screen_.event(base::boot_now(), screen_.member(last_.identity) + " is still " +
                                          screen_.strong("active") + " under version " +
                                          screen_.strong(std::to_string(last_.version)) +
                                          ": it has renewed its lease with them");
    } else if (!somebody_runs(from)) {
      return give_up("nobody took over");
    }
    servers_->start_again(*victim);
    return rest();
  }

  bool freeze_the_leader() {
    demo_member& victim = leader();
    screen_.act("the leader's agent hangs: SIGSTOP to the agent of " +
                screen_.member(victim.name()));
    const core::time_point from = base::boot_now();
    victim.freeze_agent();
    if (!somebody_runs(from)) return give_up("nobody took over");
    screen_.note("the guard of " + victim.name() + " ended the workload by itself, before the " +
                 "lease could go to another");
    victim.thaw_agent();
    return rest();
  }

  bool hand_over() {
    demo_member& leaving = leader();
    screen_.act("the leader is asked to end: SIGTERM to " + screen_.member(leaving.name()));
    const core::time_point from = base::boot_now();
    leaving.ask_to_end();
    if (!somebody_runs(from)) return give_up("nobody took over");
    screen_.note("workload dead, seen to be dead, lease released, lease granted, workload started");
    if (!wait_until([&] { return leaving.has_ended(); })) return give_up("it did not end");
    return rest();
  }

  void keep_running() {
    for (auto& m : members_) {
      if (m->has_ended()) start_again(*m);
    }
    if (!wait_until([&] {
          return std::ranges::all_of(members_,
                                     [](const auto& m) { return !m->get(question).empty(); });
        })) {
      give_up("not every API answers");
      return;
    }
    screen_.act("the agents stay until Ctrl-C; logs and sockets are in " + folder_.string());
    std::string all;
    for (const auto& m : members_) {
      screen_.note(screen_.member(m->name()) + "  http://" + *m->api_address() +
                   "/   (in a browser; also " + question + " and /metrics)");
      all += " --api unix:" + m->socket().string();
    }
    const std::string tenure = std::filesystem::read_symlink("/proc/self/exe").string();
    const demo_member& holder = leader();
    const demo_member& other = *members_[&holder == members_[0].get() ? 1 : 0];
    screen_.note("$ " + tenure + " status" + all);
    screen_.note("$ " + tenure + " transfer " + other.name() +
                 " --api unix:" + holder.socket().string());
    screen_.note("$ " + tenure + " history --api unix:" + other.socket().string());
    patience_ = core::duration::max();
    wait_until([] { return false; });
  }

  int finish(bool played) {
    const core::time_point end = base::boot_now();
    std::vector<std::string> names;
    for (auto& m : members_) {
      names.push_back(m->name());
      m->ask_to_end();
    }
    patience_ = least_patience;
    stopping_ = true;
    const bool ended = wait_until(
        [&] { return std::ranges::all_of(members_, [](auto& m) { return m->has_ended(); }); });
    const auto runs = read_runs(folder_);
    const core::duration overlap = longest_overlap(runs);
    screen_.timeline(names, runs, end);
    const std::string how = "  (each stamps the clock every " + spoken(stamp_interval) + ")";
    screen_.verdict(overlap == core::duration::zero(),
                    overlap == core::duration::zero()
                        ? "at no time did two workloads run" + how
                        : "two workloads ran at once for " + spoken(overlap) + how);
    screen_.verdict(versions_grow(runs), "every term has a larger version than the one before");
    screen_.verdict(ended, "all agents ended in order");
    std::printf("\n");
    const bool good = overlap == core::duration::zero() && versions_grow(runs) && ended;
    return good && (played || interrupted_by_user_) ? runtime::exit_ok : runtime::exit_failed;
  }

  // --- the pieces ---

  void start(const std::string& name) {
    members_.push_back(std::make_unique<demo_member>(name, folder_, ttl_text_, store_words()));
  }

  void start_again(demo_member& gone) {
    for (auto& m : members_) {
      if (m.get() != &gone) continue;
      const std::string name = gone.name();
      m = std::make_unique<demo_member>(name, folder_, ttl_text_, store_words());
      return;
    }
  }

  [[nodiscard]] std::vector<std::string> store_words() const {
    if (servers_ == nullptr) return {"--store", "sqlite", "--endpoint", lease_file_};
    std::vector<std::string> words{"--store", servers_->store()};
    for (const std::string& url : servers_->endpoints()) {
      words.insert(words.end(), {"--endpoint", url});
    }
    return words;
  }

  /// The member that ran last, according to the workers' own stamps.
  demo_member& leader() {
    for (auto& m : members_) {
      if (m->name() == last_.identity) return *m;
    }
    return *members_.front();
  }

  /// Waits for a run that began after `from`, and reports it.
  bool somebody_runs(core::time_point from) {
    std::vector<run_record> runs;
    const bool seen = wait_until([&] {
      runs = read_runs(folder_);
      return !runs.empty() && runs.back().first > from && runs.back().version > last_.version;
    });
    if (!seen) return false;
    const run_record now = runs.back();
    if (last_.version != 0) {
      for (const run_record& r : runs) {
        if (r.version == last_.version) last_.last = r.last;
      }
      screen_.event(last_.last, "the workload of " + screen_.member(last_.identity) + " is dead");
    }
    std::string text = screen_.member(now.identity) + " is " + screen_.strong("active") +
                       " under version " + screen_.strong(std::to_string(now.version));
    if (last_.version != 0) text += ", " + spoken(now.first - last_.last) + " later";
    screen_.event(now.first, text);
    last_ = now;
    return true;
  }

  /// Lets the holder run undisturbed, and says who comes next.
  bool rest() {
    const core::time_point until = base::boot_now() + term_to_show;
    wait_until([&] { return base::boot_now() >= until; });
    std::string next;
    wait_until([&] {
      if (interrupted_by_user_) return true;
      next = next_of(leader());
      return !next.empty() || base::boot_now() >= until + term_to_show;
    });
    if (!next.empty()) screen_.event(base::boot_now(), "next: " + screen_.member(next));
    return !interrupted_by_user_;
  }

  /// Who comes next according to this member's agent; empty: none is known.
  [[nodiscard]] static std::string next_of(const demo_member& asked) {
    const auto said = wire::read_elections(asked.get(question));
    return said && !said->empty() ? said->front().next : std::string();
  }

  /// False if the user has interrupted, or the time is over.
  bool wait_until(const std::function<bool()>& done) {
    const core::time_point begin = base::boot_now();
    while (!done()) {
      if (base::boot_now() - begin > patience_) return false;
      pollfd interrupt{.fd = interrupted_.get(), .events = POLLIN, .revents = 0};
      // While the demo is stopping, a second Ctrl-C is ignored: it stops in order.
      ::poll(stopping_ ? nullptr : &interrupt, stopping_ ? 0 : 1, look_again_ms);
      if (interrupt.revents != 0) {
        interrupted_by_user_ = true;
        return false;
      }
    }
    return true;
  }

  bool give_up(const std::string& why) {
    if (interrupted_by_user_) return false;
    screen_.verdict(false, why);
    for (const auto& m : members_) {
      std::printf("    last lines of %s's log:\n", m->name().c_str());
      std::ifstream log(folder_ / (m->name() + ".log"));
      std::deque<std::string> last;
      for (std::string line; std::getline(log, line);) {
        last.push_back(line);
        if (last.size() > lines_of_log) last.pop_front();
      }
      for (const std::string& line : last) std::printf("      %s\n", line.c_str());
    }
    return false;
  }

  static constexpr const char* question = "/v1/elections/demo";

  std::filesystem::path folder_;
  std::filesystem::path lease_file_;
  std::string ttl_text_;
  core::duration ttl_;
  demo_servers* servers_;
  core::duration patience_;
  demo_screen screen_;
  base::unique_fd interrupted_;
  std::vector<std::unique_ptr<demo_member>> members_;
  run_record last_;
  bool stopping_ = false;
  bool interrupted_by_user_ = false;
};

}  // namespace

int run_demo(const invocation& what) {
  const std::string ttl_text = what.value("--ttl").value_or("3s");
  const auto ttl = config::parse_duration(ttl_text);
  if (!ttl) {
    print_failure(what.verb, wrong_value("--ttl", ttl.error()));
    return runtime::exit_bad_settings;
  }
  const scratch_folder folder(std::filesystem::temp_directory_path());
  if (folder.path().empty()) {
    std::fprintf(stderr, "tenure demo: cannot make a folder under %s: %s\n",
                 std::filesystem::temp_directory_path().c_str(), base::error_text(errno).c_str());
    return runtime::exit_failed;
  }
  std::unique_ptr<demo_servers> servers;
  const std::optional<std::string> store = what.value("--store");
  if (store == "etcd") {
    servers = make_demo_etcd(what.value("--etcd").value_or("etcd"), folder.path());
  } else if (store == "consul") {
    servers = make_demo_consul(what.value("--consul").value_or("consul"), folder.path());
  }
  // A lease file is in memory if it can: on a busy disk a transaction takes seconds, and an agent
  // that is frozen in one keeps the file locked.
  std::optional<scratch_folder> in_memory;
  if (servers == nullptr) in_memory.emplace("/dev/shm");
  const bool is_there = in_memory && !in_memory->path().empty();
  const auto lease_file = (is_there ? in_memory->path() : folder.path()) / "lease.db";
  return demo_play(folder.path(), lease_file, ttl_text, *ttl, servers.get())
      .run(what.has("--stay"));
}

}  // namespace tenure::cli
