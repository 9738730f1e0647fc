#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "core/clock.hpp"
#include "settings/listen_address.hpp"

namespace tenure::config {

/// An election as given; without slots, those of the setting `slots` apply.
struct named_election {
  std::string name;
  std::optional<std::uint32_t> slots;
};

/// The value of one setting, by the type of its field. The address is that of a listener, none for
/// "off"; percents are parts per million.
using value =
    std::variant<std::string, std::vector<std::string>, std::vector<named_election>, core::duration,
                 std::int64_t, bool, std::optional<settings::listen_address>>;

}  // namespace tenure::config
