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

/// The directory of the members' files, beside the lease file at `path`.
std::string members_directory(const std::string& path);

/// The members, as files beside the leases: `<path>-members/<32 hex digits>`, locked (flock) for as
/// long as the member lives. A member that dies is gone at once, without a message or a heartbeat:
/// the kernel closes its file, and inotify reports that (IN_CLOSE_WRITE).
///
/// Each file begins with the member's record. It tells those who find the lease file replaced until
/// when somebody may hold by the earlier one. The workload of a dead member may run on under its
/// guard until then, so its file stays for as long.
///
/// Beside it is `<its name>.ready` with what the member says of itself. It has no lock and goes
/// with the member's file.
///
/// We delete files of dead members. So we use the directory only if it is ours
/// (base/trusted_open.hpp), and touch only files that have a member's name.
///
/// Not thread-safe. Blocks for the disk only.
class membership {
 public:
  /// The clock and the boot to which instants in the files belong.
  struct times {
    std::string boot_id;
    std::function<core::time_point()> clock;
  };

  membership(const std::string& path, times by);
  ~membership() { leave(); }
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  /// Makes the directory, so that it can be watched. The error says why it is not used, and what to
  /// do.
  [[nodiscard]] std::expected<void, std::string> prepare() const;

  /// Makes our file. It names the elections only if `announce` is set and they are no more than
  /// `most_announced`, as every member reads it again and again.
  void appear(const std::string& identity, const std::vector<settings::election>& elections,
              bool announce);

  /// What we say of ourselves in this election from now on. If it cannot be written, `repeat_words`
  /// tries again.
  void say(std::string_view election, const core::readiness& what);
  void repeat_words();

  /// Our record as it is to be written. What it promises is binding only after `write`.
  [[nodiscard]] own_record& mine() { return mine_; }

  /// Writes our record if it has changed. Makes our file again if somebody has deleted it. False if
  /// the write fails; true also if the directory cannot be used at all, which `prepare` reports.
  bool write();

  /// Removes us from the lists. The file stays while somebody may still hold by our leases, or if
  /// the lease file that we know was deleted or replaced: then nothing else may know what was
  /// granted.
  void leave();

  struct entry {
    std::string name;  ///< the file's name
    bool alive = false;
    bool lasts = false;  ///< a workload may still run under its leases
    member_page page;
    member_words words{};  ///< empty for a dead member
  };
  /// The files of all members but us, in no order. Deletes files of dead members that nobody can
  /// read.
  [[nodiscard]] std::vector<entry> others() const;

  /// Deletes those of `others` whose members are dead and whose leases are over, once our file says
  /// what they know; while we have none, nothing is deleted. Call after a transaction: until then,
  /// we do not know whether the lease file is usable as it is.
  void forget_dead(const std::vector<entry>& others);

  /// Our page, even if it could not be written.
  [[nodiscard]] member_page own_page() const;

  [[nodiscard]] core::member_list members_of(const std::vector<entry>& others,
                                             std::string_view election) const;

  /// True if another living member of this election has our identity and came before us.
  [[nodiscard]] bool has_namesake(const std::vector<entry>& others,
                                  std::string_view election) const;

  /// True if a living member of this election among `others` has this identity.
  [[nodiscard]] static bool is_listed(const std::vector<entry>& others, std::string_view identity,
                                      std::string_view election);

  static constexpr std::size_t most_announced = 100;

 private:
  bool make_file();
  void write_words();
  [[nodiscard]] bool is_deleted() const;
  [[nodiscard]] bool is_in_the_lease_file(const member_record& known) const;

  std::string path_;  ///< the lease file's
  std::string directory_;
  times by_;
  member_page page_;  ///< without an identity: `appear` was not called yet
  own_record mine_;
  member_record written_;
  member_words words_;          ///< ours
  bool words_are_new_ = false;  ///< they are to be written yet
  std::string own_;             ///< name of our file; empty: no file
  base::unique_fd lock_;
};

}  // namespace tenure::stores::sqlite
