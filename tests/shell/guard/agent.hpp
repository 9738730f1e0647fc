#pragma once

#include <memory>
#include <optional>
#include <string>

#include "shell/guard/modelled_guard.hpp"
#include "shell/process.hpp"
#include "workload/guard_link.hpp"

namespace tenure::shell {

/// What a modelled agent has of a modelled guard.
class modelled_access final : public guard::guard_access, public guard::visible_workload {
 public:
  /// `guard`: its process id; 0: it is in another container.
  modelled_access(guard_machine& on, std::shared_ptr<guard_memory> memory,
                  std::shared_ptr<modelled_line> line, const std::shared_ptr<process>& loop,
                  pid_t guard, pid_t self);

  [[nodiscard]] guard::guard_connection& connection() override { return connection_; }
  [[nodiscard]] guard::guard_page& page() override { return memory_->page; }
  [[nodiscard]] tenure_page* worker_page() override { return &memory_->worker; }
  [[nodiscard]] visible_workload& workload() override { return *this; }

  [[nodiscard]] bool in_sight() const override { return guard_ != 0; }
  void follow(pid_t leader) override;
  void expect_mark(std::string mark) override { mark_ = std::move(mark); }
  void forget() override { leader_ = 0; }
  [[nodiscard]] guard::remains kill_all() override;
  [[nodiscard]] process::survivors doubtful() const override;

 private:
  [[nodiscard]] bool guard_exists() const;

  guard_machine& on_;
  std::shared_ptr<guard_memory> memory_;
  modelled_connection connection_;
  pid_t guard_;
  pid_t self_;
  pid_t leader_ = 0;
  std::string mark_;
};

/// One agent process: the link that ships, and what an election would have it do, with a store that
/// grants every term at once while it is up.
class guarded_agent {
 public:
  /// `ends`: the process is to end, with this status.
  guarded_agent(guard_machine& on, pid_t pid, std::string id, std::function<void(int status)> ends);
  guarded_agent(const guarded_agent&) = delete;
  guarded_agent& operator=(const guarded_agent&) = delete;

  /// Talks to this guard from now on.
  void connect(std::shared_ptr<guard_memory> memory, std::shared_ptr<modelled_line> line,
               pid_t guard);
  /// Wants a guard, where it has to be found.
  [[nodiscard]] bool dials() const { return on_.has_door && !dialing_ && (!link_ || looks_); }
  void set_dialing(bool is) { dialing_ = is; }

  void pause();
  void go_on();
  /// Gives its lease up.
  void resign();

  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] world_time able_since() const { return able_since_; }
  /// It knows of the workload, and could kill it without the guard.
  [[nodiscard]] bool reaches_workload() const {
    return link_ && greeted_ && link_->may_run() && guard_seen_ != 0;
  }
  [[nodiscard]] bool holds_and_runs() const { return lease_ && started_ && !leaving_; }
  [[nodiscard]] std::shared_ptr<process> loop() const { return loop_; }

 private:
  struct lease {
    core::version term;
    core::time_point stop_at;
    core::time_point kill_at;
  };
  void on(const workload::guard_ready& what);
  void on(const workload::guard_unusable& what);
  void on(const workload::workload_started& what);
  void on(const workload::start_refused& what);
  void on(const workload::start_failed& what);
  void on(const workload::workload_survives&) {}
  void on(const workload::workload_exited& what);
  void on(const workload::workload_doubtful&) { doubtful_ = true; }
  void on(const workload::signalled& what);
  void on(const workload::guard_gone& what);
  void on(const workload::guard_hangs& what);
  void on(const workload::guard_recovers& what);

  void campaign_in(core::duration wait);
  void campaign();
  void start();
  void renew();
  void prolong(core::version term);
  void stop(core::time_point kill_by, const char* why);
  void lose_lease();
  void leave();
  void leave_if_possible();
  void not_started(core::version term);

  guard_machine& on_;
  pid_t pid_;
  std::string id_;
  std::function<void(int)> ends_;
  std::shared_ptr<process> loop_;
  std::unique_ptr<workload::guard_link> link_;
  base::timer campaign_timer_;
  base::timer renew_timer_;
  base::timer stop_timer_;
  base::timer end_timer_;
  std::optional<lease> lease_;
  core::version found_ = core::no_version;  ///< of the agent before, to be confirmed
  world_time able_since_;
  pid_t guard_seen_ = 0;
  std::uint64_t guard_number_ = 0;
  bool bound_ = false;    ///< in its session
  bool greeted_ = false;  ///< by the present guard
  bool started_ = false;
  bool doubtful_ = false;
  bool leaving_ = false;    ///< ends once nothing runs
  bool distrusts_ = false;  ///< the guard hangs
  bool looks_ = false;      ///< for another guard
  bool dialing_ = false;
};

}  // namespace tenure::shell
