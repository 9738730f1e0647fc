#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Output for people.
namespace tenure::cli {

/// True if stdout is a terminal that wants colours (NO_COLOR, TERM=dumb).
bool wants_colour();

enum class tint : unsigned char { none, good, warning, bad, faint };

/// A cell of a table. Only our own program may control the terminal: the text must be printable.
struct cell {
  std::string text;
  tint colour = tint::none;
};
using table_row = std::vector<cell>;

/// Lines without line breaks: columns as wide as their contents, with two blanks between them.
/// Lines are cut at `columns`; 0: not cut. The first row is a heading.
std::vector<std::string> table_lines(const std::vector<table_row>& rows, bool colour,
                                     std::size_t columns = 0);

/// The same for one line.
std::string painted(const cell& what, bool colour, std::size_t columns = 0);

/// Text that stays in place on the terminal and is replaced as a whole. Hides the cursor until its
/// destruction.
class live_text {
 public:
  live_text();
  ~live_text();
  live_text(const live_text&) = delete;
  live_text& operator=(const live_text&) = delete;

  /// Writes everything at once, so that no half of it is visible. Omits what does not fit the
  /// screen.
  void show(const std::vector<std::string>& lines);

  [[nodiscard]] std::size_t columns() const;  ///< 0: unknown

 private:
  std::size_t shown_ = 0;
};

}  // namespace tenure::cli
