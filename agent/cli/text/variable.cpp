#include "cli/text/variable.hpp"

#include <cstdlib>

namespace tenure::cli {

std::optional<std::string> variable(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0' ? std::optional<std::string>(value) : std::nullopt;
}

}  // namespace tenure::cli
