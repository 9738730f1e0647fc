#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "foreign_client.hpp"
#include "stage.hpp"

namespace tenure::shell {

/// What operators and other clients do to the store of one world: a restore from a backup, users
/// and their passwords, keys that mean nothing, contenders other than the agents. Which of
/// these a world has is drawn from its seed.
class store_troubles {
 public:
  /// `say`: for a person who follows one seed. Sets `password_file` of the stage.
  store_troubles(stage& s, std::uint64_t seed, std::function<void(const std::string&)> say);

  /// Draws what happens until `quiet`.
  void plan(world_time quiet);
  /// All is well again: nobody but the agents contends, and they may do all that they need.
  void mend();
  /// Called once after a restore, when an operator begins to look after the agents.
  std::function<void()> operator_comes;

 private:
  void plan_restore(world_time quiet);
  void restore(core::duration takes);
  void plan_accounts(world_time quiet);
  void change_password();
  void write_nonsense();
  void give_password(const std::string& what);
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
  bool restores_;
  bool has_accounts_;
  bool has_clients_;
  bool has_nonsense_;
  base::unique_fd password_;  ///< a file without a name
  std::uint64_t passwords_ = 0;
  modelled_etcd::backup backup_;
  std::vector<std::unique_ptr<foreign_client>> clients_;
};

}  // namespace tenure::shell
