#include "stores/store.hpp"

namespace tenure::stores {

std::vector<std::string> lock_variables(std::string_view kind, const std::string& sequencer,
                                        core::version version) {
  if (kind == "consul") return {"CONSUL_LOCK_HELD=true"};
  if (kind != "etcd") return {};
  return {"ETCD_LOCK_KEY=" + sequencer.substr(0, sequencer.rfind('@')),
          "ETCD_LOCK_REV=" + std::to_string(core::number(version))};
}

}  // namespace tenure::stores
