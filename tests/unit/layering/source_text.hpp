#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// A C++ source as far as the rules need to read it: what is code, what is comment, what is text.
namespace tenure::layering {

/// One file; `path` counts from agent/, e.g. "core/election.cpp".
struct source {
  std::string path;
  std::string text;
};

/// `text` in which everything but code is blank. Line breaks stay, so that lines keep their
/// numbers; the quotes of a literal stay, so that a call keeps its argument.
std::string only_code(std::string_view text);

/// `text` in which everything but comments is blank.
std::string only_comments(std::string_view text);

struct include {
  std::string name;  ///< without brackets or quotes
  bool quoted;       ///< "ours.hpp" rather than <theirs>
  std::size_t line;  ///< from 1
};

/// The #include lines of `text`, but for those in comments.
std::vector<include> includes_of(std::string_view text);

/// The line, from 1, that offset `at` is on.
std::size_t line_of(std::string_view text, std::size_t at);

/// "core" of "core/election.cpp"; empty for a file that is in no room.
std::string_view room_of(std::string_view path);

/// "election.cpp" of "core/election.cpp".
std::string_view file_name(std::string_view path);

bool is_header(std::string_view path);

}  // namespace tenure::layering
