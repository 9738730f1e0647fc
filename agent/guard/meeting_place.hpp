#pragma once

#include <sys/types.h>

#include <expected>
#include <optional>
#include <string>

/// Where an agent and a guard meet if the agent cannot know the guard's user, as in a pod whose
/// main container runs as the user of its image.
///
/// It is a directory of the agent's user with mode 1777: everybody can add files, and only the
/// owner of a file, the agent's user and root can remove or rename it. The guard creates its lock
/// there before it starts anything, so in a volume that only the two containers mount the lock's
/// owner is the guard's user, and stays so. docs/decisions/0051 has the reasons.
namespace tenure::guard {

/// Makes a meeting place of our user, or makes one of a directory that is our user's already. The
/// error says what to do. Thread-safe.
[[nodiscard]] std::expected<void, std::string> make_meeting_place(const std::string& path);

/// The user whose guard was the first one there. Nothing if `directory` is not a meeting place of
/// our user, or no guard has been there. A process that replaces the directory can make this
/// nothing, but cannot name another user. Thread-safe.
[[nodiscard]] std::optional<uid_t> user_of_guard(const std::string& directory);

}  // namespace tenure::guard
