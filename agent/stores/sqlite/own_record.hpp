#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "stores/sqlite/member_record.hpp"

namespace tenure::stores::sqlite {

/// The record of this member, updated by its transactions. Not thread-safe.
class own_record {
 public:
  [[nodiscard]] const member_record& value() const { return value_; }

  /// Notes that this commit of this file was seen.
  void saw_commit(const file_identity& file, std::uint64_t commits) {
    value_.file = file;
    value_.commits = commits;
  }

  void saw_version(core::version newest) { value_.newest = std::max(value_.newest, newest); }

  /// Notes that a lease until `until` is about to be granted or extended.
  void promised(std::string_view election, core::time_point until) {
    if (const auto known = promises_.find(election); known != promises_.end()) {
      known->second = std::max(known->second, until);
    } else {
      promises_.emplace(election, until);
    }
    value_.until = std::max(value_.until, until);
  }

  /// Notes that nothing runs any more under a lease of this election.
  void released(std::string_view election) {
    const auto known = promises_.find(election);
    if (known == promises_.end()) return;
    promises_.erase(known);
    const auto is_last = [this](const auto& one) { return one.second == value_.until; };
    // Leases are renewed together, so the first one looked at probably lasts as long.
    if (std::ranges::any_of(promises_, is_last)) return;
    value_.until = {};
    for (const auto& [name, until] : promises_) value_.until = std::max(value_.until, until);
  }

 private:
  member_record value_;
  std::map<std::string, core::time_point, std::less<>> promises_;  ///< by election
};

}  // namespace tenure::stores::sqlite
