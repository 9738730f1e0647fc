#pragma once

#include "core/clock.hpp"
#include "core/election.hpp"
#include "kube/traffic_switch.hpp"

namespace tenure::kube {

/// What this election wants to be shown of its pod. Computed from its lease each time: a flag would
/// outlive it.
traffic_wish wish_of(const core::election& one, core::time_point now);

}  // namespace tenure::kube
