#include "base/error_text.hpp"

#include <cstring>

namespace tenure::base {

std::string error_text(int error) {
  const char* words = ::strerrordesc_np(error);
  const char* symbol = ::strerrorname_np(error);
  if (words == nullptr || symbol == nullptr) return "error " + std::to_string(error);
  return std::string(words) + " (" + symbol + ")";
}

}  // namespace tenure::base
