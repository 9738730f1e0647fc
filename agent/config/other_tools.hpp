#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "config/fields.hpp"

/// The environment variables of the tools that Tenure takes the place of.
namespace tenure::config {

enum class other_tool : std::uint8_t { consul, k8s_await_election };

/// One row of the table. Each variable that the tool reads has one: it means here what it means
/// there, or it is refused, or it changes nothing about who excludes whom.
struct other_variable {
  other_tool of;
  std::string_view name;
  std::optional<setting> which = {};  ///< the setting that it gives
  bool is_secret = false;             ///< its content is never read
  bool for_tls = false;               ///< it means nothing to a plain http endpoint
  /// Refused where nothing gives `unless`: why, and what to do.
  std::string_view why_not = {};
  std::string_view instead = {};
  std::optional<setting> unless = {};
};

/// The table, by tool.
std::span<const other_variable> other_variables();

/// The prefix that all variables of k8s-await-election have.
inline constexpr std::string_view await_prefix = "K8S_AWAIT_ELECTION_";
/// The variable without which the others of k8s-await-election mean nothing.
inline constexpr std::string_view await_enabled = "K8S_AWAIT_ELECTION_ENABLED";

/// True for a variable of another tool whose content is a secret.
bool is_secret_variable(std::string_view name);

}  // namespace tenure::config
