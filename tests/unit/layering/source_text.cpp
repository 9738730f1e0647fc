#include "unit/layering/source_text.hpp"

#include <algorithm>
#include <cctype>
#include <regex>

namespace tenure::layering {
namespace {

enum class kind : char { code, comment, literal };

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Where the raw string that begins at the quote `at` ends: behind its last quote.
std::size_t end_of_raw(std::string_view text, std::size_t at) {
  const std::size_t open = text.find('(', at);
  if (open == std::string_view::npos) return text.size();
  const std::string close = ")" + std::string(text.substr(at + 1, open - at - 1)) + "\"";
  const std::size_t end = text.find(close, open);
  return end == std::string_view::npos ? text.size() : end + close.size();
}

/// Where the literal that begins at the quote `at` ends: behind its last quote.
std::size_t end_of_quoted(std::string_view text, std::size_t at) {
  const char quote = text[at];
  for (std::size_t i = at + 1; i < text.size(); ++i) {
    if (text[i] == '\\') {
      ++i;
    } else if (text[i] == quote || text[i] == '\n') {
      return i + 1;
    }
  }
  return text.size();
}

/// What each character is.
std::vector<kind> kinds_of(std::string_view text) {
  std::vector<kind> kinds(text.size(), kind::code);
  const auto mark = [&](std::size_t from, std::size_t to, kind what) {
    to = std::min(to, text.size());
    for (std::size_t i = from; i < to; ++i) kinds[i] = what;
    return to;
  };
  for (std::size_t i = 0; i < text.size();) {
    const char before = i > 0 ? text[i - 1] : ' ';
    if (text.substr(i, 2) == "//") {
      i = mark(i, std::min(text.find('\n', i), text.size()), kind::comment);
    } else if (text.substr(i, 2) == "/*") {
      const std::size_t end = text.find("*/", i + 2);
      i = mark(i, end == std::string_view::npos ? text.size() : end + 2, kind::comment);
    } else if (text[i] == '"') {
      const std::size_t end = before == 'R' ? end_of_raw(text, i) : end_of_quoted(text, i);
      mark(i + 1, end - 1, kind::literal);
      i = end;
    } else if (text[i] == '\'' && !is_word(before)) {  // else it groups digits: 1'000
      const std::size_t end = end_of_quoted(text, i);
      mark(i + 1, end - 1, kind::literal);
      i = end;
    } else {
      ++i;
    }
  }
  return kinds;
}

std::string only(std::string_view text, kind wanted) {
  const std::vector<kind> kinds = kinds_of(text);
  std::string left(text);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (kinds[i] != wanted && left[i] != '\n') left[i] = ' ';
  }
  return left;
}

}  // namespace

std::string only_code(std::string_view text) {
  return only(text, kind::code);
}

std::string only_comments(std::string_view text) {
  return only(text, kind::comment);
}

std::vector<include> includes_of(std::string_view text) {
  static const std::regex line(R"re(^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"])re",
                               std::regex::ECMAScript | std::regex::multiline);
  const std::string code = only_code(text);
  const std::string whole(text);
  std::vector<include> found;
  for (auto i = std::sregex_iterator(whole.begin(), whole.end(), line); i != std::sregex_iterator();
       ++i) {
    const auto hash = static_cast<std::size_t>(i->position(0)) + i->str(0).find('#');
    if (code[hash] != '#') continue;
    found.push_back({i->str(2), i->str(1) == "\"", line_of(text, hash)});
  }
  return found;
}

std::size_t line_of(std::string_view text, std::size_t at) {
  return 1 + static_cast<std::size_t>(std::ranges::count(text.substr(0, at), '\n'));
}

std::string_view room_of(std::string_view path) {
  const std::size_t slash = path.find('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string_view file_name(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? path : path.substr(slash + 1);
}

bool is_header(std::string_view path) {
  return path.ends_with(".hpp");
}

}  // namespace tenure::layering
