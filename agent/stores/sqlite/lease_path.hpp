#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <expected>
#include <string>
#include <vector>

#include "base/unique_fd.hpp"
#include "stores/sqlite/connection.hpp"

/// The lease file as a name in a directory: where it is, which file the name leads to now, and who
/// may make or replace that file.
namespace tenure::stores::sqlite {

/// The absolute path in `endpoints`, which must be exactly one path or file:// URL.
std::expected<std::string, std::string> path_of(const std::vector<std::string>& endpoints);

/// The directory of a file, and the file's name in it.
struct split_path {
  std::string directory;
  std::string name;
};
split_path split(const std::string& path);

/// The file that a name leads to.
struct file_id {
  dev_t device = 0;
  ino_t inode = 0;  ///< 0: no file

  friend bool operator==(const file_id&, const file_id&) = default;
};

/// The file that a database was made in. Tells a file from its copies for as long as the file
/// exists; `file_id` does so only while the file is open somewhere, as inodes are used again.
struct file_identity {
  std::uint64_t inode = 0;  ///< 0: no file
  /// When the file was made, in nanoseconds of the wall clock; its device if the file system does
  /// not record that time.
  std::uint64_t mark = 0;

  friend bool operator==(const file_identity&, const file_identity&) = default;
};

/// The identity of the file that `path` leads to. Does not open the file (see file_set::look).
file_identity identify(const std::string& path);

/// The three files of a database in WAL mode. Processes exclude each other only while they have the
/// same three open: the locks are on -shm, the newest commits in -wal.
class file_set {
 public:
  static constexpr std::array<const char*, 3> suffixes{"", "-wal", "-shm"};

  /// The files that the names lead to now. Never opens them: closing such a descriptor would drop
  /// the POSIX locks of this process.
  static file_set look(const std::string& path);

  /// True if the names still lead to the same files.
  [[nodiscard]] bool in_place() const { return *this == look(path_); }
  [[nodiscard]] bool complete() const;
  [[nodiscard]] bool same_database(const file_set& other) const { return ids_[0] == other.ids_[0]; }

  /// Deletes -wal and -shm if they are still the old ones although the database was replaced: in
  /// WAL mode, pages of the old database would otherwise show through in the new one. Call with the
  /// directory locked.
  void remove_leftovers() const;

  friend bool operator==(const file_set&, const file_set&) = default;

 private:
  std::string path_;
  std::array<file_id, 3> ids_{};
};

/// Held while the file is made or opened: if many agents start at once, or find the file missing at
/// once, one of them makes it and the others open it.
class directory_lock {
 public:
  /// Waits for others according to `waiting`. `directory` must exist.
  static std::expected<directory_lock, std::string> take(const std::string& directory,
                                                         patience waiting);

 private:
  base::unique_fd descriptor_;
};

/// Checks the place of the file, and makes it (mode 0600, less the umask) if it does not exist.
/// Call with the directory locked. Returns a warning, or an empty text; or why the file cannot be
/// used.
std::expected<std::string, std::string> prepare(const std::string& path);

/// Checks that the directory of `path` can hold the file, before touching anything.
std::expected<void, std::string> check_directory(const std::string& path);

}  // namespace tenure::stores::sqlite
