#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// Text that comes from outside: from a store, another agent, a server, a browser, a file. It may
/// be any bytes, and it ends up in logs, terminals, JSON, pages of metrics and in a browser.
///
/// `printable` is applied where such text enters the agent, so that everything behind that can
/// show it as it is. `escaped` is applied where a line leaves the agent and nothing may be lost.
namespace tenure::base {

/// One character of UTF-8, or one piece of bytes that are not UTF-8.
struct character {
  char32_t code = 0;      ///< U+FFFD for what is not UTF-8
  std::size_t bytes = 0;  ///< how many bytes of the text it is; at least 1
  bool prints = false;    ///< false for what is not UTF-8, see `printable`
};

/// The first character of `text`. Precondition: `text` is not empty.
character first_character(std::string_view text);

/// `text` as valid UTF-8 in which every character can be seen. U+FFFD stands for each character
/// that is invisible, or that steers what shows it: control characters (also those of C1), line
/// and paragraph separators, changes of writing direction, zero-width characters, tags; and for
/// each piece that is not UTF-8. Nothing is left out, so that a name with such a character never
/// becomes the name of somebody else.
std::string printable(std::string_view text);

/// The same, cut after `most_bytes` of `text` and never inside a character; "..." then follows.
std::string printable(std::string_view text, std::size_t most_bytes);

/// `text` with an escape in place of each character that `printable` would replace: \n, \r, \t, or
/// the \uXXXX of JSON. Each character of `also` gets a backslash in front.
std::string escaped(std::string_view text, std::string_view also = {});

/// The longest beginning of `text` that has at most `most_bytes` and ends between characters.
std::string_view beginning(std::string_view text, std::size_t most_bytes);

}  // namespace tenure::base
