#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/version.hpp"

namespace tenure::kube {

/// Whom an object names as the active pod.
enum class named : std::uint8_t { nobody, us, other };

/// What shows which pod is active, as the API server has it: a pod with a label or a condition, or
/// an EndpointSlice.
struct marked_object {
  std::string name{};
  std::string uid{};
  std::string resource_version{};  ///< a write of another one than the newest is refused
  named who = named::nobody;
  core::version version = core::no_version;  ///< the term that wrote it last
  /// It says all that we would write for what it says.
  bool is_complete = true;
  /// A list of the election's objects has it. One that names us while no list has it would escape
  /// the next holder.
  bool is_listed = true;
  /// It is a pod that has ended for good: nothing of it will write any more.
  bool is_over = false;
  std::string flaw{};  ///< why it cannot name us, and what to do; empty if it can

  // What a write has to know.
  bool is_ready = false;                 ///< a pod, by the kubelet's word
  std::vector<std::string> addresses{};  ///< ours, those of the slice's address family

  // What only a slice has.
  std::string service{};  ///< whose traffic it leads; empty if that of none
  std::string keeper{};   ///< who writes it, by its label; empty if that is not said

  friend bool operator==(const marked_object&, const marked_object&) = default;
};

}  // namespace tenure::kube
