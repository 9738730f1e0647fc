#include "core/health.hpp"

#include <utility>

#include "core/check.hpp"

namespace tenure::core {

std::string_view name(health h) {
  switch (h) {
    case health::unknown:
      return "unknown";
    case health::healthy:
      return "healthy";
    case health::unhealthy:
      return "unhealthy";
  }
  return "";
}

health health_named(std::string_view text) {
  for (const health one : {health::healthy, health::unhealthy}) {
    if (name(one) == text) return one;
  }
  return health::unknown;
}

health_judge::health_judge(const health_rule& rule) : rule_(rule) {
  TENURE_CHECK(rule.failures > 0 && rule.successes > 0);
}

void health_judge::begin(time_point now) {
  verdict_ = health::unknown;
  successes_ = 0;
  forgive(now);
}

void health_judge::forgive(time_point now) {
  failures_ = 0;
  forgiven_until_ = now + rule_.delay;
}

bool health_judge::passed() {
  failures_ = 0;
  if (successes_ < rule_.successes) ++successes_;
  return successes_ >= rule_.successes && decide(health::healthy);
}

bool health_judge::failed(time_point begun) {
  successes_ = 0;
  if (begun < forgiven_until_) return false;
  if (failures_ < rule_.failures) ++failures_;
  return failures_ >= rule_.failures && decide(health::unhealthy);
}

bool health_judge::decide(health verdict) {
  return std::exchange(verdict_, verdict) != verdict;
}

}  // namespace tenure::core
