#include "cli/text/print.hpp"

#include <algorithm>
#include <cstdio>

#include "base/printable_text.hpp"

namespace tenure::cli {

void print_failure(std::string_view verb, std::string_view text) {
  const std::string of = verb.empty() ? "" : " " + std::string(verb);
  std::fprintf(stderr, "tenure%s: %s\n", of.c_str(), base::printable(text).c_str());
}

std::string wrong_value(std::string_view option, const settings::mistake& why) {
  std::string out = std::string(option) + " " + why.what;
  return why.suggestion.empty() ? out : out + "; " + why.suggestion;
}

std::string json_line(std::string_view json) {
  // Only between values; inside a string, JSON has escapes for these.
  constexpr std::string_view blanks = " \t\r\n";
  std::string out(json.substr(0, json.find_last_not_of(blanks) + 1));
  std::ranges::replace_if(out, [blanks](char c) { return blanks.contains(c); }, ' ');
  return base::escaped(out);
}

void print_json(std::string_view json) {
  std::puts(json_line(json).c_str());
}

}  // namespace tenure::cli
