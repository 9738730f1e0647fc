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
/// A file that was just made, a copy, and one that an older copy was written over do not know who
/// holds. The members' own files do, and members themselves.
struct file_history {
  file_identity file;
  /// Transactions of members in this file. One that counts less than somebody has seen in the very
  /// same file is an older copy, written over it.
  std::uint64_t commits = 0;
  /// Terms up to this version were granted in a file that was here before, and are over.
  core::version floor = core::no_version;
  /// Nothing is granted before this instant of the boot `boot_id`, by which all workloads that run
  /// by leases of a file that was here before are dead.
  core::time_point grants_from{};
  std::string boot_id;

  friend bool operator==(const file_history&, const file_history&) = default;
};

/// What is true of the file that a database was found in.
struct found_file {
  file_identity file;
  core::version newest = core::no_version;  ///< in any election, by the database
  std::string boot_id;                      ///< this one
  core::time_point now{};
};

/// The history that the database must have from now on, given what it says of itself (nothing: it
/// says nothing), and what the members know, this one among them. What it says, if that is right.
file_history judge(const std::optional<file_history>& said, const found_file& found,
                   std::span<const member_page> members);

/// The row of table `file`. Belongs to its connection. Not thread-safe.
class history_row {
 public:
  history_row() = default;
  explicit history_row(connection& db);

  /// Nothing if there is none, or if the connection has failed.
  std::optional<file_history> read();
  void write(const file_history& what);
  void count_commit() { count_commit_.run(); }

 private:
  statement select_;
  statement store_;
  statement count_commit_;
};

}  // namespace tenure::stores::sqlite
