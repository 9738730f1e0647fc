#pragma once

#include <cstdint>
#include <string>

#include "cli/text/report.hpp"

/// What has become of an order, by what the agent says of its election. No I/O.
namespace tenure::cli {

enum class order_kind : std::uint8_t { resign, transfer, pause, resume };

struct given_order {
  order_kind what = order_kind::resign;
  std::string to{};      ///< empty: whoever comes first
  std::string member{};  ///< who is meant; empty: the holder, or the member whose agent is asked
  std::string by{};      ///< who has accepted it
};

enum class progress : std::uint8_t {
  under_way,
  not_known,  ///< the agent does not know how far it is
  settled,    ///< this member has done its part; who takes over is still open
  done,       ///< for good
  otherwise,  ///< for good, but not as it was ordered
};

struct order_reading {
  progress is = progress::under_way;
  std::string text;  ///< one sentence, without a full stop
};

/// `before`: the election when the order was given, by the same agent. Precondition: `order.by` is
/// not empty. Of another member than the agent's own only the seat is seen, and not whether it is
/// paused.
order_reading read_progress(const given_order& order, const election_report& before,
                            const election_report& now);

}  // namespace tenure::cli
