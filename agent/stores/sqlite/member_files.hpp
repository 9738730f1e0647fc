#pragma once

#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "os/unique_fd.hpp"
#include "stores/store.hpp"

namespace tenure::stores::sqlite {

/// The directory with the members' files, beside the lease file at `path`.
std::string members_directory(const std::string& path);

/// Who takes part, as files beside the leases: `<path>-members/<32 hex digits>`, locked (flock) for
/// as long as its member lives. So a member that dies is gone at once, without a word and without a
/// heartbeat; the kernel closes its file, which inotify tells (IN_CLOSE_WRITE).
///
/// Files of the dead are deleted, so the directory is used only if it is ours
/// (os/trusted_open.hpp), and only files that have a member's name are touched.
///
/// It has nothing to do with who holds: what fails here only makes the list shorter.
///
/// Not thread-safe. Blocks for the disk alone.
class member_files {
 public:
  explicit member_files(const std::string& path) : directory_(members_directory(path)) {}
  ~member_files() { leave(); }
  member_files(const member_files&) = delete;
  member_files& operator=(const member_files&) = delete;

  /// Makes the directory, so that it can be watched. Or why it is not used, and what to do.
  [[nodiscard]] std::expected<void, std::string> prepare() const;

  /// Appears in the lists. An agent with more than `most_announced` elections does not: its file
  /// would be read over and over by everybody.
  void appear(const std::string& identity, const std::vector<election_spec>& elections);

  /// Disappears, if it is there.
  void leave();

  struct member {
    std::string identity;
    std::vector<std::string> elections;
  };
  /// Who lives, in no order. Deletes what the dead have left.
  [[nodiscard]] std::vector<member> list() const;

  static constexpr std::size_t most_announced = 100;

 private:
  std::string directory_;
  std::string own_;  ///< name of our file; empty: we have not appeared
  os::unique_fd lock_;
};

/// The names of those that take part in this election, sorted.
std::vector<std::string> members_of(const std::vector<member_files::member>& all,
                                    std::string_view election);

}  // namespace tenure::stores::sqlite
