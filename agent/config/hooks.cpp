#include <algorithm>
#include <array>

#include "config/provenance.hpp"

namespace tenure::config {
namespace {

using namespace std::chrono_literals;

constexpr std::array hook_settings{setting::gain_http,    setting::gain_command,
                                   setting::gain_file,    setting::stop_http,
                                   setting::stop_command, setting::stop_exit_code};

/// From the end of the agent to the end of the main container, which the restart rules of its pod
/// cause. Measured in real pods.
constexpr core::duration container_ends_within = 3s;

/// Lives for one call of `check_hooks`.
class hook_check {
 public:
  hook_check(const configuration& s, provenance& known) : s_(s), known_(known) {}

  void run() {
    const auto given = std::ranges::find_if(
        hook_settings, [this](setting which) { return known_.is_given(which); });
    if (given == hook_settings.end()) return;
    check_company(*given);
    if (s_.hooks.stop_exit_code) check_exit_code();
    if (s_.hooks.gain() && !s_.hooks.stop() && !s_.target.given()) {
      known_.warn(*given,
                  key_of(*given) +
                      " is given, and nothing stops the workload: no lease is released, "
                      "so that each hand-over takes a ttl",
                  "give stop_http, stop_command or stop_exit_code");
    }
  }

 private:
  void check_company(setting hook) {
    if (!s_.guard_dir.empty()) {
      known_.reject(hook,
                    key_of(hook) + " and guard_dir are both given: one of them runs the workload",
                    "remove one; the guard is the safer way, because it kills");
    }
    if (s_.target.given()) check_target_company(hook);
    if (s_.observe) {
      known_.reject(hook, key_of(hook) + " is given, and an observer never holds a lease",
                    "remove it, or remove observe");
    }
    if (s_.elections.size() > 1) {
      known_.reject(hook,
                    key_of(hook) + " tells one workload of one election, but " +
                        std::to_string(s_.elections.size()) + " are configured",
                    "give one election to each agent");
    }
  }

  /// Hooks may tell a target that it is active, but only its guard stops it: a stop hook in the
  /// agent would fail with the agent, and would use up the grace.
  void check_target_company(setting first_hook) {
    for (const setting stop :
         {setting::stop_http, setting::stop_command, setting::stop_exit_code}) {
      if (!known_.is_given(stop)) continue;
      known_.reject(stop,
                    key_of(stop) +
                        " and target_* are both given: what is found by target_* is "
                        "stopped by stop_signal, and killed",
                    "remove " + key_of(stop) + "; let the workload end in order on stop_signal");
    }
    if (!s_.hooks.gain() || known_.is_bad(setting::while_standby)) return;
    if (s_.target.while_standby == settings::on_standby::run) return;
    known_.reject(first_hook,
                  key_of(first_hook) +
                      " is given, but while_standby is stop: what begins while we "
                      "are active needs no telling",
                  "give while_standby run, or remove " + key_of(first_hook));
  }

  /// SIGKILL comes late, from the container runtime, and must come before another member is
  /// granted.
  void check_exit_code() {
    const core::timing& t = s_.timing;
    if (t.ttl == core::duration::zero() || t.kill_budget >= container_ends_within) return;
    known_.reject(
        known_.is_given(setting::kill_budget) ? setting::kill_budget : setting::stop_exit_code,
        "stop_exit_code ends the main container up to " + core::text(container_ends_within) +
            " after the agent, but kill_budget is " + core::text(t.kill_budget) +
            ": it could run for " + core::text(container_ends_within - t.kill_budget) +
            " after somebody else was granted the lease",
        "give a kill_budget of at least " + core::text(container_ends_within) +
            ", and a ttl that leaves room for it");
  }

  const configuration& s_;
  provenance& known_;
};

}  // namespace

void check_hooks(const configuration& s, provenance& known) {
  hook_check(s, known).run();
}

}  // namespace tenure::config
