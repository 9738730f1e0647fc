#pragma once

#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>

#include "core/member_order.hpp"

namespace tenure::wire {

/// {"member","to","aside","accept_versions"}, the members that are set. The action is in
/// the path of the request, not in its body.
std::string write(const core::order& what);

/// The order in a body; an empty body counts as {}. The error is one sentence. A member that the
/// action does not take is refused: otherwise a misspelt "to" would let anybody take over.
std::expected<core::order, std::string> read_order(core::order_action action,
                                                   std::string_view body);

/// The answer to an order that has begun; a `set` is complete.
struct accepted_order {
  bool accepted = false;
  std::string election{};
  std::string action{};  ///< the name of a core::order_action
  std::string by{};      ///< the member that carries it out; empty: an older agent does not say
  std::string to{};      ///< the next holder, if the order names one
  bool accept_versions = false;

  friend bool operator==(const accepted_order&, const accepted_order&) = default;
};

/// Omits what the order does not have.
std::string write(const accepted_order& what);

/// Nothing if the body is not a JSON object.
std::optional<accepted_order> read_accepted_order(std::string_view body);

}  // namespace tenure::wire
