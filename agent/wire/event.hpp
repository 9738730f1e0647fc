#pragma once

#include <string>

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

}  // namespace tenure::wire
