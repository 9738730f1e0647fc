#include "cast.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

namespace {

constexpr std::uint32_t half = 500'000;
/// A guard that waits for the one with the right clock is of no use to test the rest.
constexpr std::uint32_t odd_clock_ppm = 150'000;
constexpr std::uint32_t twins_ppm = 100'000;
constexpr std::uint32_t disagree_ppm = 120'000;
constexpr std::uint32_t hooked_ppm = 400'000;

}  // namespace

void cast::draw() {
  // One workload, one owner.
  stage_.hooked = !stage_.guarded && stage_.elections.size() == 1 && dice_.chance(hooked_ppm);
  has_twins_ = dice_.chance(twins_ppm);
  if (stage_.guard_socket && dice_.chance(odd_clock_ppm)) {
    clock_off_ = dice_.spread(1s, 1h) * (dice_.chance(half) ? 1 : -1);
  }
  disagrees_ = for_slots().chance(disagree_ppm);
  stage_.agrees = !disagrees_;
}

rng& cast::for_slots() {
  return stage_.store == kept_in::consul ? slots_dice_ : dice_;
}

void cast::give_part(pod_machine& one) {
  const bool is_twin = has_twins_ && one.number == 1;
  one.identity = identity_of(is_twin ? 0 : one.number);
  one.checks_always = !stage_.guarded || dice_.chance(half);
  one.slots = static_cast<std::uint32_t>(stage_.slots);
  if (disagrees_) one.slots = for_slots().chance(half) ? 1 : 2;
  if (one.number == 0) one.guard_clock_off = clock_off_;
}

}  // namespace tenure::shell
