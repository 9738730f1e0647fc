#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// What the text of /proc/PID/cgroup says about containers. No I/O, no allocation.
///
/// A line is "NUMBER:CONTROLLERS:PATH"; the line without controllers is version 2. A path is
/// relative to the *reader's* cgroup namespace: in a private one, the default of version 2, our own
/// is "/" and that of the container beside us "/../cri-containerd-ID.scope".
namespace tenure::process {

/// How another process relates to us.
enum class cgroup_relation : std::uint8_t {
  same,      ///< no difference from us: in our container, or there are no containers
  separate,  ///< in a container of its own
  unclear,   ///< above us: any container with it would include ours
};

struct cgroup_verdict {
  cgroup_relation relation = cgroup_relation::unclear;
  /// Names its container, "CONTROLLERS:PATH", if it is `separate`. A part of the text.
  std::string_view container;
};

/// The container of the process with the text `theirs`, for a reader with the text `ours`.
///
/// Runtimes name a container's cgroup with its id of 64 hexadecimal digits. The first such name
/// after the point where the two paths differ is the container, including everything nested in it.
/// If no name has an id (systemd units, plain directories), it is that cgroup alone and nothing
/// below it: a slice is not a container.
[[nodiscard]] cgroup_verdict container_of(std::string_view theirs, std::string_view ours);

/// True if the process with the text `cgroups` is in `container`, as named by `container_of`.
[[nodiscard]] bool is_in_container(std::string_view cgroups, std::string_view container);

/// True if the process with the text `theirs` is, in each hierarchy, in the cgroup of the one with
/// the text `ours` or below it, as a descendant would be that has not moved up.
[[nodiscard]] bool is_within(std::string_view theirs, std::string_view ours);

/// The name people use for a container: the first 12 digits of its id, or else the last name of its
/// path.
[[nodiscard]] std::string_view short_name(std::string_view container);

}  // namespace tenure::process
