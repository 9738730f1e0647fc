#pragma once

#include <expected>
#include <functional>

#include "api/verdict.hpp"
#include "core/lease_group.hpp"
#include "wire/problem.hpp"

namespace tenure::api {

/// The result of a read of the store; the problem says why there is none.
using fresh_result = std::expected<fresh_view, wire::problem>;
using fresh_handler = std::move_only_function<void(fresh_result)>;

/// Reads one election from the store, by its index in the snapshot. Thread-safe; returns at once.
/// The read begins after the call. Calls `done` once, on any thread, perhaps before it returns.
using fresh_reader = std::function<void(core::election_index, fresh_handler done)>;

}  // namespace tenure::api
