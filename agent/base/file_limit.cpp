#include "base/file_limit.hpp"

#include <sys/resource.h>

#include <algorithm>

namespace tenure::base {
namespace {

/// The soft limit before it was raised; 0: it was not raised.
rlim_t original = 0;

}  // namespace

std::uint64_t raise_file_limit(std::uint64_t wanted) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return 0;
  const rlim_t before = limit.rlim_cur;
  if (before >= wanted) return before;
  limit.rlim_cur = std::min<rlim_t>(wanted, limit.rlim_max);
  if (limit.rlim_cur <= before || ::setrlimit(RLIMIT_NOFILE, &limit) != 0) return before;
  if (original == 0) original = before;
  return limit.rlim_cur;
}

std::optional<rlimit> file_limit_of_programs() {
  rlimit limit{};
  if (original == 0 || ::getrlimit(RLIMIT_NOFILE, &limit) != 0) return std::nullopt;
  limit.rlim_cur = std::min(original, limit.rlim_max);
  return limit;
}

}  // namespace tenure::base
