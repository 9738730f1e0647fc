#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "stage.hpp"

namespace tenure::shell {

/// What goes wrong just when a member is granted a lease, where chance alone seldom finds the
/// moment. Which of that a world has is drawn from its seed.
class ambushes {
 public:
  /// `say`: for a person who follows one seed.
  ambushes(stage& s, std::uint64_t seed, std::size_t pods,
           std::function<void(const std::string&)> say);

  /// Draws what happens until `quiet`.
  void plan(world_time quiet);
  /// The store has granted this election to a pod, and nobody has heard of it yet.
  void granted(std::size_t pod, const std::string& which);
  void mend();

 private:
  void overtake(std::size_t pod, const std::string& which);

  stage& stage_;
  rng dice_;
  std::size_t pods_;
  std::function<void(const std::string&)> say_;
  bool overtakes_;                              ///< in this world
  std::array<bool, most_pods> is_overtaken_{};  ///< its next grant
};

}  // namespace tenure::shell
