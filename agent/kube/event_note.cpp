#include "kube/event_note.hpp"

#include <algorithm>
#include <utility>

namespace tenure::kube {
namespace {

using core::loss_reason;

/// Its name in CamelCase: "RenewTimeout".
std::string reason_of(loss_reason why) {
  if (why == loss_reason::none) return "Lost";
  std::string out;
  bool begins = true;
  for (const char c : core::name(why)) {
    if (c != '_') out += begins ? static_cast<char>(c - 'a' + 'A') : c;
    begins = c == '_';
  }
  return out;
}

std::string_view words_of(loss_reason why) {
  switch (why) {
    case loss_reason::renew_timeout:
      return "no renewal was acknowledged in time";
    case loss_reason::taken_over:
      return "another member has taken it";
    case loss_reason::session_invalid:
      return "the store does not know its session any more";
    case loss_reason::revoked:
      return "somebody has taken it away in the store";
    case loss_reason::suspended:
      return "the machine slept through it";
    case loss_reason::unhealthy:
      return "the workload is unhealthy";
    case loss_reason::resigned:
      return "it was given up on request";
    case loss_reason::preempted:
      return "a member of higher priority is ready";
    case loss_reason::shutdown:
      return "this member was told to end";
    case loss_reason::workload_exited:
      return "the workload has ended";
    case loss_reason::guard_gone:
      return "the guard of the workload has ended or hangs";
    case loss_reason::container_died:
      return "the container of the workload has ended";
    case loss_reason::version_regressed:
      return "the store has granted an older version than one that was seen";
    case loss_reason::ttl_too_short:
      return "its lease is too short for the settings of this member";
    case loss_reason::none:
      break;
  }
  return "its term is over";
}

std::string lease_of(std::string_view election, core::version version) {
  return "the lease of " + std::string(election) + ", version " +
         std::to_string(core::number(version));
}

}  // namespace

event_note gain_of(std::string_view election, core::version version, bool goes_on) {
  return {.action = "Gain",
          .reason = goes_on ? "ActiveAgain" : "Active",
          .note = (goes_on ? "active again, after the agent was started again: holds "
                           : "active: holds ") +
                  lease_of(election, version)};
}

event_note loss_of(std::string_view election, core::version version, core::loss_reason why) {
  return {.action = "Lose",
          .reason = reason_of(why),
          .is_warning = core::is_trouble(why),
          .note = "not active any more: " + std::string(words_of(why)) + " (" +
                  lease_of(election, version) + ")"};
}

std::optional<std::uint32_t> event_limit::let_through(core::time_point now) {
  if (left_ == at_once) counted_until_ = now;
  const auto earned = static_cast<std::uint64_t>((now - counted_until_) / then_one_in);
  counted_until_ += static_cast<std::int64_t>(earned) * then_one_in;
  left_ = static_cast<std::uint32_t>(std::min<std::uint64_t>(at_once, left_ + earned));
  if (left_ == 0) {
    leave_out();
    return std::nullopt;
  }
  --left_;
  return std::exchange(left_out_, 0);
}

}  // namespace tenure::kube
