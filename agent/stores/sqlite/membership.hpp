#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"
#include "stores/sqlite/member_record.hpp"
#include "stores/sqlite/own_record.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// The directory with the members' files, beside the lease file at `path`.
std::string members_directory(const std::string& path);

/// Who takes part, as files beside the leases: `<path>-members/<32 hex digits>`, locked (flock) for
/// as long as its member lives. So a member that dies is gone at once, without a word and without a
/// heartbeat; the kernel closes its file, which inotify tells (IN_CLOSE_WRITE).
///
/// Each begins with the member's record, which tells those who find the lease file replaced until
/// when somebody may hold by the earlier one. The workload of a member that died may run on under
/// its guard until then, so its file stays for as long.
///
/// Files of the dead are deleted, so the directory is used only if it is ours
/// (base/trusted_open.hpp), and only files that have a member's name are touched.
///
/// Not thread-safe. Blocks for the disk alone.
class membership {
 public:
  /// The clock and the boot that instants in the files are of.
  struct times {
    std::string boot_id;
    std::function<core::time_point()> clock;
  };

  membership(const std::string& path, times by);
  ~membership() { leave(); }
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  /// Makes the directory, so that it can be watched. Or why it is not used, and what to do.
  [[nodiscard]] std::expected<void, std::string> prepare() const;

  /// Makes our file. It names the elections only if `announce`, and if they are no more than
  /// `most_announced`, as everybody reads it over and over.
  void appear(const std::string& identity, const std::vector<settings::election>& elections,
              bool announce);

  /// Our record as it is to be. What it promises binds only after `write`.
  [[nodiscard]] own_record& mine() { return mine_; }

  /// Writes our record down, if it has changed. Makes our file again if somebody has deleted it.
  /// False if it could not be written; true also where the directory cannot be used at all, which
  /// `prepare` has told.
  bool write();

  /// Disappears from the lists. The file stays while somebody may still hold by our leases.
  void leave();

  struct entry {
    std::string name;  ///< of the file
    bool alive = false;
    bool lasts = false;  ///< somebody may still hold by its leases
    member_page page;
  };
  /// The files of all members but us, in no order. Deletes what the dead have left and nobody can
  /// read.
  [[nodiscard]] std::vector<entry> others() const;

  /// Deletes those of them whose members are dead and whose leases are over, once our file says
  /// what they know. Called after a transaction: until then we do not know that the lease file, as
  /// it is, can be used.
  void forget_dead(const std::vector<entry>& others);

  /// Ours, whether it could be written or not.
  [[nodiscard]] member_page own_page() const;

  /// The identities of those that take part in this election, sorted.
  [[nodiscard]] std::vector<std::string> members_of(const std::vector<entry>& others,
                                                    std::string_view election) const;

  /// True if another living member of this election has our identity and came before us.
  [[nodiscard]] bool has_namesake(const std::vector<entry>& others,
                                  std::string_view election) const;

  static constexpr std::size_t most_announced = 100;

 private:
  bool make_file();
  [[nodiscard]] bool is_deleted() const;

  std::string directory_;
  times by_;
  member_page page_;  ///< without an identity: we have not appeared
  own_record mine_;
  member_record written_;
  std::string own_;  ///< name of our file; empty: there is none
  base::unique_fd lock_;
};

}  // namespace tenure::stores::sqlite
