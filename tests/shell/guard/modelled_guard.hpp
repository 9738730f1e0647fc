#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "guard/guard_loop.hpp"
#include "guard/started_workload.hpp"
#include "shell/guard/found_workload.hpp"
#include "shell/guard/judge.hpp"
#include "shell/guard/line.hpp"
#include "shell/guard/processes.hpp"

namespace tenure::shell {

/// One machine, and what its guards and agents have in common.
struct guard_machine {
  world& in;
  machine_clock clock;
  core::duration clock_off{};  ///< of the guard's container from the agent's
  modelled_processes& processes;
  guard_judge& referee;
  guard::guard_rules rules;
  std::size_t socket_room;
  core::duration socket_delay;
  core::duration preempted_for;  ///< at most, in the middle of a turn
  bool accepts_agents;           ///< over its socket; else it starts them
  std::uint64_t salt_of_log;     ///< when nobody reads the guard's log
  /// Nothing: the guard starts its workload. Else the kubelet does (signal mode).
  std::optional<guard::foreign_rules> found{};
  bool quiet = false;        ///< nothing fails any more
  std::uint64_t guards = 0;  ///< that have been started
  // What goes wrong at the worst of times, once: when an agent is about to move the deadline, and
  // when it has just ordered a start.
  std::function<void()> before_renewal{};
  std::function<void()> after_start{};
  std::function<void(core::time_point kill_by)> stops{};  ///< an agent orders it; may be empty
  /// The version that the agent's API shows as active; 0: none; nothing: it has no API.
  std::function<std::optional<std::uint64_t>()> shown{};
  /// Since when the guard has got its time; `world_never`: it does not, or is dead.
  world_time guard_able_since = sim::world_never;

  [[nodiscard]] core::time_point now() const { return clock.local(in.now) + clock_off; }
  /// When the guard's clock shows this.
  [[nodiscard]] world_time world(core::time_point when) const {
    return when == core::never ? sim::world_never : clock.world(when - clock_off);
  }
};

/// The memory that a guard shares with its agents; it outlives each of them.
/// The PID namespace of one guard, as an agent in another container can watch it.
struct modelled_container {
  bool is_watchable = true;  ///< false: the guard is of a release that hands no pidfd out
  bool is_over = false;      ///< nothing in it is alive any more
  std::vector<std::function<void()>> ended;

  void end() {
    is_over = true;
    for (const auto& tell : std::exchange(ended, {})) tell();
  }
};

/// What a guard shares with its agents.
struct guard_memory {
  modelled_container container;
  guard::guard_page page;
  tenure_page worker{.magic = TENURE_PAGE_MAGIC,
                     .layout = TENURE_PAGE_LAYOUT,
                     .state = TENURE_NONE,
                     .sequence = 0,
                     .version = 0,
                     .stop_at = 0};
};

/// The tree of a workload, among the processes of the machine.
class modelled_tree final : public guard::process_tree {
 public:
  modelled_tree(guard_machine& on, pid_t guard) : on_(on), guard_(guard) {}

  [[nodiscard]] int start(std::string_view environment) override;
  [[nodiscard]] std::optional<int> exec_result() override;
  void leader_reaped() override { leader_ = 0; }
  [[nodiscard]] bool empty(pid_t agent) override;
  void signal_all(int signo, pid_t agent) override;
  void kill_all(pid_t agent, bool deep) override;
  void signal_group(int signo, pid_t agent) override;
  void finish() override { leader_ = group_ = 0; }
  [[nodiscard]] tenure::process::survivors living(pid_t agent) override;
  [[nodiscard]] pid_t leader() const override { return leader_; }
  [[nodiscard]] bool has_terminal() const override { return false; }

  /// Something can be read that the loop waits for.
  [[nodiscard]] bool has_news() const { return exec_known_.has_value(); }

  /// What its container says of the term whose workload was started last.
  std::shared_ptr<std::string> last_words = std::make_shared<std::string>();
  std::function<void()> speaks{};  ///< it has new ones; may be empty
  world_time decided_at{};         ///< when the present turn of the guard began
  std::function<void()> wakes;     ///< the guard
  std::function<void(std::uint64_t version, int signo)> told;  ///< this ends the workload

 private:
  guard_machine& on_;
  pid_t guard_;
  pid_t leader_ = 0;
  pid_t group_ = 0;
  std::uint64_t term_ = 0;
  bool exec_pending_ = false;
  std::optional<int> exec_known_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

/// The guard process: the loop that ships, in virtual time.
class modelled_guard final : public guard::guard_host,
                             public guard::agent_launcher,
                             public guard::agent_acceptor {
 public:
  /// Makes the process of an agent that the guard starts: with its id and its end of a line.
  using launch_agent = std::function<void(pid_t, std::shared_ptr<modelled_line>)>;

  modelled_guard(guard_machine& on, launch_agent launches);
  ~modelled_guard() override;
  modelled_guard(const modelled_guard&) = delete;
  modelled_guard& operator=(const modelled_guard&) = delete;

  void freeze();
  void thaw();
  void kill();
  void signal(int signo);
  /// An agent connects; `answer`: its line, or null if it is turned away.
  void knock(std::function<void(std::shared_ptr<modelled_line>)> answer);

  [[nodiscard]] pid_t pid() const { return pid_; }
  /// False once it has ended, or was killed.
  [[nodiscard]] bool lives() const { return lives_; }
  [[nodiscard]] bool frozen() const { return frozen_; }
  [[nodiscard]] const std::shared_ptr<guard_memory>& memory() const { return memory_; }
  [[nodiscard]] modelled_tree& tree() { return tree_; }
  [[nodiscard]] bool was_told_to_end() const { return told_to_end_; }
  /// True while its turn is further down the stack.
  [[nodiscard]] bool in_a_turn() const { return in_turn_; }
  /// Under which what the kubelet starts runs; 0: under none.
  [[nodiscard]] std::uint64_t found_term() const { return found_ ? found_->term() : 0; }
  void child_died();

  // The kernel, as the loop sees it.
  [[nodiscard]] core::time_point now() const override;
  void set_timer(core::time_point when) override;
  [[nodiscard]] std::optional<int> next_signal() override;
  [[nodiscard]] bool terminal_is_gone() override { return false; }  ///< no pod has one
  [[nodiscard]] std::optional<guard::child_change> next_child() override;
  [[nodiscard]] std::expected<pid_t, const char*> launch() override;
  void signal(pid_t agent, int signo) override;
  [[nodiscard]] bool next(int& connections) override;
  [[nodiscard]] bool welcome() override;
  void turn_away() override;

 private:
  /// SIGKILL has found the guard in the middle of a turn.
  struct killed_in_turn {};
  /// Takes lines, but for seconds at a time when nobody reads them.
  class unread_sink final : public guard::line_sink {
   public:
    explicit unread_sink(const modelled_guard& of) : of_(of) {}
    [[nodiscard]] bool write(std::string_view line) override;
    [[nodiscard]] std::int64_t unix_ms() const override { return 0; }
    void new_turn() { refused_ = 0; }

   private:
    [[nodiscard]] bool is_full() const;

    const modelled_guard& of_;
    int refused_ = 0;  ///< lines in the present turn
  };

  void wake();
  void turn();
  [[nodiscard]] bool has_something() const;
  void sleep();
  void told(std::uint64_t version, int signo);
  void ends(int status);
  void end_container();
  [[nodiscard]] std::shared_ptr<modelled_line> new_line();
  void may_be_preempted() const;
  void stand_still(core::duration lasts) const;

  guard_machine& on_;
  launch_agent launches_;
  pid_t pid_;
  std::shared_ptr<guard_memory> memory_ = std::make_shared<guard_memory>();
  modelled_socket socket_;
  guard::agent_child agent_{*this};
  modelled_tree tree_;
  guard::started_workload workload_{tree_, agent_};
  unread_sink sink_;
  guard::guard_log log_{sink_};
  std::unique_ptr<found_workload> found_;  ///< null: the guard starts `workload_`
  guard::guard_loop loop_;

  bool lives_ = true;
  bool frozen_ = false;
  bool began_ = false;    ///< its first turn was
  bool turning_ = false;  ///< a turn is on the agenda
  bool in_turn_ = false;
  bool told_to_end_ = false;
  guard::guard_wait waits_{};
  core::time_point timer_ = core::never;
  std::set<int> signals_;
  std::deque<std::function<void(std::shared_ptr<modelled_line>)>> knocks_;
  std::function<void(std::shared_ptr<modelled_line>)> connecting_;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
