#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "kubernetes/leader_elector.hpp"
#include "kubernetes/modelled_kubernetes.hpp"
#include "store_troubles.hpp"

namespace tenure::shell {

/// Backups that are restored, Leases that operators edit and delete, annotations that mean nothing,
/// API servers that refuse or lose requests, watches that are late or end, and Go programs that
/// contend.
class kubernetes_troubles final : public store_troubles {
 public:
  kubernetes_troubles(stage& s, modelled_kubernetes& of, std::uint64_t seed,
                      std::function<void(const std::string&)> say);

  void plan(world_time quiet) override;
  void tell(std::vector<std::string>& traits) const override;
  void mend() override;

 private:
  void plan_restore(world_time quiet);
  void restore(core::duration takes);
  void edit();
  void put_back_later(const std::string& name);
  void prefer_another(const std::string& election);
  void clear_preference(const std::string& election);
  void write_nonsense();
  /// An operator takes off what `write_nonsense` may have written.
  void clear_notes();
  void upset_servers(world_time quiet);
  void disturb_watches(world_time quiet);
  void add_client(std::size_t number, world_time quiet);
  [[nodiscard]] core::duration for_long(world_time quiet);

  modelled_kubernetes& kubernetes_;
  bool restores_;
  bool has_clients_;
  bool edits_;
  bool has_nonsense_;
  bool is_mended_ = false;  ///< what was planned for later is not done any more
  bool upsets_servers_;
  bool disturbs_watches_;
  modelled_kubernetes::backup backup_;
  std::vector<std::unique_ptr<leader_elector>> clients_;
};

}  // namespace tenure::shell
