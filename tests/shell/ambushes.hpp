#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "stage.hpp"

namespace tenure::shell {

/// What goes wrong just when a member is granted a lease, or has an order to answer, where chance
/// alone seldom finds the moment. Which of that a world has is drawn from its seed.
class ambushes {
 public:
  /// `is_swarm`: false for a world from before orders were waited for. `say`: for a person who
  /// follows one seed.
  ambushes(stage& s, std::uint64_t seed, bool is_swarm, std::size_t pods,
           std::function<void(const std::string&)> say);

  /// Draws what happens until `quiet`.
  void plan(world_time quiet);
  /// The store has granted this election to a pod, and nobody has heard of it yet.
  void granted(std::size_t pod, const std::string& which);
  /// A person has given an order, which may be for another member.
  void ordered();
  void mend();
  /// True if an answer may be overtaken here.
  [[nodiscard]] bool overtakes() const { return overtakes_; }
  /// True if members may not hear whether their answers to orders count.
  [[nodiscard]] bool doubts() const { return doubts_; }

 private:
  void overtake(std::size_t pod, const std::string& which);
  void answer_all_late(core::duration by);

  stage& stage_;
  rng dice_;
  rng dice_of_doubts_;
  std::size_t pods_;
  std::function<void(const std::string&)> say_;
  bool overtakes_;                              ///< in this world
  bool doubts_;                                 ///< in this world
  std::array<bool, most_pods> is_overtaken_{};  ///< its next grant
};

}  // namespace tenure::shell
