#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "consul/foreign_contender.hpp"
#include "consul/modelled_consul.hpp"
#include "store_troubles.hpp"

namespace tenure::shell {

/// Snapshots that are restored, locks that are released by force, keys that mean nothing, and
/// contenders other than the agents. Draws what the agents' sessions are like.
class consul_troubles final : public store_troubles {
 public:
  /// Sets `consul` of the stage.
  consul_troubles(stage& s, modelled_consul& of, std::uint64_t seed,
                  std::function<void(const std::string&)> say);

  void plan(world_time quiet) override;
  void tell(std::vector<std::string>& traits) const override;
  void granted(const std::string& which) override;
  void mend() override;

 private:
  void plan_restore(world_time quiet);
  void write_nonsense();
  void force_release();
  void release_unseen(const std::string& which);
  void add_client(std::size_t number, world_time quiet);

  modelled_consul& consul_;
  bool restores_;
  bool has_clients_;
  bool has_nonsense_;
  bool forces_releases_;
  bool hides_releases_;   ///< what forces them slows watches down
  bool is_well_ = false;  ///< again
  consul_state snapshot_;
  std::vector<std::unique_ptr<foreign_contender>> clients_;
};

}  // namespace tenure::shell
