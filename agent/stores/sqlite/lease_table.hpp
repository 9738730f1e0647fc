#pragma once

#include <algorithm>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/lease_group.hpp"
#include "core/vocabulary.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/file_history.hpp"
#include "stores/sqlite/lease_path.hpp"
#include "stores/sqlite/line.hpp"
#include "stores/sqlite/membership.hpp"
#include "stores/sqlite/order_table.hpp"
#include "stores/sqlite/place_table.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// The member that asks. Instants in the file are those of `clock`, which all members must share:
/// it is CLOCK_BOOTTIME, and `boot_id` says which boot of which kernel it belongs to.
struct member {
  std::string identity;
  std::string session;
  std::string boot_id;
  core::duration ttl{};
  std::function<core::time_point()> clock;
};

/// An election as the caller names it.
struct subject {
  std::string_view election;
  std::uint32_t slots =
      1;  ///< by our settings; an agreed number in the table `agreement` takes precedence
};

/// A term to renew.
struct held_term {
  core::election_index which{};
  subject of;
  core::version version = core::no_version;
};

/// What a read has found of an election.
struct looked {
  core::observation seen;
  /// A term of our own session, as if it had been extended when it really was.
  std::optional<grant> own;
  place_state place = place_state::other;
};

/// The rules of leases, as transactions on one open file. Blocks; knows no threads.
///
/// Table `lease` has a row for every held slot. Table `election` has what outlives those rows: the
/// newest version, and `held`, the number of grants that were not released cleanly. Table
/// `place` has the member that comes next (place_table.hpp), and `farewell` the newest release of
/// each election that named its term; `agreement` the number of slots of each election, as it was
/// set by the last one that took a slot while nobody held; `file` what the database knows of its
/// file (file_history.hpp). Orders have a table of their own (order_table.hpp).
///
/// A row counts while its boot is the present one and its `expires_ns` lies ahead. A grant removes
/// the rows that do not count, and nothing else does: a member whose row is still there knows that
/// nothing was granted since it expired, and may renew it even then.
///
/// Let `live` be the number of rows that count. If `held` equals `live`, every earlier holder has
/// released, and the next grant is clean. If `held` is larger, that many holders have expired (or
/// an operator has deleted their rows) and may still be stopping: as many of the free slots are in
/// doubt (core::vacancies). So there are never more workloads that run or may run than `held`,
/// which never exceeds the slots. If the newest version of an election is below one that is known
/// to have been granted, this file does not know who held: all its free slots are in doubt.
///
/// A grant or renewal is answered only after its promise is in our member's file.
///
/// Not thread-safe.
class lease_table {
 public:
  /// Opens the file, makes the tables if it is empty, and judges whether it knows who holds. Call
  /// with the directory locked. `beside` must outlive the table.
  static std::expected<std::unique_ptr<lease_table>, std::string> open(const std::string& path,
                                                                       member self,
                                                                       membership& beside,
                                                                       patience waiting);
  ~lease_table();
  lease_table(const lease_table&) = delete;
  lease_table& operator=(const lease_table&) = delete;

  acquire_outcome acquire(const subject& what, core::version above, patience waiting);
  renew_outcome renew(std::span<const held_term> terms, patience waiting);
  release_outcome release(const subject& what, core::version version, const release_details& how,
                          patience waiting);
  release_outcome end_term(const subject& what, const core::holder& whose,
                           const release_details& how, patience waiting);
  /// Writes our places in the elections of `stand`, as far as somebody else holds the one slot, and
  /// deletes those in the elections of `leave`. Nothing: that is done.
  std::optional<unknown> line_up(std::span<const subject> stand, std::span<const subject> leave,
                                 patience waiting);
  order_outcome leave_order(const subject& what, const core::left_order& order, patience waiting);
  order_outcome answer_order(const subject& what, const std::string& id,
                             const core::order_reply& reply, patience waiting);
  order_outcome drop_order(const subject& what, const std::string& id, patience waiting);
  /// Reads all of them at one point of the file's history.
  std::expected<std::vector<looked>, unknown> read(std::span<const subject> what, patience waiting);

  /// True once the name was found to lead to other files: from then on, what this table says binds
  /// nobody.
  [[nodiscard]] bool replaced() const { return replaced_; }
  [[nodiscard]] const file_set& files() const { return files_; }
  /// Made with the file. Versions are comparable only within one cluster id.
  [[nodiscard]] const std::string& cluster_id() const { return cluster_id_; }
  /// Nothing is granted before this instant; in the past if there is nothing to wait for.
  [[nodiscard]] core::time_point grants_from() const;

 private:
  struct row {
    std::string session;
    std::string identity;
    core::version version = core::no_version;
    core::time_point expires_at{};
    bool clean = false;
    std::uint32_t slot = 0;
  };
  struct counters {
    core::version newest = core::no_version;
    std::int64_t held = 0;
  };
  enum class access : std::uint8_t {
    read,
    write,
    lazy_write,  ///< see connection::write_lazily; may make no version
  };

  lease_table(std::string path, member self, membership& beside, std::unique_ptr<connection> db);
  void prepare_statements();
  template <class Body>
  std::optional<unknown> transact(access how, std::string_view what, patience waiting, Body body);
  void settle_history(patience waiting);
  void begin(access how);
  void saw_version(core::version newest) { seen_ = std::max(seen_, newest); }
  bool check_history(access how);

  grant extend(const subject& what, const row& own, core::time_point now);
  struct taker {
    std::string_view session;
    std::string_view identity;
    core::duration ttl{};
    core::version version = core::no_version;  ///< `no_version`: the next one
  };
  grant take(const subject& what, core::version above, std::span<const row> holders,
             core::time_point now);
  row give(const taker& to, const subject& what, core::version above, std::span<const row> holders,
           core::time_point now);
  grant grant_of(const subject& what, const row& own);
  std::optional<grant> own_term(const subject& what, std::span<const row> live);
  [[nodiscard]] bool may_stand(const subject& what, std::uint32_t agreed,
                               std::span<const row> live) const;
  void look_at_place(const subject& what, std::span<const row> live,
                     const std::optional<place_table::place>& next, looked& out);
  core::version next_version(const counters& before, core::version above);
  core::version set_aside(const subject& what);
  [[nodiscard]] bool is_set_aside(const place_table::place& next, core::version ended) const;
  bool needs_new_version(const subject& what, core::version ended, patience waiting);
  /// Whose term ends.
  struct leaver {
    std::string session;
    std::string identity;
  };
  release_outcome end(const subject& what, core::version version, const release_details& how,
                      patience waiting, const std::function<std::optional<leaver>()>& find);
  void pass_on(const subject& what, core::version ended, const leaver& by,
               const release_details& how, core::time_point now, access with);
  bool renew_one(const held_term& item, core::time_point now);
  std::vector<row> live_rows(const subject& what, core::time_point now);
  counters count(const subject& what);
  std::optional<core::release_record> last_release_of(const subject& what);
  std::uint32_t agreed_slots(const subject& what);
  std::uint32_t slots_of(const subject& what);
  core::observation observe(const subject& what, std::span<const row> live,
                            const std::optional<place_table::place>& next, core::time_point now);
  [[nodiscard]] std::string sequencer(const subject& what, core::version version) const;

  std::string path_;
  member self_;
  membership& beside_;
  std::unique_ptr<connection> db_;
  file_set files_;
  std::string cluster_id_;
  bool replaced_ = false;
  // For the present transaction:
  file_history history_;                   ///< as read
  std::vector<membership::entry> others_;  ///< all other members, if it may write
  core::version seen_ = core::no_version;  ///< the newest that it has read or made

  statement select_live_;
  statement select_counters_;
  statement delete_dead_;
  statement insert_lease_;
  statement store_counters_;
  statement extend_lease_;
  statement delete_term_;
  statement count_release_;
  statement store_release_;
  statement select_release_;
  statement select_agreement_;
  statement store_agreement_;
  history_row history_row_;
  std::optional<order_table> orders_;
  std::optional<place_table> places_;
};

}  // namespace tenure::stores::sqlite
