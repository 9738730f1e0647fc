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

}  // namespace tenure::config
