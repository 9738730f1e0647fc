#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "base/short_text.hpp"
#include "core/clock.hpp"

/// Durations as people write them.
namespace tenure::base {

/// Enough for every duration here, and far from overflow.
inline constexpr std::size_t max_decimal_digits = 9;

/// A decimal number as units and billionths of a unit.
struct decimal {
  std::int64_t whole = 0;
  std::int64_t billionths = 0;
  std::size_t decimals = 0;  ///< how many decimals the text has
};

/// Takes a number off the front of `text`; nothing if there is none or it is too long.
std::optional<decimal> take_decimal(std::string_view& text);

/// Why a text is not a duration.
struct duration_mistake {
  enum class fault : std::uint8_t {
    empty,
    negative,
    no_number,
    no_unit,
    unknown_unit,
    out_of_order,  ///< a unit is not smaller than the previous one
    too_long,
  };
  fault is = fault::empty;
  std::string_view unit{};  ///< the unknown one, a part of the text that was read
};

/// Holds any duration that `spoken` returns.
using spoken_text = short_text<32>;

/// For use in a sentence: "150 ms", "9.8 s", "2 min 5 s", "3 h 20 min", "4 d 3 h". A negative
/// duration is shown as zero. Allocates nothing.
spoken_text spoken(core::duration d);

/// Reads "500ms", "15s", "1.5s", "1m30s", up to `most`.
std::expected<core::duration, duration_mistake> read_duration(std::string_view text,
                                                              core::duration most);

}  // namespace tenure::base
