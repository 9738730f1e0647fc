#include "core/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <tuple>

namespace tenure::core {

std::string_view name(phase p) {
  switch (p) {
    case phase::observer:
      return "observer";
    case phase::candidate:
      return "candidate";
    case phase::pending:
      return "pending";
    case phase::active:
      return "active";
    case phase::draining:
      return "draining";
    case phase::stopped:
      return "stopped";
  }
  return "unknown";
}

std::string_view name(loss_reason r) {
  switch (r) {
    case loss_reason::none:
      return "none";
    case loss_reason::renew_timeout:
      return "renew_timeout";
    case loss_reason::taken_over:
      return "taken_over";
    case loss_reason::session_invalid:
      return "session_invalid";
    case loss_reason::revoked:
      return "revoked";
    case loss_reason::suspended:
      return "suspended";
    case loss_reason::unhealthy:
      return "unhealthy";
    case loss_reason::resigned:
      return "resigned";
    case loss_reason::preempted:
      return "preempted";
    case loss_reason::shutdown:
      return "shutdown";
    case loss_reason::workload_exited:
      return "workload_exited";
    case loss_reason::guard_gone:
      return "guard_gone";
    case loss_reason::container_died:
      return "container_died";
    case loss_reason::version_regressed:
      return "version_regressed";
    case loss_reason::ttl_too_short:
      return "ttl_too_short";
  }
  return "unknown";
}

std::optional<loss_reason> loss_reason_named(std::string_view text) {
  static constexpr std::array all{loss_reason::none,
                                  loss_reason::renew_timeout,
                                  loss_reason::taken_over,
                                  loss_reason::session_invalid,
                                  loss_reason::revoked,
                                  loss_reason::suspended,
                                  loss_reason::unhealthy,
                                  loss_reason::resigned,
                                  loss_reason::preempted,
                                  loss_reason::shutdown,
                                  loss_reason::workload_exited,
                                  loss_reason::guard_gone,
                                  loss_reason::container_died,
                                  loss_reason::version_regressed,
                                  loss_reason::ttl_too_short};
  const auto found = std::ranges::find(all, text, [](loss_reason r) { return name(r); });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

}  // namespace tenure::core
