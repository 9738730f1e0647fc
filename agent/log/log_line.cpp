#include "log/log_line.hpp"

namespace tenure::log {

std::string_view name(log_level level) {
  switch (level) {
    case log_level::debug:
      return "debug";
    case log_level::info:
      return "info";
    case log_level::warn:
      return "warn";
    case log_level::error:
      return "error";
  }
  return "";
}

std::string_view colour_of(log_level level) {
  switch (level) {
    case log_level::debug:
      return faint_colour;
    case log_level::info:
      return "\x1b[32m";
    case log_level::warn:
      return "\x1b[33m";
    case log_level::error:
      return "\x1b[31m";
  }
  return "";
}

bool is_bare(std::string_view value) {
  return !value.empty() && value.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789._-:/@%+,") == std::string_view::npos;
}

}  // namespace tenure::log
