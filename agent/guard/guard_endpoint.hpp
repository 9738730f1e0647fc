#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <expected>
#include <memory>
#include <optional>
#include <string>

#include "guard/guard_access.hpp"
#include "guard/guard_fds.hpp"
#include "guard/target.hpp"

/// A guard of this machine: its socket, its memory and the processes of the kernel.
namespace tenure::guard {

/// The guard that TENURE_GUARD_FDS names; that variable is removed from the environment. Fails if
/// it is unset or what it names is not a guard's; the text says which. `foreign`: how a workload is
/// found that the guard has not started.
[[nodiscard]] std::expected<std::unique_ptr<guard_access>, std::string> guard_that_started_us(
    const boost::asio::any_io_executor& executor, const std::optional<settings::target>& foreign);

/// The guard that a `guard_dialer` has found. Fails if it is not a guard, with a text.
[[nodiscard]] std::expected<std::unique_ptr<guard_access>, std::string> guard_behind(
    const boost::asio::any_io_executor& executor, guard_fds fds);

}  // namespace tenure::guard
