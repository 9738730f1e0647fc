#include "guard/meeting_place.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "base/error_text.hpp"
#include "base/trusted_open.hpp"
#include "guard/guard_listener.hpp"

namespace tenure::guard {
namespace {

constexpr mode_t mode_of_place = S_ISVTX | S_IRWXU | S_IRWXG | S_IRWXO;
constexpr base::demands demanded{.type = S_IFDIR, .not_for = 0, .named = true};

}  // namespace

std::expected<void, std::string> make_meeting_place(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return std::unexpected("cannot create the directory " + path + ": " + base::error_text(errno) +
                           "; mount a volume there (an emptyDir)");
  }
  const auto opened = base::open_trusted(AT_FDCWD, path.c_str(), O_RDONLY, demanded);
  if (!opened) return std::unexpected(base::text(path, opened.error()));
  // Fails for a directory of root's, which is not ours to open to everybody.
  if (::fchmod(opened->get(), mode_of_place) != 0) {
    return std::unexpected("cannot open " + path + " to the guard's user: " +
                           base::error_text(errno) + "; name a directory of user " +
                           std::to_string(::geteuid()) + ", or one that does not exist yet");
  }
  return {};
}

std::optional<uid_t> user_of_guard(const std::string& directory) {
  const auto place = base::open_trusted(AT_FDCWD, directory.c_str(), O_RDONLY, demanded);
  struct stat about{};
  // Root has such directories for everything, as /tmp.
  if (!place || ::fstat(place->get(), &about) != 0 || about.st_uid != ::geteuid() ||
      (about.st_mode & mode_of_place) != mode_of_place) {
    return std::nullopt;
  }
  if (::fstatat(place->get(), guard_lock_name, &about, AT_SYMLINK_NOFOLLOW) != 0 ||
      !S_ISREG(about.st_mode)) {
    return std::nullopt;
  }
  return about.st_uid;
}

}  // namespace tenure::guard
