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
  /// The place whose member was told so, and may have begun a term before the release; see
  /// core::word. `no_version`: nobody was told.
  core::version told = core::no_version;
};

/// `TERM clean|unclean REASON UNIX_MS HOLDER [HEIR [TOLD]]`, names percent-encoded, HEIR empty if
/// there is none. Earlier agents wrote `TERM` alone, only after clean releases, and read every
/// longer record as unclean; later ones wrote no TOLD, and read a record with it as none.
std::string release_record_text(core::version version, const std::string& holder,
                                const release_details& how, core::version told = core::no_version);

/// Nothing if `record` is not a release record: a foreign value vouches for nothing.
std::optional<stored_release> parse_release_record(std::string_view record);

}  // namespace tenure::stores
