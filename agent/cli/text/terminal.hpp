#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// What is printed for people.
namespace tenure::cli {

/// True if stdout is a terminal that wants colours (NO_COLOR, TERM=dumb).
bool wants_colour();

enum class tint : unsigned char { none, good, warning, bad, faint };

/// A piece of a table. Only what a program of ours has put there may steer a terminal: the text
/// must be printable.
struct cell {
  std::string text;
  tint colour = tint::none;
};
using table_row = std::vector<cell>;

/// Lines without their ends: columns as wide as what stands in them, two blanks between. Of
/// `columns` on, lines are cut; 0: they are not. The first row is a heading.
std::vector<std::string> table_lines(const std::vector<table_row>& rows, bool colour,
                                     std::size_t columns = 0);

/// The same for one line.
std::string painted(const cell& what, bool colour, std::size_t columns = 0);

/// Text that stays in its place on the terminal and is exchanged as a whole. The cursor is hidden
/// until it goes.
class live_text {
 public:
  live_text();
  ~live_text();
  live_text(const live_text&) = delete;
  live_text& operator=(const live_text&) = delete;

  /// In one write, so that no half of it is ever seen. What does not fit the screen is left out.
  void show(const std::vector<std::string>& lines);

  [[nodiscard]] std::size_t columns() const;  ///< 0: not known

 private:
  std::size_t shown_ = 0;
};

}  // namespace tenure::cli
