#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "guard/foreign_workload.hpp"
#include "guard/guard_page.hpp"
#include "guard/guarded_processes.hpp"
#include "guard/process_finder.hpp"
#include "shell/guard/judge.hpp"
#include "shell/guard/processes.hpp"

namespace tenure::shell {

struct guard_machine;

/// Finds, among the processes of the machine, those of the container that the kubelet starts.
class modelled_finder final : public guard::process_finder {
 public:
  explicit modelled_finder(guard_machine& on) : on_(on) {}

  guard::tally look() override;
  guard::tally signal_all(int signo) override;
  guard::tally signal_matches(int signo, guard::if_undecided then) override;
  guard::tally kill_all() override;
  [[nodiscard]] bool has_deaths() const override;
  [[nodiscard]] pid_t first() const override { return found_.empty() ? 0 : found_.front(); }
  [[nodiscard]] tenure::process::survivors living() const override;

  std::uint64_t term = 0;  ///< under which what is found runs; 0: under none
  std::function<void(std::uint64_t version, int signo)> told;  ///< this ends the workload

 private:
  guard_machine& on_;
  std::vector<pid_t> found_;  ///< by the last look
};

/// The workload of signal mode, as it ships. The judge hears under which term its processes run,
/// from its start until its end.
class found_workload final : public guard::guarded_processes {
 public:
  /// `page`: it says which term is to start; who waited for the end of a stray has no environment.
  found_workload(guard_machine& on, const guard::guard_page& page,
                 const guard::foreign_rules& rules, guard::guard_log& log);

  [[nodiscard]] guard::workload_news start(core::time_point now,
                                           std::string_view environment) override;
  [[nodiscard]] guard::workload_news child_changed(const guard::child_change& what,
                                                   state is) override {
    return workload_.child_changed(what, is);
  }
  [[nodiscard]] guard::workload_news check_start() override { return workload_.check_start(); }
  [[nodiscard]] guard::workload_news look(core::time_point now, state is) override;
  [[nodiscard]] core::time_point look_at() const override { return workload_.look_at(); }
  void terminate(core::time_point now, int signo) override { workload_.terminate(now, signo); }
  void kill(core::time_point now, bool deep) override { workload_.kill(now, deep); }
  void forward(int signo) override { workload_.forward(signo); }
  [[nodiscard]] tenure::process::survivors living() override { return workload_.living(); }
  [[nodiscard]] pid_t first() const override { return workload_.first(); }
  [[nodiscard]] std::optional<int> ended_by_itself() const override {
    return workload_.ended_by_itself();
  }
  [[nodiscard]] std::optional<int> exit_status() const override { return workload_.exit_status(); }

  [[nodiscard]] std::uint64_t term() const { return finder_.term; }
  [[nodiscard]] bool has_news() const { return finder_.has_deaths(); }
  /// The guard is dead: what runs goes on, under a term of which nobody knows here any more.
  void abandon() { end_term(); }

  world_time decided_at{};  ///< when the present turn of the guard began
  std::function<void(std::uint64_t version, int signo)>& told = finder_.told;

 private:
  void not_told();
  void end_term();

  guard_machine& on_;
  const guard::guard_page& page_;
  modelled_finder finder_;
  guard::foreign_workload workload_;
};

}  // namespace tenure::shell
