#include "base/printable_text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>

namespace tenure::base {
namespace {

constexpr char32_t replacement = 0xFFFD;
constexpr std::string_view replacement_text = "\xEF\xBF\xBD";
constexpr std::string_view cut_mark = "...";
constexpr char32_t first_of_two_units = 0x1'0000;

struct code_range {
  char32_t first;
  char32_t last;
};

/// Characters that are invisible or control the display.
constexpr std::array<code_range, 12> hidden{{
    {0x0000, 0x001F},    // C0
    {0x007F, 0x009F},    // DEL and C1
    {0x00AD, 0x00AD},    // soft hyphen
    {0x061C, 0x061C},    // Arabic letter mark
    {0x180E, 0x180E},    // Mongolian vowel separator
    {0x200B, 0x200F},    // zero width, marks of direction
    {0x2028, 0x202E},    // line and paragraph separator, embeddings, overrides
    {0x2060, 0x206F},    // invisible operators, isolates
    {0xFEFF, 0xFEFF},    // byte order mark
    {0xFFF9, 0xFFFB},    // annotations
    {0xFFFE, 0xFFFF},    // not characters
    {0xE0000, 0xE0FFF},  // tags
}};

/// The well-formed sequences of Unicode's table 3-7: the first bytes, how many follow, and the
/// range of the second. It excludes surrogates, overlong forms and codes above U+10FFFF.
struct sequence {
  unsigned char first;
  unsigned char last;
  std::size_t bytes;
  unsigned char second_from;
  unsigned char second_to;
};
constexpr std::array<sequence, 9> sequences{{
    {0x00, 0x7F, 1, 0x00, 0x00},
    {0xC2, 0xDF, 2, 0x80, 0xBF},
    {0xE0, 0xE0, 3, 0xA0, 0xBF},
    {0xE1, 0xEC, 3, 0x80, 0xBF},
    {0xED, 0xED, 3, 0x80, 0x9F},
    {0xEE, 0xEF, 3, 0x80, 0xBF},
    {0xF0, 0xF0, 4, 0x90, 0xBF},
    {0xF1, 0xF3, 4, 0x80, 0xBF},
    {0xF4, 0xF4, 4, 0x80, 0x8F},
}};

unsigned char byte_at(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]);
}

bool is_plain(char c) {
  return c >= ' ' && c <= '~';
}

bool is_hidden(char32_t code) {
  return std::ranges::any_of(
      hidden, [code](const code_range& r) { return code >= r.first && code <= r.last; });
}

void append_unit(std::string& out, char32_t unit) {
  constexpr std::string_view digits = "0123456789abcdef";
  constexpr char32_t digit = 0xF;
  out += "\\u";
  for (const unsigned shift : {12U, 8U, 4U, 0U}) out += digits[(unit >> shift) & digit];
}

void append_escape(std::string& out, char32_t code) {
  switch (code) {
    case U'\n':
      out += "\\n";
      return;
    case U'\r':
      out += "\\r";
      return;
    case U'\t':
      out += "\\t";
      return;
    default:
      break;
  }
  if (code < first_of_two_units) return append_unit(out, code);
  const char32_t above = code - first_of_two_units;
  append_unit(out, 0xD800 + (above >> 10U));
  append_unit(out, 0xDC00 + (above & 0x3FFU));
}

}  // namespace

character first_character(std::string_view text) {
  const unsigned char first = byte_at(text, 0);
  const auto* const form = std::ranges::find_if(
      sequences, [first](const sequence& s) { return first >= s.first && first <= s.last; });
  if (form == sequences.end()) return {.code = replacement, .bytes = 1};
  if (form->bytes == 1) {
    const char32_t code = first;
    return {.code = code, .bytes = 1, .prints = !is_hidden(code)};
  }
  // The bits of the first byte that belong to the number: 5, 4 or 3 of them.
  char32_t code = first & (0x7FU >> form->bytes);
  for (std::size_t at = 1; at < form->bytes; ++at) {
    const unsigned char next = at < text.size() ? byte_at(text, at) : 0;
    const unsigned char from = at == 1 ? form->second_from : 0x80;
    const unsigned char to = at == 1 ? form->second_to : 0xBF;
    if (next < from || next > to) return {.code = replacement, .bytes = at};
    code = (code << 6U) | (next & 0x3FU);
  }
  return {.code = code, .bytes = form->bytes, .prints = !is_hidden(code)};
}

std::string printable(std::string_view text) {
  if (std::ranges::all_of(text, is_plain)) return std::string(text);
  std::string out;
  while (!text.empty()) {
    const character next = first_character(text);
    out += next.prints ? text.substr(0, next.bytes) : replacement_text;
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string printable(std::string_view text, std::size_t most_bytes) {
  const std::string_view begins = beginning(text, most_bytes);
  return begins.size() == text.size() ? printable(text) : printable(begins).append(cut_mark);
}

std::string escaped(std::string_view text, std::string_view also) {
  std::string out;
  while (!text.empty()) {
    const character next = first_character(text);
    if (next.prints) {
      if (also.contains(text.front())) out += '\\';
      out += text.substr(0, next.bytes);
    } else {
      append_escape(out, next.code);
    }
    text.remove_prefix(next.bytes);
  }
  return out;
}

std::string_view beginning(std::string_view text, std::size_t most_bytes) {
  if (text.size() <= most_bytes) return text;
  std::size_t end = 0;
  for (;;) {
    const std::size_t size = first_character(text.substr(end)).bytes;
    if (end + size > most_bytes) return text.substr(0, end);
    end += size;
  }
}

}  // namespace tenure::base
