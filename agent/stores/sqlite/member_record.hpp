#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "stores/sqlite/lease_path.hpp"

namespace tenure::stores::sqlite {

/// What a member knows of the lease file, and keeps outside of it: a file that was deleted,
/// replaced or overwritten does not know any more who holds.
struct member_record {
  file_identity file;         ///< the one that `commits` is of
  std::uint64_t commits = 0;  ///< the newest that it has seen there (file_history)
  core::version newest =
      core::no_version;  ///< the largest in any election that it has seen granted
  /// No workload runs by a lease of this member from this instant on.
  core::time_point until{};

  friend bool operator==(const member_record&, const member_record&) = default;
};

/// A member's file.
struct member_page {
  member_record record;
  std::string boot_id;            ///< that `record.until` and `started_at` belong to
  core::time_point started_at{};  ///< when the member has opened the lease file first
  std::string identity;
  std::vector<std::string> elections;  ///< that it is listed in; empty: it does not announce itself

  friend bool operator==(const member_page&, const member_page&) = default;
};

/// The first line of the page, always of the same length, so that it can be overwritten. It says
/// everything twice: who reads it while it is written sees that the two differ.
std::string text_of(const member_record& record);

std::string text_of(const member_page& page);

/// Nothing if this is no such page, or one that is just being written.
std::optional<member_page> parse_page(std::string_view text);

}  // namespace tenure::stores::sqlite
