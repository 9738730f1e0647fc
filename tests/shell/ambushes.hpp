#pragma once

#include <array>
#include <bitset>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "stage.hpp"

namespace tenure::shell {

/// What an ambush does to pods.
struct hands_on_pods {
  /// A person asks this pod's agent to give this election up.
  std::function<void(std::size_t pod, const std::string& which)> resign;
  std::function<void(std::size_t pod)> kill_agent;
  /// Nothing without a guard.
  std::function<void(std::size_t pod, core::duration lasts)> freeze_guard;
};

/// What goes wrong just when something else happens, where chance alone seldom finds the moment.
/// Which of that a world has is drawn from its seed.
class ambushes {
 public:
  /// `say`: for a person who follows one seed.
  ambushes(stage& s, std::uint64_t seed, std::size_t pods, hands_on_pods on,
           std::function<void(const std::string&)> say);

  /// Draws what happens until `quiet`.
  void plan(world_time quiet);
  /// The store has granted this election to a pod, and nobody has heard of it yet.
  void granted(std::size_t pod, const std::string& which);
  /// A person has given an order, which may be for another member.
  void ordered();
  /// The store has been restored from a backup.
  void restored();
  void mend();
  /// True if members may not hear whether their answers to orders count.
  [[nodiscard]] bool doubts() const { return has(kind::doubted); }
  /// Those that this world has, as traits of it.
  void tell(std::vector<std::string>& traits) const;

 private:
  enum class kind : std::uint8_t {
    overtaken,     ///< the answer to a campaign, by its watch
    doubted,       ///< answers to orders
    stale_leader,  ///< renewals are answered by a leader that was replaced
    late_session,  ///< the session of who waits is renewed late, by such a leader
    slow_return,   ///< an agent comes back while its workload stops, over slow connections
    late_guard,    ///< it comes back after a restore, and finds its guard later
    count,
  };
  static constexpr std::size_t kinds = static_cast<std::size_t>(kind::count);

  [[nodiscard]] bool has(kind one) const { return has_[static_cast<std::size_t>(one)]; }
  void draw(kind one, std::uint32_t ppm, bool is_possible);
  [[nodiscard]] const std::string& any_election();
  void overtake(std::size_t pod, const std::string& which);
  void answer_all_late(core::duration by);
  void isolate(std::size_t pod, std::size_t server);
  void heal(std::size_t pod);
  void replace_leader_of_holder();
  void renew_late();
  void return_slowly();

  stage& stage_;
  rng dice_;
  std::size_t pods_;
  hands_on_pods on_;
  std::function<void(const std::string&)> say_;
  std::bitset<kinds> has_;
  std::array<bool, most_pods> is_overtaken_{};  ///< its next grant
};

}  // namespace tenure::shell
