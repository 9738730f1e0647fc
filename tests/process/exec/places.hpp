#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "servers/etcd_server.hpp"

namespace tenure::tests {

/// A store for tests of real agents.
struct place {
  std::string name;
  std::optional<servers::etcd_release> etcd;  ///< none: SQLite
};

inline std::ostream& operator<<(std::ostream& out, const place& p) {
  return out << p.name;
}

/// The places with servers.
inline std::vector<place> etcd_places() {
  std::vector<place> out;
  for (const servers::etcd_release& r : servers::etcd_releases()) {
    out.push_back({.name = "etcd_" + r.name, .etcd = r});
  }
  return out;
}

inline std::vector<place> places() {
  std::vector<place> out = etcd_places();
  out.insert(out.begin(), {.name = "sqlite", .etcd = std::nullopt});
  return out;
}

}  // namespace tenure::tests
