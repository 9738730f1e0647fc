#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/version.hpp"

/// What operators order members to do, and how an order reaches a member of another agent.
namespace tenure::core {

enum class order_action : std::uint8_t {
  resign,
  transfer,
  pause,
  resume,
  set,  ///< changes the election's agreement in the store; any agent can do it
};

std::string_view name(order_action what);

/// The action with this name; nothing for any other text.
std::optional<order_action> order_action_named(std::string_view text);

/// True if the action ends a term.
constexpr bool gives_up(order_action what) {
  return what == order_action::resign || what == order_action::transfer;
}

struct order {
  order_action what = order_action::resign;
  std::string member{};  ///< who obeys; empty: the holder, or the member whose agent got the order
  std::optional<duration> aside{};  ///< for resign: how long to stand aside; nothing: the ttl
  std::string heir{};               ///< only for transfer; empty: any member
  bool accept_versions = false;     ///< only for `set`: versions restart lower, see core::agreement

  friend bool operator==(const order&, const order&) = default;
};

/// What the ordered member answers.
struct order_reply {
  bool accepted = false;
  std::string code{};  ///< this and the next two: set only for a refusal
  std::string message{};
  std::string action{};

  friend bool operator==(const order_reply&, const order_reply&) = default;
};

/// An order that one member's agent leaves in the store for another's agent. It stays there for
/// seconds, whether or not anybody takes it.
struct left_order {
  std::string id{};
  order wanted{};                      ///< `member` is not empty
  core::version version = no_version;  ///< the term to give up, if the order ends one
  std::optional<order_reply> reply{};  ///< set once the order was taken

  friend bool operator==(const left_order&, const left_order&) = default;
};

}  // namespace tenure::core
