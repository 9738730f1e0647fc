#pragma once

#include <string>

#include "core/clock.hpp"

namespace tenure::base {

/// CLOCK_BOOTTIME: monotonic, and runs while the machine sleeps. Thread-safe; cannot fail on Linux
/// 2.6.39 or newer.
core::time_point boot_now();

/// The id of this boot of the kernel (/proc/sys/kernel/random/boot_id). Instants of CLOCK_BOOTTIME
/// can be compared only within one boot. Empty if /proc is not mounted.
std::string boot_id();

/// True if another file is mounted over the one that `boot_id` reads, as some container runtimes
/// do: two containers of one boot would then see different boots. False if the file does not exist.
bool boot_id_is_replaced();

/// True if this process lives in a time namespace with a CLOCK_BOOTTIME of its own, whose instants
/// mean nothing to processes outside it.
bool boot_time_is_shifted();

}  // namespace tenure::base
