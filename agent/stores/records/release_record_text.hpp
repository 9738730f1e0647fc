#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "stores/store.hpp"

/// The value of an election's release record. Pure.
namespace tenure::stores {

/// What the record says.
struct stored_release {
  core::release_record said;
  bool clean = false;  ///< nothing of this or of an earlier term still runs
};

/// `TERM clean|unclean REASON UNIX_MS HOLDER [HEIR]`, names percent-encoded. Earlier agents wrote
/// `TERM` alone, only after clean releases; they read every longer record as unclean.
std::string release_record_text(core::version version, const std::string& holder,
                                const release_details& how);

/// Nothing if `record` is not a release record: a foreign value vouches for nothing.
std::optional<stored_release> parse_release_record(std::string_view record);

}  // namespace tenure::stores
