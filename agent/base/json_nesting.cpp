#include "base/json_nesting.hpp"

namespace tenure::base {

bool nests_deeper(std::string_view json, std::size_t levels) {
  std::size_t open = 0;
  bool in_text = false;
  for (std::size_t at = 0; at < json.size(); ++at) {
    const char c = json[at];
    if (in_text) {
      if (c == '\\') ++at;
      if (c == '"') in_text = false;
    } else if (c == '"') {
      in_text = true;
    } else if (c == '{' || c == '[') {
      if (++open > levels) return true;
    } else if ((c == '}' || c == ']') && open > 0) {
      --open;
    }
  }
  return false;
}

}  // namespace tenure::base
