#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/snapshot.hpp"
#include "core/vocabulary.hpp"

namespace tenure::runtime {

/// The former members of an election, as far as this agent has seen them. A member that dies
/// disappears from the store's list, and otherwise nobody would notice.
///
/// Not thread-safe; but the object that `gone` returns never changes.
class member_log {
 public:
  /// How many are remembered: names of pods are not used again.
  static constexpr std::size_t most_gone = 8;

  /// The watch shows these members at `unix_ms`; nothing: the store does not list members. True if
  /// the list of gone members has changed.
  bool observed(const std::optional<core::member_list>& members, std::int64_t unix_ms);

  /// Newest first; null: no gone members.
  [[nodiscard]] const std::shared_ptr<const api::gone_list>& gone() const { return gone_; }

 private:
  core::member_list present_;
  std::shared_ptr<const api::gone_list> gone_;
};

}  // namespace tenure::runtime
