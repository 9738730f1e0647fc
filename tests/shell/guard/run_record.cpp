#include "shell/guard/run_record.hpp"

#include <csignal>
#include <utility>
#include <vector>

namespace tenure::shell {
namespace {

/// What a dead guard has started, as `orphans` finds it.
class left_behind final : public guard::visible_workload {
 public:
  /// `mark`: the beginning of it.
  left_behind(guard_machine& on, pid_t guard, std::string mark)
      : on_(on), guard_(guard), mark_(std::move(mark)) {}

  [[nodiscard]] bool in_sight() const override { return false; }
  [[nodiscard]] bool comes_by_itself() const override { return false; }
  void follow(pid_t) override {}
  void expect_mark(std::string) override {}
  void forget() override {}

  [[nodiscard]] guard::remains kill_all() override {
    std::vector<pid_t> certain;
    for (const auto& [pid, one] : on_.processes.all()) {
      if (one.alive() && one.mark.starts_with(mark_)) certain.push_back(pid);
    }
    for (const pid_t pid : certain) on_.processes.signal(pid, SIGKILL);
    if (!certain.empty()) return guard::remains::something;
    return doubtful().left > 0 ? guard::remains::doubtful : guard::remains::nothing;
  }

  /// What is younger than the guard.
  [[nodiscard]] tenure::process::survivors doubtful() const override {
    tenure::process::survivors out;
    for (const auto& [pid, one] : on_.processes.all()) {
      if (one.alive() && one.hidden() && pid > guard_) ++out.left;
    }
    return out;
  }

 private:
  guard_machine& on_;
  pid_t guard_;
  std::string mark_;
};

}  // namespace

modelled_run_record::modelled_run_record(guard_machine& on, written_run& at, pid_t guard,
                                         bool is_full)
    : at_(at), guard_(guard), is_full_(is_full) {
  const modelled_process* const of = on.processes.find(at.guard);
  const bool is_dead = at.guard != guard && (of == nullptr || !of->alive());
  if (at.session.empty() || !is_dead) return;
  before_.emplace(at.session,
                  std::make_unique<left_behind>(on, at.guard, guard::mark_of_session(at.session)));
  on.referee.may_end("its guard and its agents are dead");
  on.referee.say("finds the record of the run before");
}

bool modelled_run_record::keep(const std::string& session) {
  at_ = is_full_ ? written_run{} : written_run{.session = session, .guard = guard_};
  return !is_full_;
}

}  // namespace tenure::shell
