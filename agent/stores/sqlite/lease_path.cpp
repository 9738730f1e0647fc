#include "stores/sqlite/lease_path.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/error_text.hpp"
#include "base/exposed_directory.hpp"
#include "base/mount_point.hpp"
#include "base/trusted_open.hpp"
#include "stores/sqlite/filesystem_check.hpp"

namespace tenure::stores::sqlite {
namespace {

/// Between two tries to lock a directory. Agents hold the lock for a few milliseconds, once at each
/// start.
constexpr core::duration lock_pause = std::chrono::milliseconds(2);
constexpr mode_t new_file_mode = 0600;

std::unexpected<std::string> cannot_use(const std::string& path, const std::string& why) {
  return std::unexpected("cannot keep leases in " + path + ": " + why);
}

}  // namespace

std::expected<std::string, std::string> path_of(const std::vector<std::string>& endpoints) {
  if (endpoints.size() != 1) {
    return std::unexpected("the SQLite store needs exactly one --endpoint, the path of its file; " +
                           std::to_string(endpoints.size()) + " are given");
  }
  std::string path = endpoints.front();
  constexpr std::string_view scheme = "file://";
  if (path.starts_with(scheme)) path.erase(0, scheme.size());
  if (path.empty() || path.ends_with('/') || path.find('\0') != std::string::npos) {
    return std::unexpected(
        "--endpoint \"" + endpoints.front() +
        "\" is not the path of a file; give one, e.g. /var/lib/tenure/leases.db");
  }
  std::error_code error;
  const std::filesystem::path whole = std::filesystem::absolute(path, error);
  if (error) {
    return std::unexpected("--endpoint \"" + endpoints.front() + "\" cannot be made absolute: " +
                           error.message() + "; give an absolute path");
  }
  // SQLite puts -wal and -shm beside the target of a symbolic link, not beside the link.
  const std::filesystem::path real = std::filesystem::weakly_canonical(whole, error);
  return (error ? whole.lexically_normal() : real).string();
}

split_path split(const std::string& path) {
  const std::filesystem::path whole(path);
  return {.directory = whole.parent_path().string(), .name = whole.filename().string()};
}

// Which files ----------------------------------------------------------------------------------

file_identity identify(const std::string& path) {
  struct statx about{};
  if (::statx(AT_FDCWD, path.c_str(), 0, STATX_INO | STATX_BTIME, &about) != 0) return {};
  if ((about.stx_mask & STATX_BTIME) == 0) {
    return {.inode = about.stx_ino, .mark = ::makedev(about.stx_dev_major, about.stx_dev_minor)};
  }
  constexpr std::uint64_t ns_per_second = 1'000'000'000;
  const auto seconds = static_cast<std::uint64_t>(about.stx_btime.tv_sec);
  return {.inode = about.stx_ino, .mark = seconds * ns_per_second + about.stx_btime.tv_nsec};
}

file_set file_set::look(const std::string& path) {
  file_set found;
  found.path_ = path;
  for (std::size_t i = 0; i < suffixes.size(); ++i) {
    struct stat about{};
    if (::stat((path + suffixes[i]).c_str(), &about) != 0) continue;
    found.ids_[i] = {.device = about.st_dev, .inode = about.st_ino};
  }
  return found;
}

bool file_set::complete() const {
  return std::ranges::none_of(ids_, [](const file_id& id) { return id.inode == 0; });
}

void file_set::remove_leftovers() const {
  const file_set now = look(path_);
  if (same_database(now)) return;
  for (std::size_t i = 1; i < suffixes.size(); ++i) {
    if (ids_[i].inode != 0 && now.ids_[i] == ids_[i]) ::unlink((path_ + suffixes[i]).c_str());
  }
}

// Making it ------------------------------------------------------------------------------------

std::expected<directory_lock, std::string> directory_lock::take(const std::string& directory,
                                                                patience waiting) {
  directory_lock lock;
  lock.descriptor_.reset(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!lock.descriptor_) {
    return std::unexpected("cannot open the directory " + directory + ": " +
                           base::error_text(errno) + "; make it readable for the agent");
  }
  while (::flock(lock.descriptor_.get(), LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    if (error == EINTR) continue;
    if (error != EWOULDBLOCK) {
      return std::unexpected("cannot lock the directory " + directory + ": " +
                             base::error_text(error) + "; use a local disk");
    }
    const bool stopped = waiting.stop != nullptr && waiting.stop->load(std::memory_order_relaxed);
    if (stopped || waiting.clock->now() >= waiting.deadline) {
      return std::unexpected("another program holds the lock (flock) of the directory " +
                             directory + "; find it with `fuser`, and let it finish or kill it");
    }
    waiting.clock->pause(lock_pause);
  }
  return lock;
}

std::expected<void, std::string> check_directory(const std::string& path) {
  const std::string directory = split(path).directory;
  // SQLite opens -wal and -shm there by name and follows links: a user who can create them chooses
  // which file we write to. So not even /tmp is safe, even if all its files are ours. A group may
  // share the directory on purpose.
  const auto ours = base::open_trusted(AT_FDCWD, directory.c_str(), O_PATH,
                                       {.type = S_IFDIR, .not_for = S_IWOTH, .named = true});
  if (!ours && ours.error().missing()) {
    return cannot_use(path, "the directory " + directory +
                                " does not exist; create it, or mount the volume there");
  }
  if (std::string why = base::why_exposed(directory); !why.empty()) return cannot_use(path, why);
  if (!ours && ours.error().why == base::flaw::kind::owner) {
    return cannot_use(path, "the directory " + directory + " belongs to user " +
                                std::to_string(ours.error().about.st_uid) +
                                ", who could put links in the place of SQLite's files; give it to "
                                "user " +
                                std::to_string(::geteuid()) + " or root, or run as its owner");
  }
  if (!ours) return cannot_use(path, base::text(directory, ours.error()));
  if (::faccessat(AT_FDCWD, directory.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) {
    return cannot_use(path, "the directory " + directory + ": " + base::error_text(errno) +
                                "; -wal and -shm files are made there, so make it writable for "
                                "the agent (user " +
                                std::to_string(::geteuid()) + ")");
  }
  return {};
}

std::expected<std::string, std::string> prepare(const std::string& path) {
  if (auto fit = check_directory(path); !fit) return std::unexpected(fit.error());
  const std::string directory = split(path).directory;
  if (auto local = check_filesystem(directory); !local) return local;

  const base::unique_fd made(
      ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, new_file_mode));
  if (made) {
    // Leftovers of a database that was deleted without them.
    for (const char* suffix : {"-wal", "-shm", "-journal"}) ::unlink((path + suffix).c_str());
  } else if (const int error = errno; error != EEXIST) {
    return cannot_use(path, "it cannot be created: " + base::error_text(error) +
                                "; make the directory writable for the agent and see that there "
                                "is space");
  }

  // With O_PATH: closing another kind of descriptor would end SQLite's locks on the file.
  const auto there = base::open_trusted(AT_FDCWD, path.c_str(), O_PATH,
                                        {.not_for = S_IWOTH, .any_owner = true, .named = true});
  if (!there) return cannot_use(path, base::text("it", there.error()));
  struct stat about{};
  if (::fstat(there->get(), &about) != 0) return cannot_use(path, base::error_text(errno));
  if (about.st_nlink > 1) {
    return cannot_use(path, "it has " + std::to_string(about.st_nlink) +
                                " names (hard links), and openers under different names would not "
                                "exclude each other; remove all but one");
  }
  if (base::is_mount_point(*there, path)) {
    return cannot_use(path,
                      "the file is mounted by itself, and -wal, -shm and -members/ beside it are "
                      "not, so members in other containers would not be excluded; mount its "
                      "directory instead");
  }
  if (::faccessat(AT_FDCWD, path.c_str(), R_OK | W_OK, AT_EACCESS) != 0) {
    return cannot_use(path, base::error_text(errno) +
                                "; make the file readable and writable for "
                                "the agent (user " +
                                std::to_string(::geteuid()) + ")");
  }
  // Checked again for the file itself, so that the warning names it.
  return check_filesystem(path);
}

}  // namespace tenure::stores::sqlite
