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

/// Files, directories and sockets that another user could have put where we look for ours. We open
/// first and then check what the kernel says about the descriptor, so that nothing can be swapped
/// between check and use. A name alone is never trusted.
namespace tenure::base {

/// True for our user, for root, and for `also`.
[[nodiscard]] bool is_trusted_user(uid_t who, std::optional<uid_t> also = std::nullopt);

/// What a file must be like to be opened.
struct demands {
  mode_t type = S_IFREG;  ///< S_IFREG, S_IFDIR or S_IFSOCK
  /// Bits of the mode that must not be set.
  mode_t not_for = S_IWGRP | S_IWOTH;
  /// A user who may own it besides ours and root.
  std::optional<uid_t> owner{};
  bool any_owner = false;
  bool may_be_link = false;
  bool one_name = false;  ///< it must have no other hard links
  /// True: an operator named it, perhaps by mistake, so messages never suggest to remove it. False:
  /// we created it ourselves.
  bool named = false;
};

/// Why a file is not trusted. Allocates nothing.
struct flaw {
  enum class kind : std::uint8_t { cannot_open, link, wrong_type, owner, mode, many_names };
  kind why = kind::cannot_open;
  int error = 0;        ///< errno; only for `cannot_open`
  struct stat about{};  ///< for all others
  mode_t type = S_IFREG;
  bool named = false;  ///< as in `demands`

  /// True if there is no such file.
  [[nodiscard]] bool missing() const;
};

/// What is wrong with `path` and what to do, as a message.
[[nodiscard]] std::string text(const std::string& path, const flaw& what);

/// What can be done about a file that an operator has named and that open(2) refuses with `error`.
[[nodiscard]] std::string remedy_of(int error);

/// Opens `name` relative to the open `directory` (AT_FDCWD: the current one) if it meets the
/// demands. Does not block on a pipe. `flags` are those of open(2); a new file is accessible to its
/// owner only. Thread-safe, allocates nothing.
std::expected<unique_fd, flaw> open_trusted(int directory, const char* name, int flags,
                                            const demands& asked);

/// What is wrong with a file that was opened by somebody else for us, without following a link
/// unless it may be one. `error`: why it could not be opened or read, or 0. `about`: zeros if it
/// was not opened. Allocates nothing.
[[nodiscard]] std::optional<flaw> flaw_of(int error, const struct stat& about,
                                          const demands& asked);

/// Why a file is not trusted and what to do, as a message. `missing`: there is no such file.
struct refusal {
  std::string text;
  bool missing = false;
};

/// Opens a directory that must be ours: the last part of `path` is not a symbolic link, our user or
/// root owns it, and neither its group nor others can write to it. Thread-safe.
std::expected<unique_fd, refusal> open_own_directory(const std::string& path);

enum class named_directory : bool { no, yes };

/// The same, but first creates the directory if it is missing, for our user only. `named`: an
/// operator named it.
std::expected<unique_fd, refusal> make_own_directory(const std::string& path,
                                                     named_directory named = named_directory::no);

/// Opens a file in a directory that `open_own_directory` has opened: a regular file of our user or
/// root that only its owner can write to. `flags` are those of open(2).
std::expected<unique_fd, refusal> open_own_file(int directory, const std::string& name, int flags);

/// A file that an operator named: not writable by everybody, but it may be a symbolic link (as in
/// volumes of Kubernetes) and belong to any user.
inline constexpr demands named_by_an_operator{
    .type = S_IFREG, .not_for = S_IWOTH, .any_owner = true, .may_be_link = true, .named = true};

/// Opens such a file for reading. `noun` names it in messages: "the password file".
std::expected<unique_fd, refusal> open_named_file(const std::string& noun, const std::string& path);

/// Opens and reads such a file. The error says why not, or that it has more than `most_bytes`.
std::expected<std::string, std::string> read_named_file(const std::string& noun,
                                                        const std::string& path,
                                                        std::size_t most_bytes);

/// Binds a Unix socket to a name that has `mode` from the first instant on: a later chmod by name
/// could hit a file that somebody else has put there. Returns 0 or an errno value. Changes the
/// process's umask for the call.
[[nodiscard]] int bind_with_mode(int socket, const sockaddr_un& address, mode_t mode);

/// The user and process id at the other end of a connected Unix socket; the id is 0 if its PID
/// namespace is invisible to us. For a client, the other end is the process that called listen().
[[nodiscard]] std::optional<ucred> peer_of(int connected);

/// True if every user can read this open file.
[[nodiscard]] bool readable_by_all(const unique_fd& opened);

}  // namespace tenure::base
