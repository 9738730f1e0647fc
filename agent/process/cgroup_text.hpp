#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

/// What the text of /proc/PID/cgroup says about containers. No I/O, no allocation.
///
/// A line is "NUMBER:CONTROLLERS:PATH"; version 2 is the line without controllers. A path is as the
/// *reader's* cgroup namespace shows it: in a private one, which is the default of version 2, our
/// own is "/" and that of the container beside us "/../cri-containerd-ID.scope".
namespace tenure::process {

/// Of another process, seen from us.
enum class cgroup_relation : std::uint8_t {
  same,      ///< nothing tells it from us: our container, or no containers at all
  separate,  ///< in a container of its own
  unclear,   ///< elsewhere, but above us: no container could be named without naming ours
};

struct cgroup_verdict {
  cgroup_relation relation = cgroup_relation::unclear;
  /// What names its container, "CONTROLLERS:PATH", if it is `separate`. A part of the text.
  std::string_view container;
};

/// Which container the process with the text `theirs` is in, for the reader with the text `ours`.
///
/// Runtimes name a container's cgroup with its id of 64 hexadecimal digits. The first such name
/// after the point where the two paths part is the container, whatever is nested in it. Where no
/// name has an id (systemd units, plain directories), it is that cgroup alone and not what is
/// below it: a slice is no container.
[[nodiscard]] cgroup_verdict container_of(std::string_view theirs, std::string_view ours);

/// True if the process with the text `cgroups` is in `container`, which `container_of` has named.
[[nodiscard]] bool is_in_container(std::string_view cgroups, std::string_view container);

/// True if the process with the text `theirs` is where the one with the text `ours` is, or below
/// that, in each hierarchy: where it would be had it come out of it, and moved no further up.
[[nodiscard]] bool is_within(std::string_view theirs, std::string_view ours);

/// What people know a container by: the first 12 digits of its id, or else the last name of its
/// path.
[[nodiscard]] std::string_view short_name(std::string_view container);

}  // namespace tenure::process
