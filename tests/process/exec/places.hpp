#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "servers/etcd_server.hpp"

namespace tenure::tests {

/// A store that a test of real agents runs on.
struct place {
  std::string name;
  std::optional<servers::etcd_release> etcd;  ///< none: SQLite
};

inline std::ostream& operator<<(std::ostream& out, const place& p) {
  return out << p.name;
}

inline std::vector<place> places() {
  std::vector<place> out{{.name = "sqlite", .etcd = std::nullopt}};
  for (const servers::etcd_release& r : servers::etcd_releases()) {
    out.push_back({.name = "etcd_" + r.name, .etcd = r});
  }
  return out;
}

}  // namespace tenure::tests
