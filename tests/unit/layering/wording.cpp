#include "unit/layering/wording.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "unit/layering/source_text.hpp"

namespace tenure::layering {
namespace {

using std::string_view;

/// A word in lower case, or a mark that ends a sentence or a part of one.
struct token {
  std::string text;
  std::size_t line = 0;
};

std::vector<token> tokens_of(string_view text) {
  std::vector<token> out;
  std::size_t line = 1;
  bool in_word = false;
  for (const char c : text) {
    const bool letter = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '\'' || c == '_';
    if (letter) {
      if (!in_word) out.push_back({{}, line});
      out.back().text += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (string_view(".;:?!").contains(c)) {
      out.push_back({std::string(1, c), line});
    }
    in_word = letter;
    if (c == '\n') ++line;
  }
  return out;
}

struct rule {
  std::vector<string_view> words;
  string_view instead;
};

const std::vector<rule>& rules() {
  static const std::vector<rule> table{
      {{"whoever"}, "name who it is: \"the agent that\""},
      {{"whatever"}, "say what it may be: \"even if\", \"any\""},
      {{"it", "is", "so"}, "say what it is"},
      {{"is", "so", "already"}, "say what it is"},
      {{"was", "so", "already"}, "say what it was"},
      {{"is", "told", "so"}, "say what it learns, and how"},
      {{"that", "is", "none"}, "\"that is not valid\""},
      {{"was", "begun"}, "\"what you have started\""},
      {{"were", "begun"}, "\"what you have started\""},
      {{"has", "come"}, "\"has appeared\", \"has arrived\""},
  };
  return table;
}

bool stands_at(std::span<const token> all, std::size_t at, const std::vector<string_view>& words) {
  if (at + words.size() > all.size()) return false;
  return std::ranges::equal(words, all.subspan(at, words.size()), {}, {}, &token::text);
}

/// "which is no duration"; not "there is no room" or "is no longer".
bool is_no_something(std::span<const token> all, std::size_t at) {
  static constexpr std::array<string_view, 4> fine{"longer", "more", "less", "such"};
  if (!stands_at(all, at, {"is", "no"}) || at + 2 >= all.size()) return false;
  const string_view next = all[at + 2].text;
  const bool is_word = std::isalpha(static_cast<unsigned char>(next.front())) != 0;
  return is_word && std::ranges::find(fine, next) == fine.end() &&
         (at == 0 || all[at - 1].text != "there");
}

void find_phrases(string_view text, std::vector<odd_phrase>& out) {
  const std::vector<token> all = tokens_of(text);
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const rule& one : rules()) {
      if (!stands_at(all, i, one.words)) continue;
      std::string found;
      for (const string_view word : one.words) found.append(found.empty() ? "" : " ").append(word);
      out.push_back({all[i].line, std::move(found), std::string(one.instead)});
    }
    if (is_no_something(all, i)) {
      out.push_back({all[i].line, "is no " + all[i + 2].text, "\"is not a\""});
    }
  }
}

/// Comments that begin with "of": a reader has to guess of what.
void find_bare_of(string_view comments, std::vector<odd_phrase>& out) {
  for (const string_view begin : {"/// Of ", "// Of ", "///< of "}) {
    for (std::size_t at = comments.find(begin); at != string_view::npos;
         at = comments.find(begin, at + 1)) {
      if (at > 0 && comments[at - 1] == '/') continue;
      out.push_back({line_of(comments, at), std::string(begin), "begin with a noun"});
    }
  }
}

}  // namespace

std::vector<odd_phrase> odd_phrases_in_source(string_view text) {
  std::vector<odd_phrase> out;
  const std::string comments = only_comments(text);
  find_bare_of(comments, out);
  find_phrases(comments, out);
  find_phrases(only_literals(text), out);
  return out;
}

std::vector<odd_phrase> odd_phrases_in_prose(string_view text) {
  std::vector<odd_phrase> out;
  find_phrases(text, out);
  return out;
}

}  // namespace tenure::layering
