#include "base/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace tenure::base {
namespace {

std::string_view variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

}  // namespace

bool is_terminal(int fd) {
  return ::isatty(fd) == 1;
}

bool wants_colour(int fd) {
  const std::string_view kind = variable("TERM");
  return is_terminal(fd) && variable("NO_COLOR").empty() && !kind.empty() && kind != "dumb";
}

}  // namespace tenure::base
