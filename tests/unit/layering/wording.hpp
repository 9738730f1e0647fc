#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Plain English: turns of phrase that readers stumbled over, so that they do not come back.
namespace tenure::layering {

/// One such turn of phrase.
struct odd_phrase {
  std::size_t line = 0;
  std::string words;
  std::string instead;  ///< what to write
};

/// Those in the comments and literals of a C++ source.
std::vector<odd_phrase> odd_phrases_in_source(std::string_view text);

/// Those in a text: a page of the documentation, or a script.
std::vector<odd_phrase> odd_phrases_in_prose(std::string_view text);

}  // namespace tenure::layering
