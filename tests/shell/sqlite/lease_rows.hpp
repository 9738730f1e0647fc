#pragma once

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "etcd/modelled_etcd.hpp"
#include "stores/sqlite/connection.hpp"
#include "stores/sqlite/lease_path.hpp"
#include "world.hpp"

namespace tenure::shell {

/// The truth about leases: the rows of the lease file, whichever file has the name, compared with
/// what they were before. The judge hears of each row that comes or goes, and why.
///
/// A term whose file was replaced is not over when its row is gone: nobody may be granted anything
/// until the row would have run out, or the holder has said that nothing runs by it.
class lease_rows {
 public:
  /// What the judge calls a version: with SQLite each election counts for itself.
  using numbering = std::function<std::uint64_t(const std::string& election, std::uint64_t)>;

  lease_rows(world& in, store_witness& seen_by, std::string path, numbering numbers);

  /// Looks at the rows. `clock` and `boot_id` are those of the machine.
  /// `by_operator`: what is gone since the last look, a person has deleted.
  void look(const machine_clock& clock, const std::string& boot_id, bool by_operator = false);

  /// The file was replaced, or an older copy was written over it: no term of before goes on.
  void replaced();
  /// No term survives its boot, and no workload.
  void rebooted();
  /// Its holder says that nothing runs by this term.
  void gives_up(std::uint64_t number);
  /// Its member holds by this term from now on. One that was passed to it, and that it has never
  /// read, ends with its file: from another file it cannot be read any more.
  void taken_up(std::uint64_t number) { taken_up_.insert(number); }

  /// Until when any row has ever promised this lease.
  [[nodiscard]] world_time promised(std::int64_t lease) const;
  /// The largest version that was ever granted, and the largest that the file knows of now.
  [[nodiscard]] std::uint64_t newest() const { return newest_; }
  [[nodiscard]] std::uint64_t newest_in_file();
  /// What the judge calls the versions of those that hold now.
  [[nodiscard]] std::vector<std::uint64_t> holders(const std::string& election);
  /// When somebody came or went last, seen in `holders` or not.
  [[nodiscard]] world_time changed_at(const std::string& election) const;

 private:
  /// A copy of a row is the same row.
  struct name {
    std::string election;
    std::string session;
    std::uint64_t version = 0;
    std::int64_t acquired_ns = 0;

    friend auto operator<=>(const name&, const name&) = default;
  };
  struct seen_row {
    world_time until{};
    std::string identity;
  };
  struct row {
    std::int64_t lease = 0;
    std::uint64_t number = 0;
    world_time until{};
    bool passed = false;  ///< granted by the release of the one before
  };
  struct seen_holders {
    std::vector<std::uint64_t> numbers;
    world_time changed_at{};
  };

  [[nodiscard]] bool open();
  [[nodiscard]] bool read(const machine_clock& clock, const std::string& boot_id,
                          std::map<name, seen_row>& out);
  void read_agreements();
  [[nodiscard]] bool was_released(const name& which);
  /// The number of a lease of this session.
  [[nodiscard]] std::int64_t next_lease(const std::string& session);
  void end(const name& which, const row& what, erased_by how);
  void end_later(const name& which, const row& what);
  void fade(std::uint64_t number, erased_by how = erased_by::expiry);

  world& world_;
  store_witness& witness_;
  std::string path_;
  numbering numbers_;
  std::unique_ptr<stores::sqlite::connection> db_;
  stores::sqlite::statement all_;  ///< rows of one boot
  stores::sqlite::statement agreements_;
  stores::sqlite::statement releases_;           ///< the newest of an election
  std::map<std::string, std::uint32_t> agreed_;  ///< slots, as last read
  stores::sqlite::file_set files_;
  std::map<name, row> rows_;              ///< of terms that go on
  std::set<name> ended_;                  ///< rows that mean nothing any more
  std::set<name> back_;                   ///< of those, what a restore has brought back
  std::map<std::uint64_t, name> fading_;  ///< by number: of a replaced file, and not yet run out
  std::set<std::uint64_t> given_up_;      ///< by number
  std::set<std::uint64_t> taken_up_;      ///< the same
  std::map<std::int64_t, world_time> promised_;
  std::map<std::string, seen_holders> seen_;
  std::map<std::string, std::int64_t> sessions_;  ///< their numbers
  std::int64_t last_lease_ = 0;
  std::uint64_t newest_ = 0;
  std::shared_ptr<bool> here_ = std::make_shared<bool>(true);
};

}  // namespace tenure::shell
