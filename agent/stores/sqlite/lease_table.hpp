#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/session.hpp"
#include "core/vocabulary.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/lease_path.hpp"
#include "stores/sqlite/order_table.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// Who asks. Instants in the file are those of `clock`, which all members must share: it is
/// CLOCK_BOOTTIME, and `boot_id` tells which boot of which kernel it belongs to.
struct member {
  std::string identity;
  std::string session;
  std::string boot_id;
  core::duration ttl{};
  std::function<core::time_point()> clock;
};

/// An election as it is asked for.
struct subject {
  std::string_view election;
  std::uint32_t slots = 1;
  /// The largest version seen in files that have since been replaced. Rows of ours up to it are
  /// copies of terms that are over.
  core::version floor = core::no_version;
};

/// A term that is to be renewed.
struct held_term {
  core::election_index which{};
  subject of;
  core::version term = core::no_version;
};

/// The rules of leasing as transactions on one open file. Blocks; knows no threads.
///
/// Table `lease` has a row for every held slot, `election` what outlives those: the newest
/// version, and `held`, the grants that were not released cleanly. Table `farewell` has the newest
/// release of each election that named its term. Orders are in a table of their own
/// (order_table.hpp).
///
/// A row counts while its boot is this one and its `expires_ns` lies ahead. A grant removes the
/// rows that do not count; as nothing else does, a member whose row is still there knows that
/// nothing was granted since it expired, and may renew it even then.
///
/// Let `live` be the number of rows that count. If `held` equals it, every holder before has
/// released, and the next grant is clean. If `held` is larger, that many holders have expired (or
/// an operator has deleted their rows) and may be stopping still. With several slots each of
/// them must be waited for once, so every grant that is not clean takes the place of *one*: it
/// leaves `held` as it is. A clean grant adds one to it and a clean release takes one off.
/// Workloads that run or may run are so never more than `held`, which is never more than `slots`.
///
/// Not thread-safe.
class lease_table {
 public:
  /// Opens the file and makes the tables if it is empty. Call with the directory locked.
  static std::expected<std::unique_ptr<lease_table>, std::string> open(const std::string& path,
                                                                       member self,
                                                                       patience waiting);
  ~lease_table();
  lease_table(const lease_table&) = delete;
  lease_table& operator=(const lease_table&) = delete;

  acquire_outcome acquire(const subject& what, core::version above, patience waiting);
  renew_outcome renew(std::span<const held_term> terms, patience waiting);
  release_outcome release(const subject& what, core::version term, const parting& how,
                          patience waiting);
  order_outcome leave_order(const subject& what, const core::left_order& order, patience waiting);
  order_outcome answer_order(const subject& what, const std::string& id,
                             const core::order_reply& reply, patience waiting);
  order_outcome drop_order(const subject& what, const std::string& id, patience waiting);
  /// All of them at one point of the file's history.
  std::expected<std::vector<core::observation>, unknown> read(std::span<const subject> what,
                                                              patience waiting);

  /// True once the name was found to lead to other files: what this table says no longer binds
  /// anybody.
  [[nodiscard]] bool replaced() const { return replaced_; }
  [[nodiscard]] const file_set& files() const { return files_; }
  /// Made with the file; versions can be compared within one of these only.
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }

 private:
  struct row {
    std::string session;
    std::string identity;
    core::version term = core::no_version;
    core::time_point expires_at{};
    bool clean = false;
  };
  struct counters {
    core::version newest = core::no_version;
    std::int64_t held = 0;
  };
  enum class access : std::uint8_t { read, write };

  lease_table(std::string path, member self, std::unique_ptr<connection> db);
  void prepare_statements();
  template <class Body>
  std::optional<unknown> transact(access how, std::string_view what, patience waiting, Body body);

  grant extend(const subject& what, const row& own, core::time_point now);
  grant take(const subject& what, core::version above, std::size_t live, core::time_point now);
  bool renew_one(const held_term& item, core::time_point now);
  std::vector<row> live_rows(const subject& what, core::time_point now);
  counters count(const subject& what);
  std::optional<core::farewell> farewell_of(const subject& what);
  core::observation observe(const subject& what, std::span<const row> live);
  [[nodiscard]] std::string sequencer(const subject& what, core::version term) const;

  std::string path_;
  member self_;
  std::unique_ptr<connection> db_;
  file_set files_;
  std::string cluster_id_;
  bool replaced_ = false;

  statement select_live_;
  statement select_counters_;
  statement delete_dead_;
  statement insert_lease_;
  statement store_counters_;
  statement extend_lease_;
  statement delete_own_;
  statement count_release_;
  statement store_farewell_;
  statement select_farewell_;
  std::optional<order_table> orders_;
};

}  // namespace tenure::stores::sqlite
