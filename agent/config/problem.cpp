#include "config/problem.hpp"

#include "base/printable_text.hpp"

namespace tenure::config {

std::string render(const problem& p) {
  std::string line;
  if (!p.where.empty()) line += p.where + ": ";
  line += p.what;
  if (!p.suggestion.empty()) line += "; " + p.suggestion;
  return base::escaped(line);
}

std::string quote(std::string_view input) {
  const std::string_view begins = base::beginning(input, max_quoted_bytes);
  const std::string_view end = begins.size() < input.size() ? "...\"" : "\"";
  return base::escaped(begins, "\"\\").insert(0, "\"").append(end);
}

}  // namespace tenure::config
