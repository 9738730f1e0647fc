#include "stores/etcd/etcd_store.hpp"
#include "stores/store.hpp"

namespace tenure::stores {

std::vector<std::string_view> store_kinds() {
  return {"sqlite", "etcd"};
}

std::vector<std::string> lock_variables(std::string_view kind, const std::string& sequencer,
                                        core::version version) {
  if (kind != "etcd") return {};
  return {"ETCD_LOCK_KEY=" + sequencer.substr(0, sequencer.rfind('@')),
          "ETCD_LOCK_REV=" + std::to_string(core::number(version))};
}

core::duration expiry_lag_of(std::string_view kind) {
  // SQLite compares with the kernel's own clock, so members see an expiry at once.
  return kind == "etcd" ? etcd_expiry_lag : core::duration::zero();
}

}  // namespace tenure::stores
