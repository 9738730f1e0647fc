#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "http/http_message.hpp"

namespace tenure::shell {

/// One state of one Lease.
struct stored_lease {
  nlohmann::json object;
  std::string name{};
  std::string election{};      ///< of its label; empty: it has none
  std::uint64_t revision = 0;  ///< of the write that made this state
  std::string text{};          ///< `object`, as it is sent
};
using lease_state = std::shared_ptr<const stored_lease>;

/// What one write has made of a Lease; null: there is none.
struct lease_change {
  std::uint64_t revision = 0;
  std::string name;
  lease_state before;
  lease_state after;
};

/// Which Leases a list or a watch is of.
class lease_selector {
 public:
  /// By the `fieldSelector` or the `labelSelector` of a request.
  explicit lease_selector(const http::request_target& of);

  [[nodiscard]] bool selects(const lease_state& one) const;

 private:
  bool all_ = false;
  std::string name_;
  std::vector<std::string> elections_;
};

/// What an API server answers.
struct api_answer {
  unsigned status = 200;
  std::string body;
};

/// A metav1.Status of an error. `kind`: of the object that is missing.
std::string api_failure(unsigned code, const std::string& reason, const std::string& message,
                        const std::string& kind = "leases");

/// The Leases of one namespace as etcd keeps them for API servers, and how they came to be. Each
/// write has a revision of its own, which is the resourceVersion of what it makes. A copy is a
/// backup.
class lease_objects {
 public:
  [[nodiscard]] std::uint64_t revision() const { return revision_; }
  [[nodiscard]] const std::map<std::string, lease_state>& all() const { return leases_; }
  /// Null: there is no such Lease.
  [[nodiscard]] lease_state find(const std::string& name) const;
  /// Of all writes since the beginning, or since the last restore.
  [[nodiscard]] const std::vector<lease_change>& changes() const { return changes_; }

  /// The body of a GET of these Leases, or of those that there were at a revision.
  [[nodiscard]] std::string list(const lease_selector& of) const;
  [[nodiscard]] std::string list_as_of(const lease_selector& of, std::uint64_t revision) const;

  // What clients ask for.
  api_answer create(const std::string& body, std::int64_t now_ms, bool dry_run);
  /// RFC 6902.
  api_answer patch(const std::string& name, const std::string& body);
  api_answer put(const std::string& name, const std::string& body);
  api_answer erase(const std::string& name, const std::string& body);

  /// Whoever it is, whatever it is; false if there is no such Lease.
  bool edit(const std::string& name, const std::function<void(nlohmann::json&)>& by);
  bool remove(const std::string& name);
  /// Others write so many other objects.
  void raise(std::uint64_t by) { revision_ += by; }

  /// What a backup had is there again, with revisions that are raised by so much. No identity of an
  /// object is given twice.
  void restore(const lease_objects& backup, std::uint64_t raised_by);

 private:
  void keep(nlohmann::json object);
  void drop(const std::string& name);
  [[nodiscard]] std::string listed(const std::vector<lease_state>& what,
                                   std::uint64_t revision) const;

  std::uint64_t revision_ = 1;
  std::uint64_t made_ = 0;
  std::map<std::string, lease_state> leases_;
  std::vector<lease_change> changes_;
};

}  // namespace tenure::shell
