#include "wire/event.hpp"

namespace tenure::wire {

std::string write(const event& what) {
  std::string out;
  if (!what.id.empty()) out += "id: " + what.id + "\n";
  if (!what.name.empty()) out += "event: " + what.name + "\n";
  if (!what.data.empty()) out += "data: " + what.data + "\n";
  return out + "\n";
}

}  // namespace tenure::wire
