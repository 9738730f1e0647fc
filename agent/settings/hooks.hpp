#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tenure::settings {

/// How the agent tells a workload that it does not run itself. An empty member was not given.
struct hooks {
  std::string gain_http{};
  std::vector<std::string> gain_command{};
  std::string gain_file{};
  std::string stop_http{};
  std::vector<std::string> stop_command{};
  std::optional<std::uint32_t> stop_exit_code{};

  /// True if hooks tell the workload when it may be active.
  [[nodiscard]] bool gain() const {
    return !gain_http.empty() || !gain_command.empty() || !gain_file.empty();
  }
  /// True if something stops it.
  [[nodiscard]] bool stop() const {
    return !stop_http.empty() || !stop_command.empty() || stop_exit_code;
  }
  [[nodiscard]] bool any() const { return gain() || stop(); }

  friend bool operator==(const hooks&, const hooks&) = default;
};

}  // namespace tenure::settings
