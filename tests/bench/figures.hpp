#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "support/boot_clock.hpp"

/// What the benchmarks read from the machine, and how they print it.
namespace tenure::bench {

using tests::boot_nanoseconds;

/// Longer than a hand-over. Looking for its end earlier would take time of what is measured.
inline constexpr std::chrono::milliseconds before_looking{50};

/// A value in kB of /proc/PID/FILE; -1 if there is none.
long kilobytes(pid_t pid, const char* file, const std::string& key);

/// Precondition: there is at least one.
double median(std::vector<double> values);

/// Median, least and most.
void print_row(const char* what, std::vector<double> values, const char* unit);

/// "met" or "MISSED".
const char* verdict(bool met);

}  // namespace tenure::bench
