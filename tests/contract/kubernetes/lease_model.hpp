#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "kubernetes_status.hpp"

namespace tenure::tests {

/// Leases of the namespace "default", as an API server keeps them. Nothing in it checks a token or
/// runs out. Not thread-safe; a copy is a backup.
class lease_model {
 public:
  struct reply {
    int status = 200;
    nlohmann::json body{};
  };
  struct event {
    std::uint64_t version = 0;
    nlohmann::json what;
  };

  /// The name of a request: "version"; "list" and "watch" of Leases; "get", "create", "try" (a
  /// creation with dryRun), "write" (a PATCH) and "delete" of one; "review" of what we may do.
  static std::string name_of(const std::string& method, const std::string& target);

  /// Carries a request out; not "watch".
  reply answer(const std::string& method, const std::string& target, const std::string& body);

  /// Where the watch with this target begins, and what it shows after a version.
  static std::uint64_t begin_of(const std::string& target);
  [[nodiscard]] std::vector<event> events_after(std::uint64_t version,
                                                const std::string& target) const;

  /// Writes a Lease as another program would, or an operator.
  void put(const std::string& name, const nlohmann::json& spec);
  /// Gives a Lease these annotations, or labels, too; null takes one off.
  void merge(const std::string& name, const nlohmann::json& metadata);
  void remove(const std::string& name);
  /// The Lease with this name; null if there is none.
  [[nodiscard]] nlohmann::json lease(const std::string& name) const;
  [[nodiscard]] std::uint64_t version() const { return version_; }

 private:
  [[nodiscard]] nlohmann::json listed(const std::string& target) const;
  void keep(nlohmann::json lease, const char* type);
  [[nodiscard]] reply try_to_create(nlohmann::json lease) const;
  reply create(nlohmann::json lease);
  reply patch(const std::string& name, const nlohmann::json& operations);
  reply erase(const std::string& name, const nlohmann::json& options);

  std::map<std::string, nlohmann::json> leases_;
  std::vector<event> events_;
  std::uint64_t version_ = 5;
  std::uint64_t made_ = 0;
};

/// The answer to a SelfSubjectAccessReview.
nlohmann::json review(bool allowed);
/// The answer to a creation in a namespace that does not exist.
std::string no_namespace_json();

}  // namespace tenure::tests
