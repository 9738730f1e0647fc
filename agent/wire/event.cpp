#include "wire/event.hpp"

#include <array>
#include <utility>

namespace tenure::wire {
namespace {

/// The lines of an event in their order.
constexpr std::array<std::pair<std::string_view, std::string event::*>, 3> fields{
    {{"id: ", &event::id}, {"event: ", &event::name}, {"data: ", &event::data}}};

}  // namespace

std::string write(const event& what) {
  std::string out;
  for (const auto& [name, value] : fields) {
    if (!(what.*value).empty()) out.append(name).append(what.*value).append("\n");
  }
  return out + "\n";
}

std::optional<event> read_event(std::string_view stream) {
  event out;
  for (std::size_t end = stream.find('\n'); end != std::string_view::npos;
       end = stream.find('\n')) {
    if (end == 0) return out;
    for (const auto& [name, value] : fields) {
      if (stream.starts_with(name)) out.*value = stream.substr(name.size(), end - name.size());
    }
    stream.remove_prefix(end + 1);
  }
  return std::nullopt;
}

}  // namespace tenure::wire
