#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "stores/records/readiness_text.hpp"
#include "stores/sqlite/lease_path.hpp"

namespace tenure::stores::sqlite {

/// What a member knows of the lease file, and keeps outside of it: a file that was deleted,
/// replaced or overwritten no longer knows who holds.
struct member_record {
  file_identity file;         ///< the file that `commits` counts
  std::uint64_t commits = 0;  ///< the newest that it has seen in that file (file_history)
  core::version newest =
      core::no_version;  ///< the largest that it has seen granted in any election
  /// From this instant on, no workload runs under a lease of this member.
  core::time_point until{};

  friend bool operator==(const member_record&, const member_record&) = default;
};

/// The contents of a member's file.
struct member_page {
  member_record record;
  std::string boot_id;            ///< the boot of `record.until` and `started_at`
  core::time_point started_at{};  ///< when the member opened the lease file for the first time
  std::string identity;
  std::vector<std::string>
      elections;  ///< where the member is listed; empty: it does not announce itself

  friend bool operator==(const member_page&, const member_page&) = default;
};

/// What a member says of itself, by the names of the elections in which it is listed. It is in a
/// file of its own beside the page: earlier releases do not write it, and do not read it.
using member_words = all_readiness;

/// Lines of `READINESS ELECTION` (readiness_text.hpp), and after each a line `slots N ELECTION`,
/// which earlier releases do not write.
std::string text_of(const member_words& all);

/// What can be read of it.
member_words parse_words(std::string_view text);

/// The first line of the page, always of the same length, so that it can be overwritten in place.
/// It says everything twice: a reader that reads it during a write sees two different halves.
std::string text_of(const member_record& record);

std::string text_of(const member_page& page);

/// Nothing if `text` is not a member's page, or is being written at this moment.
std::optional<member_page> parse_page(std::string_view text);

}  // namespace tenure::stores::sqlite
