#pragma once

#include <cstddef>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "unit/layering/source_text.hpp"

/// The rules of the house that a compiler does not hold: who may know whom, what is never called,
/// what a file looks like.
namespace tenure::layering {

/// The most lines that a file may have. Files are split where a reader would, long before this.
inline constexpr std::size_t most_lines = 600;

/// One place where a rule is broken.
struct finding {
  std::string path;
  std::size_t line = 0;
  std::string rule;  ///< its name, e.g. "rooms"
  std::string why;   ///< what is wrong, the reason, and what to do instead

  friend std::ostream& operator<<(std::ostream& out, const finding& f) {
    return out << "agent/" << f.path << ":" << f.line << ": " << f.rule << ": " << f.why;
  }
};

/// Every rule on every source; rules that count files (one heavy dependency, one .cpp) see all.
std::vector<finding> check(std::span<const source> sources);

/// All rooms that there are, from the lowest.
std::vector<std::string_view> rooms();

/// The rooms that this one may know. Precondition: it is one of `rooms`.
std::vector<std::string_view> known_to(std::string_view name);

}  // namespace tenure::layering
