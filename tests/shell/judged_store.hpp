#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "stage.hpp"
#include "stores/store.hpp"

namespace tenure::shell {

/// What the judge knows of one agent from the answers that its store gives it.
struct heard_of_store {
  /// What the watch of each election shows, if it works: versions of holders.
  std::vector<std::optional<std::vector<std::uint64_t>>> shown;
  /// The largest version that it has seen, in any election.
  std::uint64_t newest = 0;
  std::size_t renewals = 0;   ///< that are not answered yet
  world_time renews_since{};  ///< when the last one began
  std::size_t acquires = 0;   ///< the same
  /// Called before the agent asks for a lease.
  std::function<void(core::election_index)> campaigns;
  /// Called before the agent hears of a grant or a renewal.
  std::function<void()> hears;
  /// Called when it has heard of that. `late`: the version of a grant whose request had run out of
  /// time; `granted`: the election that was asked for, if it was not a renewal.
  std::function<void(std::optional<std::uint64_t> late,
                     std::optional<core::election_index> granted)>
      believes;
};

/// The same store; the judge hears of each answer before the agent does.
std::unique_ptr<stores::store> make_judged_store(std::unique_ptr<stores::store> of, stage& s,
                                                 const pod_machine& on, heard_of_store& to);

}  // namespace tenure::shell
