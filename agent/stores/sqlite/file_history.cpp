#include "stores/sqlite/file_history.hpp"

#include <algorithm>

#include "core/timing.hpp"
#include "stores/sqlite/columns.hpp"

namespace tenure::stores::sqlite {

namespace {

/// What all members know together.
struct knowledge {
  std::uint64_t commits = 0;  ///< the commits of the file that was found
  core::version newest = core::no_version;
  core::time_point until{};            ///< by leases in any file
  core::time_point until_elsewhere{};  ///< by leases in other files
};

knowledge gather(const found_file& found, std::span<const member_page> members) {
  knowledge all;
  for (const member_page& one : members) {
    const bool of_this_file = one.record.file == found.file;
    all.newest = std::max(all.newest, one.record.newest);
    if (of_this_file) all.commits = std::max(all.commits, one.record.commits);
    if (one.boot_id != found.boot_id) continue;
    // No lease is longer, even if a file claims so.
    const core::time_point until = std::min(one.record.until, found.now + core::max_ttl);
    all.until = std::max(all.until, until);
    if (!of_this_file) all.until_elsewhere = std::max(all.until_elsewhere, until);
  }
  return all;
}

}  // namespace

file_history judge(const std::optional<file_history>& said, const found_file& found,
                   std::span<const member_page> members) {
  const knowledge known = gather(found, members);
  file_history out = said.value_or(file_history{});
  if (out.boot_id != found.boot_id) out.grants_from = {};
  const core::version reached = std::max(found.newest, out.floor);
  const bool whole =
      said && said->file == found.file && said->commits >= known.commits && reached >= known.newest;
  const core::time_point until = whole ? known.until_elsewhere : known.until;
  if (whole && until <= std::max(out.grants_from, found.now)) return *said;

  out.file = found.file;
  out.commits = std::max(out.commits, known.commits) + 1;
  out.boot_id = found.boot_id;
  out.grants_from = std::max(out.grants_from, until);
  // If nobody has ever held anything, it does not matter what the file does not know. Otherwise the
  // floor is one above the newest version known, so a term above it was granted here.
  if (!whole && known.newest != core::no_version) {
    const core::version newest = std::max(reached, known.newest);
    out.floor = std::min(core::version{core::number(newest) + 1}, largest_version);
  }
  return out;
}

history_row::history_row(connection& db)
    : select_(db, "SELECT inode, mark, commits, floor, grants_from_ns, boot_id FROM file"),
      store_(db,
             "INSERT OR REPLACE INTO file (only, inode, mark, commits, floor, grants_from_ns, "
             "boot_id) VALUES (1, ?, ?, ?, ?, ?, ?)"),
      count_commit_(db, "UPDATE file SET commits = commits + 1") {}

std::optional<file_history> history_row::read() {
  auto rows = select_.rows();
  if (!rows.next()) return std::nullopt;
  return file_history{.file = {.inode = static_cast<std::uint64_t>(rows.integer(0)),
                               .mark = static_cast<std::uint64_t>(rows.integer(1))},
                      .commits = static_cast<std::uint64_t>(rows.integer(2)),
                      .floor = version_of(rows.integer(3)),
                      .grants_from = instant(rows.integer(4)),
                      .boot_id = rows.text(5)};
}

void history_row::write(const file_history& what) {
  store_.run(static_cast<std::int64_t>(what.file.inode), static_cast<std::int64_t>(what.file.mark),
             static_cast<std::int64_t>(what.commits), column(what.floor), column(what.grants_from),
             what.boot_id);
}

}  // namespace tenure::stores::sqlite
