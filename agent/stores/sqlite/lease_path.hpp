#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "stores/sqlite/connection.hpp"

/// The lease file as a name in a directory: where it is, which file the name leads to now, and
/// who may make or replace it.
namespace tenure::stores::sqlite {

/// The absolute path in `endpoints`: exactly one, as a path or a file:// URL.
std::expected<std::string, std::string> path_of(const std::vector<std::string>& endpoints);

/// The directory that a file is in, and its name there.
struct split_path {
  std::string directory;
  std::string name;
};
split_path split(const std::string& path);

/// Which file a name leads to.
struct file_id {
  dev_t device = 0;
  ino_t inode = 0;  ///< 0: none

  friend bool operator==(const file_id&, const file_id&) = default;
};

/// Which file a database was made in. It tells a file from its copies, for as long as the file
/// lives; `file_id` does so only while somebody has it open, as inodes are used again.
struct file_identity {
  std::uint64_t inode = 0;  ///< 0: none
  /// When it was made, in nanoseconds of the wall clock, or its device where the file system does
  /// not record that.
  std::uint64_t mark = 0;

  friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// The identity of the file that `path` leads to. Does not open it (see file_set::look).
file_identity identify(const std::string& path);

/// The three files of a database in WAL mode. Processes exclude each other only while all of
/// them have the same three open: the locks are on -shm, the newest commits in -wal.
class file_set {
 public:
  static constexpr std::array<const char*, 3> suffixes{"", "-wal", "-shm"};

  /// What the names lead to now. Never opens the files: POSIX locks of this process would be
  /// dropped when such a descriptor is closed.
  static file_set look(const std::string& path);

  /// True if the names still lead to the same files.
  [[nodiscard]] bool in_place() const { return *this == look(path_); }
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool same_database(const file_set& other) const { return ids_[0] == other.ids_[0]; }

  /// Deletes -wal and -shm if they are still these although the database is another one: in
  /// WAL mode the pages of the old database would otherwise show through in the new one.
  /// Call with the directory locked.
  void remove_leftovers() const;

  friend bool operator==(const file_set&, const file_set&) = default;

 private:
  std::string path_;
  std::array<file_id, 3> ids_{};
};

/// Held while the file is made or opened, so that of many agents that start at once, or find the
/// file gone at once, one makes it and the others open that one.
class directory_lock {
 public:
  /// Waits for others as `waiting` says. `directory` must exist.
  static std::expected<directory_lock, std::string> take(const std::string& directory,
                                                         patience waiting);

 private:
  base::unique_fd descriptor_;
};

/// Checks where the file is to be, and makes it (mode 0600, less the umask) if there is none.
/// Call with the directory locked. Returns a warning, or nothing; or why it cannot be used.
std::expected<std::string, std::string> prepare(const std::string& path);

/// Checks that the directory of `path` can hold the file, before anything is touched.
std::expected<void, std::string> check_directory(const std::string& path);

}  // namespace tenure::stores::sqlite
