#pragma once

#include <cstdint>

namespace tenure::shell {

/// What must never happen. Each is a sentence of docs/safety.md, as far as a store's client can
/// break it.
enum class rule : std::uint8_t {
  none,
  guard,                  ///< one of `guard_rule`, in one of the pods
  too_many_running,       ///< more workloads run than there are slots, and nobody took a key away
  outlives_lease,         ///< the store may grant to the next one, and the workload is not dead
  outlives_news,          ///< its agent has heard that the term is over, and it is not dead
  started_without_lease,  ///< no grant to this member, or one that was over
  started_too_early,      ///< the previous holder has not released, and lock_delay is not over
  version_not_larger,     ///< a workload starts under no larger version than one before
  slot_twice,             ///< two workloads run in slots of the same number

  // What a contender does to the Lease of another one.
  taken_too_early,       ///< others still have to wait for the end of its term
  taken_from_preferred,  ///< it says that somebody else is to hold it next

  // What a member believes.
  believed_what_is_not,     ///< a grant of a key that was never written, or is another's
  believed_what_was_gone,   ///< the key was gone before the request was sent
  believed_beyond_promise,  ///< the leader has not promised to keep the lease for so long
  believed_late_reply,      ///< a renewal that was answered when its lease had to be stopped
  believed_late_grant,      ///< a grant whose request had run out of time
  entered_lost_term,        ///< its watch had shown the end of this term before
  entered_disputed_term,    ///< its watch had shown that it may not campaign
  clean_without_release,    ///< "the previous holder has released": it has not
  version_below_seen,       ///< a term of no larger version than its member had seen, and nobody
                            ///< accepted that
  lost_without_news,        ///< a term is given up as lost, and nobody has said that it is

  // What it does.
  takes_two_slots,       ///< one agent has two keys of one election
  granted_while_held,    ///< a grant of an election that another term held then
  released_in_use,       ///< a key is given up while its workload runs, or its agent acts by it
  told_in_use,           ///< the same, when another member is told that it is over
  renewed_out_of_sight,  ///< the lease of a workload of which nobody can tell whether it is dead
  forgot_unknown,        ///< neither repeats an acquire without an answer, nor releases
  holds_without_guard,   ///< its guard is gone, or hangs, and it goes on in its term
  campaigns_unseen,      ///< before its watch has shown the election
  campaigns_against_agreement,  ///< its number of slots is another one, and others keep that
  slots_changed_while_held,     ///< somebody who relies on the number before holds
  campaigns_as_another,         ///< another run uses its identity
  campaigns_while_paused,       ///< it was paused, and not resumed
  campaigns_while_aside,        ///< it has resigned, and stands aside for a while
  campaigns_while_unhealthy,
  campaigns_without_guard,  ///< nobody could start its workload
  campaigns_out_of_sight,   ///< what ran under its last term may live, by a lease that may last
  ignores_its_loss,  ///< it has heard that its session is gone, and goes on in a term that is over
  grace_without_delay,  ///< it was told that its term is over, and gives its workload more time
                        ///< than the store lets pass before it grants that to others

  // What people read.
  shows_what_is_not,       ///< a watch that works shows other holders than there are
  twin_unnoticed,          ///< two runs with one identity, and neither has been told
  silent_about_versions,   ///< versions have moved back, and the log does not say what to do
  secret_in_log,           ///< a token or a password
  accepted_order_dropped,  ///< an order that a member has accepted is taken back

  no_holder,  ///< all is well again, and nobody is active
  busy_loop,
};

const char* name(rule r);

}  // namespace tenure::shell
