#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace tenure::wire {

/// A server-sent event. No member may contain a line break; JSON of this room has none.
struct event {
  std::string id{};    ///< empty: the reader keeps its last id
  std::string name{};  ///< empty: no name
  std::string data{};  ///< empty: the event only sets the id

  friend bool operator==(const event&, const event&) = default;
};

/// "id: ...\nevent: ...\ndata: ...\n\n", without the lines of empty members.
std::string write(const event& what);

/// The first event of a stream; nothing if the stream does not begin with a complete one.
std::optional<event> read_event(std::string_view stream);

}  // namespace tenure::wire
