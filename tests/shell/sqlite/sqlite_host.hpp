#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/unique_fd.hpp"
#include "sqlite/lease_rows.hpp"
#include "world.hpp"

namespace tenure::shell {

/// What waits for a descriptor to become readable.
class modelled_readiness;

/// One machine with a lease file on it, for all pods of a world: its disk, its clock, its boot, and
/// the people and programs that touch the file beside the agents.
///
/// The file is a real one, in a directory of its own in memory, and so are the -wal, the members'
/// files, the locks and inotify: what agents do to them is carried out by SQLite and the kernel as
/// it ships. What takes time, and what fails, is modelled.
class sqlite_host {
 public:
  sqlite_host(world& in, store_witness& seen_by, lease_rows::numbering numbers);
  ~sqlite_host();
  sqlite_host(const sqlite_host&) = delete;
  sqlite_host& operator=(const sqlite_host&) = delete;

  [[nodiscard]] const std::string& path() const { return path_; }
  [[nodiscard]] const std::string& boot_id() const { return boot_id_; }
  [[nodiscard]] const machine_clock& clock() const { return clock_; }
  [[nodiscard]] lease_rows& rows() { return rows_; }

  /// Something may have been written.
  void look();

  /// The file knows all versions that were granted. Until then a member that knows them must not
  /// leave: nobody would (docs/safety.md).
  [[nodiscard]] bool file_knows() { return rows_.newest_in_file() >= rows_.newest(); }

  /// Another boot. Precondition: no process runs.
  void reboot();

  // What agents meet.
  core::duration longest_start{};  ///< before a job is begun, beyond what is usual
  core::duration longest_write{};  ///< of one write
  core::duration longest_reply{};  ///< from the end of a job until the agent hears of it
  core::duration longest_event{};  ///< until inotify wakes an agent
  int disk_error = 0;              ///< of every write, as errno says it; 0: none
  [[nodiscard]] core::duration takes(core::duration usually, core::duration longest);
  void healed();

  // What people and other programs do. All of it may find the file locked, and is not done then.
  /// A program holds the lock of the file until `release_lock`.
  void take_lock();
  void release_lock();
  /// A row of an election that holds is deleted.
  void delete_row(const std::string& election);
  /// A copy of the file as it is now is kept.
  void keep_copy();
  enum class others_too : bool { no, yes };
  /// `yes`: with its -wal and -shm.
  void remove_file(others_too with);
  void replace_by_empty();
  /// An older copy takes its place.
  void replace_by_copy();
  /// An older copy is written over it, as `.restore` does: the file is the same.
  void restore_over();

  /// Has those woken for whom inotify has something.
  void wake_readers();
  void add(modelled_readiness& one) { waiting_.push_back(&one); }
  void remove(modelled_readiness& one) { std::erase(waiting_, &one); }

 private:
  [[nodiscard]] std::unique_ptr<stores::sqlite::connection> connect() const;
  [[nodiscard]] std::string draw_copy();
  void keep_inode();
  void put_in_place(const std::string& from);

  world& world_;
  std::string directory_;
  std::string path_;
  machine_clock clock_;
  std::string boot_id_ = "boot-1";
  int boots_ = 1;
  lease_rows rows_;
  std::unique_ptr<stores::sqlite::connection> lock_;
  std::vector<std::string> copies_;
  /// Of files that had the name: so that their inodes are not used again, as those of a disk would
  /// not be within milliseconds.
  std::vector<base::unique_fd> kept_;
  /// After the last `restore_over`: how many files had the name before, and the file's count.
  std::optional<std::pair<std::size_t, std::int64_t>> restored_;
  std::vector<modelled_readiness*>
      waiting_;  ///< by age, as chance is drawn for one after the other
};

}  // namespace tenure::shell
