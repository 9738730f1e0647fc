#include "cli/text/terminal.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/terminal.hpp"

namespace tenure::cli {
namespace {

constexpr std::size_t gap = 2;
constexpr const char* hide_cursor = "\x1b[?25l";
constexpr const char* show_cursor = "\x1b[?25h";
constexpr const char* to_end_of_line = "\x1b[K";
constexpr const char* to_end_of_screen = "\x1b[J";

bool continues(char c) {
  return (static_cast<unsigned char>(c) & 0xc0U) == 0x80U;
}

/// The number of UTF-8 characters.
std::size_t width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return !continues(c); }));
}

/// As many whole characters as fit.
std::string_view first(std::string_view text, std::size_t columns) {
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (!continues(text[end]) && seen++ == columns) break;
  }
  return text.substr(0, end);
}

const char* code(tint colour) {
  switch (colour) {
    case tint::good:
      return "32";
    case tint::warning:
      return "33";
    case tint::bad:
      return "31";
    case tint::faint:
      return "2";
    case tint::none:
      break;
  }
  return nullptr;
}

std::string painted(std::string_view text, const char* with) {
  if (with == nullptr || text.empty()) return std::string(text);
  return std::string("\x1b[") + with + "m" + std::string(text) + "\x1b[0m";
}

winsize screen() {
  winsize out{};
  ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &out);
  return out;
}

void put(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace

bool wants_colour() {
  return base::wants_colour(STDOUT_FILENO);
}

std::string painted(const cell& what, bool colour, std::size_t columns) {
  const std::string_view text = columns == 0 ? what.text : first(what.text, columns);
  return painted(text, colour ? code(what.colour) : nullptr);
}

std::vector<std::string> table_lines(const std::vector<table_row>& rows, bool colour,
                                     std::size_t columns) {
  std::vector<std::size_t> widths;
  for (const table_row& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], width(row[i].text));
    }
  }
  std::vector<std::string> out;
  for (const table_row& row : rows) {
    std::string line;
    std::size_t used = 0;
    std::size_t begin = 0;
    for (std::size_t i = 0; i < row.size(); begin += widths[i++] + gap) {
      if (columns != 0 && begin >= columns) break;
      const std::string_view text =
          columns == 0 ? row[i].text : first(row[i].text, columns - begin);
      if (text.empty()) continue;
      const char* const with = out.empty() ? "1" : code(row[i].colour);
      line += std::string(begin - used, ' ') + painted(text, colour ? with : nullptr);
      used = begin + width(text);
    }
    out.push_back(std::move(line));
  }
  return out;
}

live_text::live_text() {
  put(hide_cursor);
}

live_text::~live_text() {
  put(show_cursor);
}

void live_text::show(const std::vector<std::string>& lines) {
  const std::size_t rows = screen().ws_row;
  // The last row is for the cursor: a line break there would scroll.
  const std::size_t count =
      rows == 0 ? lines.size() : std::min(lines.size(), rows - std::size_t{1});
  std::string frame;
  if (shown_ != 0) frame += "\x1b[" + std::to_string(shown_) + "A";
  for (std::size_t i = 0; i < count; ++i) frame += "\r" + lines[i] + to_end_of_line + "\n";
  frame += to_end_of_screen;
  put(frame);
  shown_ = count;
}

std::size_t live_text::columns() const {
  return screen().ws_col;
}

}  // namespace tenure::cli
