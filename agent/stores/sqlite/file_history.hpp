#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/lease_path.hpp"
#include "stores/sqlite/member_record.hpp"

namespace tenure::stores::sqlite {

/// What a database says of the file that it is in (table `file`).
///
/// A new file, a copy, and a file overwritten by an older copy do not know who holds. The members,
/// and the files that they keep, do.
struct file_history {
  file_identity file;
  /// Transactions of members in this file. If a member has seen more in the very same file, then an
  /// older copy was written over it.
  std::uint64_t commits = 0;
  /// Terms up to this version were granted in an earlier file, and are over.
  core::version floor = core::no_version;
  /// Nothing is granted before this instant of the boot `boot_id`. By then, all workloads that run
  /// under leases of an earlier file are dead.
  core::time_point grants_from{};
  std::string boot_id;

  friend bool operator==(const file_history&, const file_history&) = default;
};

/// Facts about the file that a database was found in.
struct found_file {
  file_identity file;
  core::version newest = core::no_version;  ///< by our settings; an agreed number in the table
                                            ///< `agreement` takes precedence
  std::string boot_id;                      ///< the present boot's id
  core::time_point now{};
};

/// The history that the database must have from now on. `said`: what the database says of itself,
/// if anything; `known`: what the members know, this one included. Returns `said` if that is right.
file_history judge(const std::optional<file_history>& said, const found_file& found,
                   std::span<const member_page> members);

/// The row of table `file`. Belongs to its connection. Not thread-safe.
class history_row {
 public:
  history_row() = default;
  explicit history_row(connection& db);

  /// Nothing if there is no such row, or if the connection has failed.
  std::optional<file_history> read();
  void write(const file_history& what);
  void count_commit() { count_commit_.run(); }

 private:
  statement select_;
  statement store_;
  statement count_commit_;
};

}  // namespace tenure::stores::sqlite
