#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/version.hpp"
#include "kube/api_server.hpp"

/// How the kubelet shows that the term of another member has ended with its container. Pure.
///
/// A guard leaves the name of the term as the termination message of its container before it starts
/// the workload (process::exec_request::last_words). The kubelet puts that message into the status
/// of this very container once the container runtime says that it has exited, and not before. What
/// the kubelet or a controller write without a look at the container, such as the reason
/// ContainerStatusUnknown, the phase of a pod or a deletion timestamp, comes without the message.
namespace tenure::kube {

/// What names a term there; empty if that is longer than the kubelet shows.
std::string last_words(std::string_view election, core::version version,
                       std::string_view sequencer);

/// A container that has ended, now or before it was started again, as its pod's status shows it.
struct container_end {
  std::string container;
  std::string last_words;
  std::string reason;  ///< "OOMKilled"
  std::int64_t exit_code = 0;

  friend bool operator==(const container_end&, const container_end&) = default;
};

/// True if the container runtime has seen it end. containerd gives a container the exit code 255
/// whose end it has missed, e.g. when its shim was killed.
bool was_seen(const container_end& what);

/// Asks for the pod with this name, and for each change of it. Does not ask from when on, so that
/// the present state comes first.
api_request pod_watch_request(std::string_view name_space, std::string_view name,
                              core::duration lasts);

/// The containers that have ended in the pod of this name, by one document of a watch; none if it
/// is not about this pod. Else why it cannot be used, printable and in one line.
std::expected<std::vector<container_end>, std::string> read_ends(std::string_view document,
                                                                 std::string_view name);

}  // namespace tenure::kube
