#pragma once

#include <string>
#include <string_view>

#include "core/election.hpp"
#include "core/health.hpp"
#include "runtime/log.hpp"
#include "workload/guard_link.hpp"

/// What the agent says in its log, one function a line, so that the words are in one place.
namespace tenure::runtime {

/// Whose line it is.
struct speaker {
  std::string_view election;
  std::string_view identity;
};

void say_transition(log& to, const speaker& who, const core::command::transition& what,
                    core::version term);
void say_observed(log& to, const speaker& who, const core::observation& seen);
/// `left`: until the workload is stopped, if nothing is acknowledged before.
void say_renewal_unknown(log& to, std::string_view identity, const std::string& why,
                         core::duration left);
/// `held_back`: how often the same was not said since it was last.
void say_unknown(log& to, const speaker& who, std::string_view operation, const std::string& why,
                 std::uint64_t held_back);
void say_workload_found(log& to, const speaker& who, const workload::found_workload& what);
/// Nobody knows whether the workload has ended.
void say_doubtful(log& to, const speaker& who, const workload::survivors& what);
/// SIGKILL has not ended the workload.
void say_survivors(log& to, const speaker& who, const workload::survivors& what);
void say_workload_exited(log& to, const speaker& who, int wait_status);

/// The machine has slept; a lease may have run out meanwhile. `held_back`: as for `say_unknown`.
void say_slept(log& to, std::string_view identity, core::duration lasted, std::uint64_t held_back);
/// The election thread had no processor for so long.
void say_late(log& to, std::string_view identity, core::duration late, std::uint64_t held_back);
/// The wall clock was set. Nothing here depends on it.
void say_wall_jumped(log& to, std::string_view identity, core::duration by,
                     std::uint64_t held_back);

/// What hooks have done, or have not. `why`: empty if there is nothing to explain.
void say_hook(log& to, log_level how, const speaker& who, std::string_view what,
              const std::string& why);

/// What is checked and when, once.
void say_health_checked(log& to, const std::string& subjects, core::duration interval, bool always);
/// Another verdict; `why`: what failed.
void say_health(log& to, core::health verdict, const std::string& why);
/// The member does not campaign for so long, because its workload was unhealthy.
void say_rests(log& to, const speaker& who, core::duration pause);

/// "exited with status 3", "was killed by SIGKILL", for what waitpid has returned.
std::string describe_wait_status(int wait_status);

}  // namespace tenure::runtime
