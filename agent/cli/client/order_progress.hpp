#pragma once

#include <cstdint>
#include <string>

#include "wire/election.hpp"

/// The progress of an order, according to the agent's reports about the election. No I/O.
namespace tenure::cli {

struct given_order {
  core::order_action what = core::order_action::resign;  ///< not `set`
  std::string to{};                                      ///< empty: the first to campaign
  std::string
      member{};  ///< the member it is for; empty: the holder, or the member whose agent is asked
  std::string by{};  ///< the member that accepted it
};

enum class progress : std::uint8_t {
  under_way,
  not_known,  ///< the agent cannot tell
  settled,    ///< this member has done its part; the successor is still open
  done,       ///< final
  otherwise,  ///< final, but another outcome than ordered
};

struct order_reading {
  progress is = progress::under_way;
  std::string text;  ///< one sentence, without a full stop
};

/// `before`: the election when the order was given, from the same agent. Precondition: `order.by`
/// is not empty. For a member other than the agent's own, only its core::holder is visible, not
/// whether it is paused.
order_reading read_progress(const given_order& order, const wire::election_report& before,
                            const wire::election_report& now);

}  // namespace tenure::cli
