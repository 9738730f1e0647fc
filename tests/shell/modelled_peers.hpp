#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "modelled_network.hpp"
#include "peer/channel.hpp"
#include "process.hpp"
#include "world.hpp"

namespace tenure::shell {

class judge;

/// The datagrams by which agents tell each other a word: lost, late, sent again, and forged by
/// somebody who has heard all of them. In some worlds nobody has such a channel, in others not all
/// members have. Draws from dice of its own.
class modelled_peers {
 public:
  modelled_peers(world& in, modelled_network& beside, judge& referee, std::uint64_t seed,
                 core::duration ttl);

  [[nodiscard]] bool has_channel(std::size_t pod) const { return has_channel_[pod]; }
  [[nodiscard]] std::unique_ptr<peer::channel> open(std::size_t pod,
                                                    const std::shared_ptr<process>& agent,
                                                    peer::channel::handler heard);

  /// Words still get lost afterwards, as datagrams do.
  void plan_forgeries(world_time quiet);

 private:
  friend class modelled_channel;

  struct receiver {
    std::shared_ptr<process> agent;
    peer::channel::handler heard;
  };

  void tell(std::size_t from, const std::string& to, const core::word& what);
  void hold_back_release(std::size_t of);
  void carry(std::size_t to, core::word what, core::duration delay);
  void forge();

  world& world_;
  modelled_network& network_;
  judge& referee_;
  rng dice_;
  core::duration ttl_;
  std::array<bool, most_pods> has_channel_{};
  std::array<std::weak_ptr<receiver>, most_pods> receivers_;
  std::vector<core::word> overheard_;
};

}  // namespace tenure::shell
