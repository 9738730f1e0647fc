#include "workload/stop_plan.hpp"

#include <algorithm>
#include <array>

#include "core/check.hpp"

namespace tenure::workload {
namespace {

constexpr std::array in_order{stop_way::remove_file, stop_way::http, stop_way::command,
                              stop_way::exit_code};

}  // namespace

bool stop_plan::has(stop_way which) const {
  switch (which) {
    case stop_way::remove_file:
      return ways_.remove_file;
    case stop_way::http:
      return ways_.http;
    case stop_way::command:
      return ways_.command;
    case stop_way::exit_code:
      return ways_.exit_code;
  }
  return false;
}

core::time_point stop_plan::share_end(core::time_point now) const {
  if (current_ == stop_way::exit_code) return now;
  const auto takes_time = [this](stop_way one) {
    return one >= *current_ && one != stop_way::exit_code && has(one);
  };
  const auto sharers = std::ranges::count_if(in_order, takes_time);
  const core::duration least = ways_.exit_code ? core::duration::zero() : late_word;
  return now + std::max((kill_by_ - now) / sharers, least);
}

void stop_plan::go_to_first_from(std::uint8_t number, core::time_point now) {
  current_.reset();
  for (const stop_way one : in_order) {
    if (static_cast<std::uint8_t>(one) < number || !has(one)) continue;
    current_ = one;
    until_ = share_end(now);
    return;
  }
}

void stop_plan::begin(core::time_point now, core::time_point kill_by) {
  kill_by_ = kill_by;
  go_to_first_from(0, now);
}

void stop_plan::shorten(core::time_point now, core::time_point kill_by) {
  if (kill_by >= kill_by_) return;
  kill_by_ = kill_by;
  if (current_) until_ = std::min(until_, share_end(now));
}

void stop_plan::next(core::time_point now) {
  TENURE_CHECK(current_.has_value());
  go_to_first_from(static_cast<std::uint8_t>(static_cast<std::uint8_t>(*current_) + 1), now);
}

}  // namespace tenure::workload
