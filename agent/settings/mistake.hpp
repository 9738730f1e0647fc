#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace tenure::settings {

/// What is wrong with a value that a user gave.
struct mistake {
  std::string what;        ///< continues a sentence that begins with the name of the setting
  std::string suggestion;  ///< what to write or do instead; may be empty
};

/// "is empty; give a URL".
std::string text(const mistake& why);

template <class T>
using parsed = std::expected<T, mistake>;

inline std::unexpected<mistake> wrong(std::string what, std::string suggestion = {}) {
  return std::unexpected(mistake{std::move(what), std::move(suggestion)});
}

/// The longest piece of a user's input that a message repeats. It keeps a line readable, and most
/// of a secret that was put into the wrong place out of the log.
inline constexpr std::size_t max_quoted_bytes = 80;

/// `input` in double quotes, cut after `max_quoted_bytes`; what does not print is escaped. Not
/// called `quoted`, because std::quoted would then be found first for a std::string.
std::string quote(std::string_view input);

}  // namespace tenure::settings
