#include "wire/event.hpp"

namespace tenure::wire {

std::string write(const event& what) {
  std::string out;
  if (!what.id.empty()) out += "id: " + what.id + "\n";
  if (!what.name.empty()) out += "event: " + what.name + "\n";
  if (!what.data.empty()) out += "data: " + what.data + "\n";
  return out + "\n";
}

std::optional<event> read_event(std::string_view stream) {
  const auto whole = stream.substr(0, stream.find("\n\n") + 1);
  if (whole.empty()) return std::nullopt;
  const auto line = [whole](std::string_view name) {
    const std::size_t at = whole.starts_with(name) ? 0 : whole.find("\n" + std::string(name)) + 1;
    if (!whole.substr(at).starts_with(name)) return std::string();
    const std::size_t begin = at + name.size();
    return std::string(whole.substr(begin, whole.find('\n', begin) - begin));
  };
  return event{.id = line("id: "), .name = line("event: "), .data = line("data: ")};
}

}  // namespace tenure::wire
