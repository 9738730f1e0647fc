#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text from outside: from a store, another agent, a server, a browser or a file. It can be any
/// bytes, and it ends up in logs, terminals, JSON, metrics and browsers.
///
/// `printable` is applied where such text enters, so that all later code can show it unchanged:
/// `stores::make_printable_store` for what others write into a store, `wire` for what an agent
/// answers, `wire::write(problem)` and `cli::print_failure` for what they quote of a request or a
/// command line. A store that takes only UTF-8 applies it to our own name, and the page of metrics
/// to every label, as Prometheus drops a page with a single byte that is not UTF-8. `escaped` is
/// applied where a line leaves the agent and nothing may be lost.
namespace tenure::base {

/// One character of UTF-8, or one piece of bytes that are not UTF-8.
struct character {
  char32_t code = 0;      ///< U+FFFD for what is not UTF-8
  std::size_t bytes = 0;  ///< its length in the text; at least 1
  bool prints = false;    ///< false for what is not UTF-8, see `printable`
};

/// The first character of `text`. Precondition: `text` is not empty.
character first_character(std::string_view text);

/// `text` as valid UTF-8 in which every character is visible. U+FFFD replaces each character that
/// is invisible or controls the display (control characters including C1, line and paragraph
/// separators, changes of writing direction, zero-width characters, tags), and each piece that is
/// not UTF-8. Nothing is left out, so that a name with such a character never becomes another
/// member's name.
std::string printable(std::string_view text);

/// The same, cut after at most `most_bytes` of `text`, never inside a character; "..." follows the
/// cut.
std::string printable(std::string_view text, std::size_t most_bytes);

/// `text` with an escape in place of each character that `printable` would replace: \n, \r, \t, or
/// the \uXXXX of JSON. Each character of `also` gets a backslash in front.
std::string escaped(std::string_view text, std::string_view also = {});

/// The longest prefix of `text` that has at most `most_bytes` and ends between characters.
std::string_view beginning(std::string_view text, std::size_t most_bytes);

}  // namespace tenure::base
