#include "config/problem.hpp"

#include <array>
#include <cstdio>

namespace tenure::config {
namespace {

bool continues_a_character(char c) {
  return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U;
}

/// Control characters escaped: they could break the line or steer the terminal.
std::string printable(std::string_view input) {
  std::string out;
  for (const char c : input) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte != 0x7F) {
      out += c;
      continue;
    }
    std::array<char, 8> escape{};
    std::snprintf(escape.data(), escape.size(), "\\x%02x", byte);
    out += escape.data();
  }
  return out;
}

}  // namespace

std::string render(const problem& p) {
  std::string line;
  if (!p.where.empty()) line += p.where + ": ";
  line += p.what;
  if (!p.suggestion.empty()) line += "; " + p.suggestion;
  return printable(line);
}

std::string quote(std::string_view input) {
  std::size_t end = input.size();
  if (end > max_quoted_bytes) {
    end = max_quoted_bytes;
    while (end > 0 && continues_a_character(input[end])) --end;
  }
  std::string out = "\"";
  for (const char c : input.substr(0, end)) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  if (end < input.size()) out += "...";
  return printable(out + '"');
}

}  // namespace tenure::config
