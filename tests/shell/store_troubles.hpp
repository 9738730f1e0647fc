#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "stage.hpp"

namespace tenure::shell {

/// What operators and other clients do to the store of one world. Which of that a world has is
/// drawn from its seed.
class store_troubles {
 public:
  /// `say`: for a person who follows one seed.
  store_troubles(stage& s, std::uint64_t seed, std::function<void(const std::string&)> say)
      : stage_(s), dice_(seed), say_(std::move(say)) {}
  virtual ~store_troubles() = default;
  store_troubles(const store_troubles&) = delete;
  store_troubles& operator=(const store_troubles&) = delete;

  /// Draws what happens until `quiet`.
  virtual void plan(world_time quiet) = 0;
  /// Which of them this world has, as traits of it.
  virtual void tell(std::vector<std::string>& traits) const = 0;
  /// The store has granted this election to a pod, and nobody has heard of it yet.
  virtual void granted(const std::string& /*which*/) {}
  /// All is well again: nobody but the agents contends, and they may do all that they need.
  virtual void mend() = 0;
  /// Called once after a restore, when an operator begins to look after the agents.
  std::function<void()> operator_comes;
  /// Called after each restore.
  std::function<void()> restored;
  /// A person asks the holder of this election to give it up.
  std::function<void(const std::string& which)> holder_resigns;

 protected:
  [[nodiscard]] world_time before(world_time quiet) {
    return stage_.in.now +
           dice_.between(core::duration(std::chrono::seconds(3)), quiet - stage_.in.now);
  }
  [[nodiscard]] const std::string& any_election() {
    return stage_.elections[dice_.below(stage_.elections.size())];
  }

  stage& stage_;
  rng dice_;
  std::function<void(const std::string&)> say_;
};

}  // namespace tenure::shell
