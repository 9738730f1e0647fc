#pragma once

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>

#include "base/unique_fd.hpp"

/// Files, directories and sockets that another user could have put where we look for ours. They are
/// opened first and judged by what the kernel says of the open descriptor, so that nothing can be
/// swapped between the look and the use. Nothing is trusted because of its name.
namespace tenure::base {

/// True for our user, for root, and for `also`.
[[nodiscard]] bool is_trusted_user(uid_t who, std::optional<uid_t> also = std::nullopt);

/// What is asked of something that is opened.
struct demands {
  mode_t type = S_IFREG;  ///< S_IFREG, S_IFDIR or S_IFSOCK
  /// Bits of the mode that must not be set.
  mode_t not_for = S_IWGRP | S_IWOTH;
  /// A user who may own it, beside ours and root.
  std::optional<uid_t> owner{};
  bool any_owner = false;
  bool may_be_link = false;
  bool one_name = false;  ///< no hard links beside it
  /// An operator has named it, and may have named another thing by mistake: nobody is told to
  /// remove what is there. What is not named is of our own making.
  bool named = false;
};

/// Why something is not trusted. Allocates nothing.
struct flaw {
  enum class kind : std::uint8_t { cannot_open, link, wrong_type, owner, mode, many_names };
  kind why = kind::cannot_open;
  int error = 0;        ///< of `cannot_open`
  struct stat about{};  ///< of the rest
  mode_t type = S_IFREG;
  bool named = false;  ///< as in `demands`

  /// Nothing is there.
  [[nodiscard]] bool missing() const;
};

/// What is wrong with `path`, and what to do about it.
[[nodiscard]] std::string text(const std::string& path, const flaw& what);

/// What can be done about a file that an operator has named and that open(2) refuses with `error`.
[[nodiscard]] std::string remedy_of(int error);

/// Opens `name`, which begins in the open `directory` (AT_FDCWD: ours), if it is what is asked for.
/// A pipe does not block us. `flags` are those of open(2); a new file is for its owner alone.
/// Thread-safe, allocates nothing.
std::expected<unique_fd, flaw> open_trusted(int directory, const char* name, int flags,
                                            const demands& asked);

/// Why something is not trusted: what it is, and what to do. `missing`: nothing is there.
struct refusal {
  std::string text;
  bool missing = false;
};

/// Opens a directory of ours: the last part of `path` is not a symbolic link, it belongs to our
/// user or to root, and neither its group nor others can write to it. Thread-safe.
std::expected<unique_fd, refusal> open_own_directory(const std::string& path);

enum class named_directory : bool { no, yes };

/// The same, and makes it first, for our user alone, if nothing is there. `named`: an operator has
/// named it.
std::expected<unique_fd, refusal> make_own_directory(const std::string& path,
                                                     named_directory named = named_directory::no);

/// Opens a file in a directory that `open_own_directory` has opened: a regular file of our user or
/// root that only its owner can write to. `flags` are those of open(2).
std::expected<unique_fd, refusal> open_own_file(int directory, const std::string& name, int flags);

/// A file that an operator has named: not everybody can write to it. It may be a symbolic link, as
/// in volumes of Kubernetes, and belong to anybody.
inline constexpr demands named_by_an_operator{
    .type = S_IFREG, .not_for = S_IWOTH, .any_owner = true, .may_be_link = true, .named = true};

/// Opens one for reading. `noun` says in a refusal what it is: "the password file".
std::expected<unique_fd, refusal> open_named_file(const std::string& noun, const std::string& path);

/// Opens and reads one; or says why it cannot be, or that it has more than `most_bytes`.
std::expected<std::string, std::string> read_named_file(const std::string& noun,
                                                        const std::string& path,
                                                        std::size_t most_bytes);

/// Binds a Unix socket to a name that has `mode` from the first instant on: a mode that is changed
/// by name later is that of whatever somebody has put there meanwhile. Returns 0 or an errno value.
/// Changes the process's umask for the call.
[[nodiscard]] int bind_with_mode(int socket, const sockaddr_un& address, mode_t mode);

/// The user of the process at the other end of a connected Unix socket, and its id, which is 0 in
/// a PID namespace that we do not see. For a client that is the process that called listen().
[[nodiscard]] std::optional<ucred> peer_of(int connected);

/// True if every user can read what is open.
[[nodiscard]] bool readable_by_all(const unique_fd& opened);

}  // namespace tenure::base
