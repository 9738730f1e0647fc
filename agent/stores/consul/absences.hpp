#pragma once

#include <expected>
#include <functional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "stores/consul/cluster.hpp"

namespace tenure::stores::consul {

/// Asks whether these keys are gone, which a read no longer shows; consistent. A read of a folder
/// shows to a token only what it may read, and says nothing of the rest: when a token or its policy
/// is changed, keys vanish that are still there. A transaction that reads a key by its name fails
/// if there is none, and shows nothing of one that the token may not read.
///
/// Calls `done` once, by the deadline: with nothing if all of them are gone, else with why they are
/// not known to be.
void confirm_absent(cluster& through, std::vector<std::string> keys, core::time_point deadline,
                    handler<std::expected<void, call_failure>> done);

}  // namespace tenure::stores::consul
