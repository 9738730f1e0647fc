#pragma once

#include <expected>
#include <functional>

#include "api/verdict.hpp"
#include "core/lease_group.hpp"
#include "wire/problem.hpp"

namespace tenure::api {

/// The result of a read of the store; the problem says why there is nothing to judge by.
using fresh_result = std::expected<fresh_view, wire::problem>;
using fresh_handler = std::move_only_function<void(fresh_result)>;

/// Has the store read one election, by its place in the snapshot. Thread-safe; returns at once. The
/// read begins after the call. `done` is called once, on any thread, perhaps before this returns.
using fresh_reader = std::function<void(core::election_index, fresh_handler done)>;

}  // namespace tenure::api
