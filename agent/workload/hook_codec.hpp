#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"
#include "workload/hook.hpp"

namespace tenure::workload {

/// What a hook says, as facts.
struct hook_facts {
  std::string_view event;  ///< "gain" or "stop"
  core::version version = core::no_version;
  core::duration expires_in{};         ///< until the workload must have been told to stop
  std::optional<core::duration> left;  ///< of "stop": until it must have stopped
};

/// The order in both its forms. `environment`: what a workload is told of its term anyway
/// (TENURE_ELECTION and so on); the body has the same members.
hook_order order_of(const hook_facts& what, const std::vector<std::string>& environment);

}  // namespace tenure::workload
