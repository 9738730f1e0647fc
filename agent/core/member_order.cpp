#include "core/member_order.hpp"

#include <algorithm>
#include <array>

namespace tenure::core {
namespace {

constexpr std::array actions{order_action::resign, order_action::transfer, order_action::pause,
                             order_action::resume, order_action::set};

}  // namespace

std::string_view name(order_action what) {
  switch (what) {
    case order_action::resign:
      return "resign";
    case order_action::transfer:
      return "transfer";
    case order_action::pause:
      return "pause";
    case order_action::resume:
      return "resume";
    case order_action::set:
      return "set";
  }
  return "";
}

std::optional<order_action> order_action_named(std::string_view text) {
  const auto* const found =
      std::ranges::find(actions, text, [](order_action one) { return name(one); });
  return found == actions.end() ? std::nullopt : std::optional(*found);
}

}  // namespace tenure::core
