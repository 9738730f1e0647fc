#include "os/trusted_open.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cerrno>
#include <cstdio>

#include "os/error_text.hpp"

namespace tenure::os {
namespace {

constexpr mode_t mode_bits = 07777;

std::string octal(mode_t mode) {
  std::array<char, 8> digits{};
  std::snprintf(digits.data(), digits.size(), "%04o", static_cast<unsigned>(mode & mode_bits));
  return digits.data();
}

std::unexpected<refusal> refuse(const std::string& path, const std::string& why) {
  return std::unexpected(refusal{.text = path + " " + why});
}

std::unexpected<refusal> cannot_open(const std::string& path, int error) {
  if (error == ENOENT) {
    return std::unexpected(refusal{.text = path + " does not exist", .missing = true});
  }
  if (error == ELOOP || error == ENOTDIR) {
    struct stat about{};
    if (::lstat(path.c_str(), &about) == 0) {
      return refuse(path, S_ISLNK(about.st_mode) ? "is a symbolic link; remove it"
                                                 : "is not a directory; remove it");
    }
  }
  return refuse(path, "cannot be opened: " + error_text(error));
}

/// Nothing if `opened` belongs to us or root, and nobody else can write to it.
std::expected<void, refusal> check_owner(const std::string& path, const struct stat& about) {
  const uid_t us = ::geteuid();
  if (about.st_uid != us && about.st_uid != 0) {
    return refuse(path, "belongs to user " + std::to_string(about.st_uid) + ", not to user " +
                            std::to_string(us) +
                            ", whom this process runs as, or root; see who made it and remove it");
  }
  if ((about.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return refuse(path, "can be written to by other users (mode " + octal(about.st_mode) +
                            "); run `chmod go-w` on it once you know what is in it");
  }
  return {};
}

}  // namespace

std::expected<unique_fd, refusal> open_own_directory(const std::string& path) {
  unique_fd opened(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!opened) return cannot_open(path, errno);
  struct stat about{};
  if (::fstat(opened.get(), &about) != 0) return cannot_open(path, errno);
  if (auto ours = check_owner(path, about); !ours) return std::unexpected(ours.error());
  return opened;
}

std::expected<unique_fd, refusal> make_own_directory(const std::string& path) {
  if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST) {
    return refuse(path, "cannot be made: " + error_text(errno));
  }
  return open_own_directory(path);
}

std::expected<unique_fd, refusal> open_own_file(int directory, const std::string& name, int flags) {
  // A pipe that nobody writes to must not block us.
  constexpr int always = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC;
  unique_fd opened(::openat(directory, name.c_str(), flags | always, S_IRUSR | S_IWUSR));
  if (!opened) return cannot_open(name, errno);
  struct stat about{};
  if (::fstat(opened.get(), &about) != 0) return cannot_open(name, errno);
  if (!S_ISREG(about.st_mode)) return refuse(name, "is not a regular file; remove it");
  if (auto ours = check_owner(name, about); !ours) return std::unexpected(ours.error());
  return opened;
}

}  // namespace tenure::os
