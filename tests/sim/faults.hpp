#pragma once

#include <span>
#include <vector>

#include "network.hpp"
#include "pod.hpp"
#include "stage.hpp"
#include "store.hpp"

namespace tenure::sim {

/// What goes wrong, and when. Half of it is planned; the rest lies in ambush for agents that have
/// just entered another phase or sent a renewal, where a protocol is at its weakest.
class faults {
 public:
  faults(stage& s, network& n, store& kept, std::span<pod> pods);

  void begin(const entry& e);
  void end(const entry& e);
  /// The agent of pod `number` has just done something tempting.
  void ambush(std::size_t number);
  /// All is mended, and everybody campaigns again.
  void stop();

 private:
  struct trouble {
    fault what{};
    std::uint8_t pod = 0;
    std::uint8_t election = 0;
    core::duration lasts{};
    bool repeated = false;  ///< one of a series, which it does not lengthen
  };

  [[nodiscard]] trouble draw();
  void plan(const trouble& t, core::duration delay);
  void repeat(trouble t);
  void strike(const trouble& t);
  void operators(const trouble& t);

  stage& stage_;
  network& network_;
  store& kept_;
  std::span<pod> pods_;
  std::vector<fault> known_;
  std::vector<trouble> troubles_;
};

}  // namespace tenure::sim
