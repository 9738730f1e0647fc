#include "base/trusted_open.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "base/error_text.hpp"

namespace tenure::base {
namespace {

constexpr mode_t mode_bits = 07777;

std::string octal(mode_t mode) {
  std::array<char, 8> digits{};
  std::snprintf(digits.data(), digits.size(), "%04o", static_cast<unsigned>(mode & mode_bits));
  return digits.data();
}

const char* noun_of(mode_t type) {
  return type == S_IFDIR ? "directory" : type == S_IFSOCK ? "socket" : "regular file";
}

const char* noun_of_any(mode_t mode) {
  switch (mode & S_IFMT) {
    case S_IFREG:
      return "regular file";
    case S_IFDIR:
      return "directory";
    case S_IFSOCK:
      return "socket";
    case S_IFIFO:
      return "pipe";
    default:
      return "device";
  }
}

/// The message for a file of the wrong type.
std::string text_of_wrong_type(const flaw& what) {
  if (!what.named) return std::string(" is not a ") + noun_of(what.type) + "; remove it";
  const std::string is = std::string(" is a ") + noun_of_any(what.about.st_mode);
  if (what.type == S_IFREG && S_ISDIR(what.about.st_mode)) return is + "; name a file in it";
  return is + "; name a " + noun_of(what.type);
}

/// The kernel's error does not tell a link from other failures, so this looks again.
flaw why_not_opened(int directory, const char* name, int error, const demands& asked) {
  flaw out{
      .why = flaw::kind::cannot_open, .error = error, .type = asked.type, .named = asked.named};
  if (error != ELOOP && error != ENOTDIR) return out;
  if (::fstatat(directory, name, &out.about, AT_SYMLINK_NOFOLLOW) != 0) return out;
  out.why = S_ISLNK(out.about.st_mode) ? flaw::kind::link : flaw::kind::wrong_type;
  return out;
}

std::optional<flaw::kind> judge(const struct stat& about, const demands& asked) {
  // O_PATH opens the link itself.
  if (S_ISLNK(about.st_mode)) return flaw::kind::link;
  if ((about.st_mode & S_IFMT) != asked.type) return flaw::kind::wrong_type;
  if (!asked.any_owner && !is_trusted_user(about.st_uid, asked.owner)) return flaw::kind::owner;
  if ((about.st_mode & asked.not_for) != 0) return flaw::kind::mode;
  if (asked.one_name && about.st_nlink > 1) return flaw::kind::many_names;
  return std::nullopt;
}

std::unexpected<refusal> refuse(const std::string& path, const flaw& why) {
  return std::unexpected(refusal{.text = text(path, why), .missing = why.missing()});
}

std::expected<unique_fd, refusal> open_directory(const std::string& path, named_directory named) {
  auto opened = open_trusted(AT_FDCWD, path.c_str(), O_RDONLY,
                             {.type = S_IFDIR, .named = named == named_directory::yes});
  if (!opened) return refuse(path, opened.error());
  return std::move(*opened);
}

}  // namespace

bool is_trusted_user(uid_t who, std::optional<uid_t> also) {
  return who == ::geteuid() || who == 0 || who == also;
}

bool flaw::missing() const {
  return why == kind::cannot_open && error == ENOENT;
}

std::string text(const std::string& path, const flaw& what) {
  switch (what.why) {
    case flaw::kind::cannot_open:
      return "cannot open " + path + ": " + error_text(what.error) +
             (what.named ? "; " + remedy_of(what.error) : "");
    case flaw::kind::link:
      return path + " is a symbolic link; " + (what.named ? "name what it leads to" : "remove it");
    case flaw::kind::wrong_type:
      return path + text_of_wrong_type(what);
    case flaw::kind::owner:
      return path + " belongs to user " + std::to_string(what.about.st_uid) + ", not to user " +
             std::to_string(::geteuid()) + ", whom this process runs as, or root; " +
             (what.named ? "give it to one of these, or name another"
                         : "see who made it and remove it");
    case flaw::kind::mode:
      return path + " can be written to by other users (mode " + octal(what.about.st_mode) +
             "); run `chmod go-w` on it once you know what is in it";
    case flaw::kind::many_names:
      return path + " has " + std::to_string(what.about.st_nlink) +
             " names (hard links); remove all but one";
  }
  return path;
}

std::string remedy_of(int error) {
  if (error != EACCES) return "check its path";
  return "let user " + std::to_string(::geteuid()) +
         ", whom this process runs as, read it and enter its directories";
}

std::expected<unique_fd, flaw> open_trusted(int directory, const char* name, int flags,
                                            const demands& asked) {
  constexpr mode_t for_its_owner = S_IRUSR | S_IWUSR;
  flags |= O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  if (!asked.may_be_link) flags |= O_NOFOLLOW;
  if (asked.type == S_IFDIR) flags |= O_DIRECTORY;
  unique_fd opened(::openat(directory, name, flags, for_its_owner));
  if (!opened) return std::unexpected(why_not_opened(directory, name, errno, asked));
  flaw found{.type = asked.type, .named = asked.named};
  if (::fstat(opened.get(), &found.about) != 0) {
    found.error = errno;
    return std::unexpected(found);
  }
  if (const auto wrong = flaw_of(0, found.about, asked)) return std::unexpected(*wrong);
  return opened;
}

std::optional<flaw> flaw_of(int error, const struct stat& about, const demands& asked) {
  flaw out{.error = error, .about = about, .type = asked.type, .named = asked.named};
  const bool is_open = about.st_mode != 0;
  if (const auto why = is_open ? judge(about, asked) : std::nullopt) {
    out.why = *why;
    return out;
  }
  if (error == ELOOP && !asked.may_be_link) out.why = flaw::kind::link;
  return error != 0 ? std::optional(out) : std::nullopt;
}

std::expected<unique_fd, refusal> open_own_directory(const std::string& path) {
  return open_directory(path, named_directory::no);
}

std::expected<unique_fd, refusal> make_own_directory(const std::string& path,
                                                     named_directory named) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return std::unexpected(refusal{.text = "cannot create " + path + ": " + error_text(errno)});
  }
  return open_directory(path, named);
}

std::expected<unique_fd, refusal> open_own_file(int directory, const std::string& name, int flags) {
  auto opened = open_trusted(directory, name.c_str(), flags, {});
  if (!opened) return refuse(name, opened.error());
  return std::move(*opened);
}

std::expected<unique_fd, refusal> open_named_file(const std::string& noun,
                                                  const std::string& path) {
  auto opened = open_trusted(AT_FDCWD, path.c_str(), O_RDONLY, named_by_an_operator);
  if (!opened) return refuse(noun + " " + path, opened.error());
  return std::move(*opened);
}

std::expected<std::string, std::string> read_named_file(const std::string& noun,
                                                        const std::string& path,
                                                        std::size_t most_bytes) {
  const auto opened = open_named_file(noun, path);
  if (!opened) return std::unexpected(opened.error().text);
  std::string out(most_bytes + 1, '\0');
  const ssize_t size = ::read(opened->get(), out.data(), out.size());
  if (size < 0) {
    return std::unexpected("cannot read " + noun + " " + path + ": " + error_text(errno));
  }
  out.resize(static_cast<std::size_t>(size));
  if (out.size() <= most_bytes) return out;
  return std::unexpected(noun + " " + path + " has more than " + std::to_string(most_bytes) +
                         " bytes");
}

int bind_with_mode(int socket, const sockaddr_un& address, mode_t mode) {
  // The name gets the mode of the socket, without the bits of the umask.
  if (::fchmod(socket, mode) != 0) return errno;
  const mode_t before = ::umask(0);
  const bool done =
      ::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  const int error = errno;
  ::umask(before);
  return done ? 0 : error;
}

std::optional<ucred> peer_of(int connected) {
  ucred who{};
  socklen_t size = sizeof who;
  int domain = 0;
  socklen_t domain_size = sizeof domain;
  if (::getsockopt(connected, SOL_SOCKET, SO_DOMAIN, &domain, &domain_size) != 0 ||
      domain != AF_UNIX || ::getsockopt(connected, SOL_SOCKET, SO_PEERCRED, &who, &size) != 0) {
    return std::nullopt;
  }
  return who;
}

bool readable_by_all(const unique_fd& opened) {
  struct stat about{};
  return ::fstat(opened.get(), &about) == 0 && (about.st_mode & S_IROTH) != 0;
}

}  // namespace tenure::base
