#pragma once

#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "servers/server_cluster.hpp"
#include "support/temporary_directory.hpp"

namespace tenure::tests {

/// A store for tests of real agents.
struct place {
  std::string name;                                 ///< fit for the name of a test: "etcd_today"
  std::string kind;                                 ///< "sqlite", "etcd", ...
  std::optional<servers::server_release> server{};  ///< none: the store is a file
  /// Why tests on it are to be skipped; empty: they are not.
  [[nodiscard]] std::string missing() const { return server ? server->why : ""; }
};

inline std::ostream& operator<<(std::ostream& out, const place& p) {
  return out << p.name;
}

/// The places with servers that a test may end.
std::vector<place> server_places();

/// All places, of Consul the latest release alone. Kubernetes is among them, with one server for
/// all tests of a process.
std::vector<place> places();

/// The store of one place: empty, with one server, for one test.
class placed_store {
 public:
  virtual ~placed_store() = default;

  [[nodiscard]] virtual std::string endpoint() const = 0;
  /// Null if the store is a file. That of a place which is not among `server_places` is used by
  /// later tests, too.
  [[nodiscard]] virtual servers::server_cluster* server() { return nullptr; }

  /// Deletes what says that somebody holds the election "test", with the store's own tool.
  virtual void delete_lock() = 0;

  /// All that it holds, as a dump.
  [[nodiscard]] virtual std::string contents() = 0;
};

/// A file is made in `in`.
std::unique_ptr<placed_store> make_placed_store(const place& which, const temporary_directory& in);

}  // namespace tenure::tests
