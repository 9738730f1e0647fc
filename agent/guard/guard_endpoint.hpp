#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "guard/guard_access.hpp"
#include "guard/guard_fds.hpp"
#include "guard/target.hpp"

/// A guard on this machine: its socket, its memory and the kernel's processes.
namespace tenure::guard {

/// The guard that TENURE_GUARD_FDS names; removes that variable from the environment. Fails with a
/// message if it is unset or does not name a guard's descriptors. `foreign`: how to find a workload
/// that the guard did not start.
[[nodiscard]] std::expected<std::unique_ptr<guard_access>, std::string> guard_that_started_us(
    const boost::asio::any_io_executor& executor, const std::optional<settings::target>& foreign);

/// The guard that a `guard_dialer` has found. Fails with a message if it is not a guard.
[[nodiscard]] std::expected<std::unique_ptr<guard_access>, std::string> guard_behind(
    const boost::asio::any_io_executor& executor, guard_fds fds);

}  // namespace tenure::guard
