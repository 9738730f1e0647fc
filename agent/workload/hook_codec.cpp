#include "workload/hook_codec.hpp"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "base/number_text.hpp"

namespace tenure::workload {
namespace {

std::int64_t milliseconds(core::duration d) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::max(d, core::duration::zero()))
      .count();
}

/// Empty if the variable is not set.
std::string value_of(std::string_view variable, const std::vector<std::string>& environment) {
  const std::string name = std::string(variable) + '=';
  const auto entry = std::ranges::find_if(
      environment, [&](const std::string& one) { return one.starts_with(name); });
  return entry == environment.end() ? std::string() : entry->substr(name.size());
}

}  // namespace

hook_order order_of(const hook_facts& what, const std::vector<std::string>& environment) {
  nlohmann::ordered_json body{
      {"event", what.event},
      {"election", value_of("TENURE_ELECTION", environment)},
      {"identity", value_of("TENURE_IDENTITY", environment)},
      {"version", core::number(what.version)},
      {"sequencer", value_of("TENURE_SEQUENCER", environment)},
      {"slot", base::read_number<std::uint32_t>(value_of("TENURE_SLOT", environment)).value_or(0)},
      {"expires_in_ms", milliseconds(what.expires_in)},
  };
  hook_order out{.body = {}, .environment = environment};
  out.environment.push_back("TENURE_EVENT=" + std::string(what.event));
  out.environment.push_back("TENURE_EXPIRES_IN_MS=" +
                            std::to_string(milliseconds(what.expires_in)));
  if (what.left) {
    body["left_ms"] = milliseconds(*what.left);
    out.environment.push_back("TENURE_LEFT_MS=" + std::to_string(milliseconds(*what.left)));
  }
  // Invalid UTF-8 is replaced: a name that cannot be printed must not prevent a stop.
  out.body = body.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return out;
}

}  // namespace tenure::workload
