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

/// The facts that a hook reports.
struct hook_facts {
  std::string_view event;  ///< "gain" or "stop"
  core::version version = core::no_version;
  core::duration expires_in{};         ///< until the workload must be stopping
  std::optional<core::duration> left;  ///< only for "stop": until it must have stopped
};

/// The order in both forms. `environment`: the variables of its term that every workload gets
/// (TENURE_ELECTION and so on); the body has the same members.
hook_order order_of(const hook_facts& what, const std::vector<std::string>& environment);

}  // namespace tenure::workload
