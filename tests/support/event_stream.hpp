#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "wire/event.hpp"

namespace tenure::tests {

/// The first event of a stream; nothing if the stream does not begin with a complete one.
inline std::optional<wire::event> read_event(std::string_view stream) {
  const auto whole = stream.substr(0, stream.find("\n\n") + 1);
  if (whole.empty()) return std::nullopt;
  const auto line = [whole](std::string_view name) {
    const std::size_t at = whole.starts_with(name) ? 0 : whole.find("\n" + std::string(name)) + 1;
    if (!whole.substr(at).starts_with(name)) return std::string();
    const std::size_t begin = at + name.size();
    return std::string(whole.substr(begin, whole.find('\n', begin) - begin));
  };
  return wire::event{.id = line("id: "), .name = line("event: "), .data = line("data: ")};
}

}  // namespace tenure::tests
