#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/version.hpp"
#include "stores/sqlite/connection.hpp"

namespace tenure::stores::sqlite {

/// Table `place`: for each election the one member that comes next, and is granted the lease by the
/// holder's release. A row of an earlier boot does not count.
///
/// Each call is part of a transaction that the caller has begun. Not thread-safe.
class place_table {
 public:
  /// Precondition: the table exists (lease_schema.hpp).
  place_table(connection& on, std::string boot_id);

  struct place {
    std::string session;
    std::string identity;
    core::duration ttl{};  ///< how long what its member is granted lasts
    /// Set aside for what it is granted: larger than all that were granted before it was written,
    /// and smaller than all others after. `no_version`: an earlier release has written it.
    core::version version = core::no_version;
  };
  std::optional<place> find(std::string_view election);
  /// Writes it, in place of any other.
  void take(std::string_view election, const place& what);
  /// Deletes the place of this session, if it has one.
  void leave(std::string_view election, std::string_view session);

 private:
  std::string boot_id_;
  statement select_;
  statement store_;
  statement delete_;
};

}  // namespace tenure::stores::sqlite
