#pragma once

#include <cstdint>

namespace tenure::sim {

/// What must never happen.
enum class rule : std::uint8_t {
  none,
  too_many_running,        ///< more workloads run than there are slots
  too_many_claims,         ///< more members say that they hold than there are slots
  version_not_larger,      ///< a change of holder without a larger version
  version_went_back,       ///< a term is entered under a version older than one that was seen
  holder_fenced_out,       ///< the resource refuses the present holder
  released_while_running,  ///< a lease is given up while its workload may run
  released_in_use,         ///< the store frees a slot whose term an agent has entered
  armed_beyond_promise,    ///< the guard's deadline is later than what the store promised
  armed_for_another,       ///< the deadline of one term is moved by the renewal of another
  armed_after_stop_at,     ///< an answer that arrived after stop_at was believed
  entered_lost_term,       ///< a term is entered whose end the watch has shown before
  outlived_lease,          ///< a workload is alive longer than SIGKILL at kill_at can take
  outlived_news,           ///< the same of SIGKILL when its agent has heard that its term is over
  stopped_without_cause,   ///< a term ends although nothing has happened to it
  killed_without_cause,    ///< the guard ends a workload that it should let run
  claim_beyond_lease,      ///< "I hold" after stop_at
  campaign_in_shutdown,
  started_late,            ///< a start is ordered at stop_at or later
  started_over_previous,   ///< a start is ordered before the previous workload is gone
  campaign_over_previous,  ///< the lease is asked for while the previous workload may run
  campaign_over_release,   ///< the lease is asked for while a release of it is unanswered
  campaign_too_soon,       ///< an unhealthy workload's member is back before its pause is over
  busy_loop,
  no_holder,    ///< everything is well again, and still a slot is empty
  did_not_end,  ///< an agent that was told to end is still there
};

/// As it is written above.
const char* name(rule r);

}  // namespace tenure::sim
