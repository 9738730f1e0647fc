#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenure::core {

/// What a member says of itself in its entry in the list of members. The order in which members
/// come next is computed from it (core/succession.hpp).
struct readiness {
  /// Since when it could take the lease, by its own wall clock; 0: it could not now.
  std::int64_t since_unix_ms = 0;
  std::int32_t priority = 0;         ///< members of higher priority come first
  std::int64_t started_unix_ms = 0;  ///< when its agent started, by its own wall clock
  /// The number of slots that it is set up for; 0: it has not said, or is of an earlier release.
  std::uint32_t slots = 0;

  friend bool operator==(const readiness&, const readiness&) = default;
};

/// A member that the store lists.
struct member {
  std::string identity;
  std::optional<readiness> says{};  ///< nothing: its agent is of an earlier release

  friend bool operator==(const member&, const member&) = default;
};

/// All members of an election, holders or not, in the order of their identities, each of which
/// occurs once.
///
/// A list never changes, and copies share it: with a thousand members, each observation, view and
/// snapshot has one. Any number of threads may read it.
class member_list {
 public:
  using value_type = member;
  using const_iterator = std::vector<member>::const_iterator;

  member_list() = default;
  /// In any order. Of several entries with one identity, that of the newest run counts.
  member_list(std::vector<member> all);  // NOLINT(google-explicit-constructor): a list is one

  [[nodiscard]] const_iterator begin() const { return all().begin(); }
  [[nodiscard]] const_iterator end() const { return all().end(); }
  [[nodiscard]] std::size_t size() const { return all().size(); }
  [[nodiscard]] bool empty() const { return all().empty(); }
  [[nodiscard]] const member& operator[](std::size_t i) const { return all()[i]; }

  /// The member of this identity; nullptr if there is none. Valid as long as the list.
  [[nodiscard]] const member* find(std::string_view identity) const;

  friend bool operator==(const member_list& a, const member_list& b) {
    return a.all_ == b.all_ || a.all() == b.all();
  }

 private:
  [[nodiscard]] const std::vector<member>& all() const;

  std::shared_ptr<const std::vector<member>> all_;  ///< null: empty
};

}  // namespace tenure::core
