#include "base/program_copy.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <optional>
#include <vector>

#include "base/error_text.hpp"
#include "base/random.hpp"
#include "base/trusted_open.hpp"

namespace tenure::base {
namespace {

constexpr mode_t executable_by_all = 0755;
constexpr mode_t any_permission = 07777;
constexpr std::size_t chunk_bytes = std::size_t{256} * 1024;

/// Reads until `into` is full or the file ends; the number of bytes, or nothing with errno set.
std::optional<std::size_t> read_at(const unique_fd& from, off_t offset, std::vector<char>& into) {
  std::size_t got = 0;
  while (got < into.size()) {
    const ssize_t more =
        ::pread(from.get(), into.data() + got, into.size() - got, offset + static_cast<off_t>(got));
    if (more < 0 && errno == EINTR) continue;
    if (more < 0) return std::nullopt;
    if (more == 0) break;
    got += static_cast<std::size_t>(more);
  }
  return got;
}

bool write_all(const unique_fd& to, const char* data, std::size_t size) {
  while (size > 0) {
    const ssize_t written = ::write(to.get(), data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    data += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

bool have_same_bytes(const unique_fd& left, const unique_fd& right) {
  std::vector<char> of_left(chunk_bytes);
  std::vector<char> of_right(chunk_bytes);
  for (off_t offset = 0;; offset += static_cast<off_t>(chunk_bytes)) {
    const auto got = read_at(left, offset, of_left);
    if (!got || got != read_at(right, offset, of_right)) return false;
    if (std::memcmp(of_left.data(), of_right.data(), *got) != 0) return false;
    if (*got < chunk_bytes) return true;
  }
}

/// What an operator can do about a directory that cannot be opened or written to.
std::string remedy(int error, off_t size) {
  const std::string user = "user " + std::to_string(::geteuid());
  constexpr off_t bytes_a_mb = 1'000'000;
  switch (error) {
    case ENOENT:
      return "; create the directory, or mount a volume there";
    case ENOTDIR:
      return "; name a directory";
    case EACCES:
    case EPERM:
      return "; let " + user + ", whom this process runs as, write to the directory";
    case EROFS:
      return "; mount the volume without the option for read-only";
    case ENOSPC:
    case EDQUOT:
      return "; the program needs " + std::to_string((size + bytes_a_mb - 1) / bytes_a_mb) +
             " MB there; make room, or the volume larger";
    case EISDIR:
      return "; remove it, since the program gets that name";
    default:
      return "";
  }
}

/// A copy that has not got its name yet; removed if it never gets it.
class unfinished_copy {
 public:
  unfinished_copy(const unique_fd& directory, const std::string& name)
      : directory_(directory), temporary_("." + name + "." + random_hex(8)) {
    file_.reset(::openat(directory.get(), temporary_.c_str(),
                         O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, S_IRWXU));
    if (!file_) error_ = errno;
  }
  unfinished_copy(const unfinished_copy&) = delete;
  unfinished_copy& operator=(const unfinished_copy&) = delete;
  ~unfinished_copy() {
    if (file_) ::unlinkat(directory_.get(), temporary_.c_str(), 0);
  }

  /// Each of these returns 0 or an errno value. Precondition of the second: the first succeeded.
  int fill(const unique_fd& source) {
    if (error_ != 0) return error_;
    std::vector<char> chunk(chunk_bytes);
    for (off_t offset = 0;; offset += static_cast<off_t>(chunk_bytes)) {
      const auto got = read_at(source, offset, chunk);
      if (!got || !write_all(file_, chunk.data(), *got)) return errno;
      if (*got < chunk_bytes) break;
    }
    // The mode of a new file is limited by the umask.
    if (::fchmod(file_.get(), executable_by_all) != 0) return errno;
    return ::fsync(file_.get()) == 0 ? 0 : errno;
  }

  int rename_to(const std::string& name) {
    if (::renameat(directory_.get(), temporary_.c_str(), directory_.get(), name.c_str()) != 0) {
      return errno;
    }
    file_.reset();
    // Without this, a power failure could bring the old file back, which is whole, too.
    ::fsync(directory_.get());
    return 0;
  }

 private:
  const unique_fd& directory_;
  std::string temporary_;
  unique_fd file_;
  int error_ = 0;  ///< why it could not be created
};

bool is_there(const unique_fd& directory, const std::string& name, const unique_fd& source) {
  const auto there = open_trusted(directory.get(), name.c_str(), O_RDONLY, {});
  struct stat about{};
  if (!there || ::fstat(there->get(), &about) != 0) return false;
  return (about.st_mode & any_permission) == executable_by_all && have_same_bytes(*there, source);
}

}  // namespace

std::expected<copied, std::string> copy_program(const unique_fd& source,
                                                const std::string& directory,
                                                const std::string& name) {
  struct stat about{};
  if (::fstat(source.get(), &about) != 0) {
    return std::unexpected("cannot read the program: " + error_text(errno));
  }
  const unique_fd into(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!into) {
    const int error = errno;
    return std::unexpected("cannot open " + directory + ": " + error_text(error) +
                           remedy(error, about.st_size));
  }
  if (is_there(into, name, source)) return copied::unchanged;
  unfinished_copy copy(into, name);
  int error = copy.fill(source);
  if (error == 0) error = copy.rename_to(name);
  if (error == 0) return copied::written;
  const std::string separator = directory.ends_with('/') ? "" : "/";
  return std::unexpected("cannot write " + directory + separator + name + ": " + error_text(error) +
                         remedy(error, about.st_size));
}

}  // namespace tenure::base
