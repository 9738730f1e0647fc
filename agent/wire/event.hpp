#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::wire {

/// A server-sent event. No member has a line break in it; JSON of this room has none.
struct event {
  std::string id{};    ///< empty: the reader keeps the id that it has
  std::string name{};  ///< empty: the event has no name
  std::string data{};  ///< empty: the event only gives an id

  friend bool operator==(const event&, const event&) = default;
};

/// "id: ...\nevent: ...\ndata: ...\n\n", without the lines of what is empty.
std::string write(const event& what);

/// The first event of a stream; nothing if the stream does not begin with a whole one.
std::optional<event> read_event(std::string_view stream);

}  // namespace tenure::wire
