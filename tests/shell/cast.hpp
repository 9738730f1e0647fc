#pragma once

#include <cstdint>

#include "stage.hpp"

namespace tenure::shell {

/// What members of some worlds are that others are not: two of them have one identity, or they are
/// configured with different numbers of slots, or a guard has another clock than its agent, or
/// hooks tell their workloads. Drawn from dice of its own. Call before anybody takes part.
class cast {
 public:
  cast(stage& s, std::uint64_t seed) : stage_(s), dice_(seed), slots_dice_(~seed) {}

  /// Precondition: all that is in `stage`, but for `hooked`, is drawn.
  void draw();
  /// Makes a machine what it is in this world. Call for each, by number.
  void give_part(pod_machine& one);

  [[nodiscard]] bool has_twins() const { return has_twins_; }
  [[nodiscard]] bool disagrees() const { return disagrees_; }

 private:
  [[nodiscard]] rng& for_slots();

  stage& stage_;
  rng dice_;
  rng slots_dice_;              ///< of Consul: what else is drawn for a seed stays as it was
  core::duration clock_off_{};  ///< of the first pod's guard
  bool has_twins_ = false;
  bool disagrees_ = false;
};

}  // namespace tenure::shell
