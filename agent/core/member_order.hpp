#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/version.hpp"

/// What people order members to do, and how an order gets to a member whose agent was not asked.
namespace tenure::core {

enum class order_action : std::uint8_t {
  resign,
  transfer,
  pause,
  resume,
  set,  ///< changes what the election is, in the store; any agent does it
};

std::string_view name(order_action what);

/// The action of that name; nothing if there is none of it.
std::optional<order_action> order_action_named(std::string_view text);

/// True if a term is to be given up.
constexpr bool gives_up(order_action what) {
  return what == order_action::resign || what == order_action::transfer;
}

struct order {
  order_action what = order_action::resign;
  std::string member{};             ///< who is to obey; empty: the holder, or whoever is asked
  std::optional<duration> aside{};  ///< of a resignation; nothing: the ttl
  std::string heir{};               ///< empty: whoever comes first
  std::uint32_t slots = 0;          ///< of `set`; 0: as many as before
  bool accept_versions = false;     ///< of `set`: versions begin anew, see core::agreement

  friend bool operator==(const order&, const order&) = default;
};

/// What the member that was ordered says.
struct order_reply {
  bool accepted = false;
  std::string code{};  ///< of a refusal, and so are these
  std::string message{};
  std::string action{};

  friend bool operator==(const order_reply&, const order_reply&) = default;
};

/// An order that one member's agent has left in the store for another's. It is there for seconds,
/// whether or not anybody takes it.
struct left_order {
  std::string id{};
  order wanted{};                      ///< `member` is not empty
  core::version version = no_version;  ///< that is to be given up, if one is
  std::optional<order_reply> reply{};  ///< once it was taken

  friend bool operator==(const left_order&, const left_order&) = default;
};

}  // namespace tenure::core
