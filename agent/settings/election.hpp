#pragma once

#include <cstdint>
#include <string>

namespace tenure::settings {

struct election {
  std::string name;
  std::uint32_t slots = 1;  ///< how many members may be active at a time

  friend bool operator==(const election&, const election&) = default;
};

}  // namespace tenure::settings
