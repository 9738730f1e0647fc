#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "consul/consul_state.hpp"
#include "store_witness.hpp"

namespace tenure::shell {

/// Who holds which election according to the keys of the modelled Consul, read as the guides for
/// locks and semaphores say; independent of how the agents read them.
class consul_terms {
 public:
  struct holder {
    std::string key;  ///< which its session locks
    std::string session;
    std::string owner{};  ///< a pod or a client
    std::uint64_t version = 0;
  };

  explicit consul_terms(store_witness& seen_by) : witness_(seen_by) {}

  /// Those that hold this election, lowest version first.
  [[nodiscard]] static std::vector<holder> holders(const consul_state& in,
                                                   const std::string& election);

  /// Tells the witness what has changed since the last call, and why.
  void changed(const consul_state& now, erased_by how);
  /// The same after a restore.
  void restored(const consul_state& now);

 private:
  /// By election and version.
  using all_holders = std::map<std::pair<std::string, std::uint64_t>, holder>;

  [[nodiscard]] static all_holders all(const consul_state& in);
  void tell_slots(const consul_state& now);

  store_witness& witness_;
  all_holders present_;
  std::map<std::string, std::uint32_t> slots_;  ///< by election, as the lock key says
};

}  // namespace tenure::shell
