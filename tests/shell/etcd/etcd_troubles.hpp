#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "etcd/foreign_client.hpp"
#include "etcd/modelled_etcd.hpp"
#include "store_troubles.hpp"

namespace tenure::shell {

/// A restore from a backup, users and their passwords, keys that mean nothing, contenders other
/// than the agents.
class etcd_troubles final : public store_troubles {
 public:
  /// Sets `password_file` of the stage.
  etcd_troubles(stage& s, modelled_etcd& of, std::uint64_t seed,
                std::function<void(const std::string&)> say);

  void plan(world_time quiet) override;
  void tell(std::vector<std::string>& traits) const override;
  void mend() override;

 private:
  void plan_restore(world_time quiet);
  void back_up_a_line(world_time quiet);
  void pass_on(std::string which, int turns, world_time quiet);
  void pass_over(const std::string& which, std::size_t next);
  void restore(core::duration takes);
  void plan_accounts(world_time quiet);
  void change_password();
  void write_nonsense();
  void give_password(const std::string& what);

  modelled_etcd& etcd_;
  bool restores_;
  bool has_accounts_;
  bool has_clients_;
  bool has_nonsense_;
  bool restores_lines_;       ///< backups are taken of elections for which somebody stands in line
  base::unique_fd password_;  ///< a file without a name
  std::uint64_t passwords_ = 0;
  modelled_etcd::backup backup_;
  std::vector<std::unique_ptr<foreign_client>> clients_;
};

}  // namespace tenure::shell
