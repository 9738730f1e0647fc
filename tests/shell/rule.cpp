#include "rule.hpp"

#include <array>
#include <cstddef>

namespace tenure::shell {
namespace {

constexpr std::array names{"none",
                           "guard",
                           "too_many_running",
                           "outlives_lease",
                           "outlives_news",
                           "started_without_lease",
                           "started_too_early",
                           "version_not_larger",
                           "slot_twice",
                           "taken_too_early",
                           "taken_from_preferred",
                           "believed_what_is_not",
                           "believed_what_was_gone",
                           "believed_beyond_promise",
                           "believed_late_reply",
                           "believed_late_grant",
                           "entered_lost_term",
                           "entered_disputed_term",
                           "clean_without_release",
                           "version_below_seen",
                           "lost_without_news",
                           "takes_two_slots",
                           "granted_while_held",
                           "released_in_use",
                           "told_in_use",
                           "renewed_out_of_sight",
                           "forgot_unknown",
                           "holds_without_guard",
                           "campaigns_unseen",
                           "campaigns_against_agreement",
                           "slots_changed_while_held",
                           "campaigns_as_another",
                           "campaigns_while_paused",
                           "campaigns_while_aside",
                           "campaigns_while_unhealthy",
                           "campaigns_without_guard",
                           "campaigns_out_of_sight",
                           "ignores_its_loss",
                           "grace_without_delay",
                           "shows_what_is_not",
                           "twin_unnoticed",
                           "silent_about_versions",
                           "secret_in_log",
                           "accepted_order_dropped",
                           "no_holder",
                           "busy_loop"};
static_assert(names.size() == static_cast<std::size_t>(rule::busy_loop) + 1);

}  // namespace

const char* name(rule r) {
  return names[static_cast<std::size_t>(r)];
}

}  // namespace tenure::shell
