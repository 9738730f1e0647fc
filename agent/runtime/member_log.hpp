#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/snapshot.hpp"

namespace tenure::runtime {

/// Who has taken part in an election and does not any more, as far as this agent has seen. A member
/// that dies vanishes from the store's list, and would be missed by nobody.
///
/// Not thread-safe; but what `gone` returned is never changed.
class member_log {
 public:
  /// How many are remembered: names of pods never come back.
  static constexpr std::size_t most_gone = 8;

  /// The watch shows these, at `unix_ms`; nothing where the store cannot tell. True if that changes
  /// who is gone.
  bool observed(const std::optional<std::vector<std::string>>& members, std::int64_t unix_ms);

  /// The newest first; null: nobody is.
  [[nodiscard]] const std::shared_ptr<const api::gone_list>& gone() const { return gone_; }

 private:
  std::vector<std::string> present_;
  std::shared_ptr<const api::gone_list> gone_;
};

}  // namespace tenure::runtime
