#include "config/yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <array>
#include <exception>
#include <map>
#include <set>
#include <sstream>

#include "base/base64.hpp"
#include "settings/mistake.hpp"

namespace tenure::config {
namespace {

/// Ends the parser from within one of its events; never leaves this file.
struct refused {
  YAML::Mark mark;
  std::string what;
  std::string suggestion;
};

/// Where the quote that opens at `opening` closes; npos if it never does.
std::size_t closing_quote(std::string_view text, std::size_t opening) {
  const char quote = text[opening];
  for (std::size_t i = opening + 1; i < text.size(); ++i) {
    const bool doubled = quote == '\'' && text.substr(i).starts_with("''");
    if (doubled || (quote == '"' && text[i] == '\\')) {
      ++i;
    } else if (text[i] == quote) {
      return i;
    }
  }
  return std::string_view::npos;
}

/// Where a value begins whose anchor, if it has one, begins at `mark`.
YAML::Mark after_anchor(std::string_view text, YAML::Mark mark) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto begin = static_cast<std::size_t>(std::max(mark.pos, 0));
  if (begin >= text.size() || text[begin] != '&') return mark;
  const std::size_t end =
      std::min(text.find_first_not_of(blanks, text.find_first_of(blanks, begin)), text.size());
  for (const char c : text.substr(begin, end - begin)) {
    ++mark.pos;
    mark.column = c == '\n' ? 0 : mark.column + 1;
    mark.line += c == '\n' ? 1 : 0;
  }
  return mark;
}

bool all_digits(std::string_view text, std::string_view digits) {
  return !text.empty() && text.find_first_not_of(digits) == std::string_view::npos;
}

/// Words of YAML 1.1.
std::optional<bool> word_for_kubectl(std::string_view scalar) {
  constexpr std::array<std::string_view, 11> yes{"y",    "Y",    "yes", "Yes", "YES", "true",
                                                 "True", "TRUE", "on",  "On",  "ON"};
  constexpr std::array<std::string_view, 11> no{"n",     "N",     "no",  "No",  "NO", "false",
                                                "False", "FALSE", "off", "Off", "OFF"};
  if (std::ranges::find(yes, scalar) != yes.end()) return true;
  return std::ranges::find(no, scalar) != no.end() ? std::optional(false) : std::nullopt;
}

constexpr std::string_view merge_key = "<<";
/// What merges may bring into all mappings together: an alias repeats what it points to, so a small
/// file could ask for any number of members.
constexpr std::size_t max_merged_members = 5'000;

/// The kind of a plain scalar as `kubectl` reads it.
yaml_kind kind_for_kubectl(const std::string& scalar) {
  constexpr std::string_view begins_numbers = "+-.0123456789";
  const bool may_be_number = !scalar.empty() && begins_numbers.contains(scalar.front());
  if (word_for_kubectl(scalar)) return yaml_kind::boolean;
  if (!may_be_number) return kind_of_plain(scalar);
  std::string number = scalar;
  std::erase(number, '_');
  std::string_view digits = number;
  if (digits.starts_with('-') || digits.starts_with('+')) digits.remove_prefix(1);
  if (digits.starts_with("0b") || digits.starts_with("0B")) {
    return all_digits(digits.substr(2), "01") ? yaml_kind::number : yaml_kind::text;
  }
  std::string unsigned_number(digits);
  if (digits.starts_with("0X")) unsigned_number[1] = 'x';
  if (digits.starts_with("0O")) unsigned_number[1] = 'o';
  return unsigned_number.empty() ? yaml_kind::text : kind_of_plain(unsigned_number);
}

/// Builds the tree from the parser's events, so that limits hold while it reads.
class tree_builder : public YAML::EventHandler {
 public:
  /// `text`: what the parser reads, without a byte order mark; `before`: so many bytes were one.
  tree_builder(std::string_view text, std::size_t before, const yaml_limits& limits)
      : text_(text), before_(before), limits_(limits) {}

  [[nodiscard]] yaml_node_ptr take() { return std::move(root_); }
  [[nodiscard]] YAML::Mark start() const { return start_; }

  void OnDocumentStart(const YAML::Mark& mark) override { start_ = mark; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    add(made(mark, yaml_kind::null), anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    // "!" is how the parser marks a quoted scalar, "?" a plain one.
    const bool plain = tag == "?" || tag.empty();
    if (!plain && tag != "!") check_tag(mark, tag);
    if (!plain) check_quotes(mark);
    const auto node = made(mark, yaml_kind::text);
    node->scalar = tag == binary_tag ? from_binary(mark, text) : text;
    node->is_plain = plain;
    const bool has_kind = plain || std::ranges::find(kind_tags, tag) != kind_tags.end();
    if (has_kind) node->kind = limits_.as_kubectl ? kind_for_kubectl(text) : kind_of_plain(text);
    add(node, anchor);
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) {
      throw refused{mark, "an alias points to the value that it is part of", "write it out"};
    }
    found->second->is_aliased = true;
    attach(found->second);
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, yaml_kind::list, style);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value style) override {
    open(mark, tag, anchor, yaml_kind::mapping, style);
  }
  void OnMapEnd() override { close(); }

 private:
  using mutable_node = std::shared_ptr<yaml_node>;

  struct level {
    mutable_node node;
    YAML::anchor_t anchor;
    yaml_node_ptr key;               ///< the mapping's newest key, until its value comes
    std::set<std::string> merged{};  ///< the keys of members that a merge has brought
  };

  static constexpr std::string_view binary_tag = "tag:yaml.org,2002:binary";
  /// Tags that say no more than what a plain scalar says of itself.
  static constexpr std::array<std::string_view, 4> kind_tags{
      "tag:yaml.org,2002:bool", "tag:yaml.org,2002:int", "tag:yaml.org,2002:float",
      "tag:yaml.org,2002:null"};

  static std::string from_binary(const YAML::Mark& mark, std::string digits) {
    std::erase_if(digits, [](char c) { return c == '\n' || c == '\r'; });
    auto bytes = base::from_base64(digits);
    if (!bytes) throw refused{mark, "this is tagged !!binary and is not base64", "copy it again"};
    return *std::move(bytes);
  }

  void check_tag(const YAML::Mark& mark, const std::string& tag) const {
    if (limits_.as_kubectl) return;
    throw refused{mark, "the tag " + settings::quote(tag) + " has no meaning here", "leave it out"};
  }

  /// YAML lets a text in quotes go on in the next line, and the parser takes the end of the file
  /// for a closing quote. No setting needs either; with a quote forgotten, both swallow settings.
  /// `kubectl` takes the first, and refuses the second.
  void check_quotes(const YAML::Mark& mark) const {
    const YAML::Mark opening = after_anchor(text_, mark);
    const auto begin = static_cast<std::size_t>(std::max(opening.pos, 0));
    if (begin >= text_.size() || (text_[begin] != '"' && text_[begin] != '\'')) return;
    const std::size_t end = closing_quote(text_, begin);
    if (text_.substr(begin, end - begin).find_first_of("\r\n") == std::string_view::npos) return;
    if (end == std::string_view::npos) {
      throw refused{opening, "a quote is never closed", "close it on this line"};
    }
    if (limits_.as_kubectl) return;
    throw refused{opening, "a quote is not closed on its line",
                  "close it there, as a text in quotes is one line"};
  }

  [[nodiscard]] mutable_node made(const YAML::Mark& mark, yaml_kind kind) const {
    auto node = std::make_shared<yaml_node>();
    node->kind = kind;
    node->line = static_cast<std::size_t>(mark.line) + 1;
    node->column = static_cast<std::size_t>(mark.column) + 1;
    node->offset = static_cast<std::size_t>(std::max(mark.pos, 0)) + before_;
    return node;
  }

  void open(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor, yaml_kind kind,
            YAML::EmitterStyle::value style) {
    if (!tag.empty() && tag != "?" && tag != "!") check_tag(mark, tag);
    if (levels_.size() == limits_.nesting) {
      throw refused{mark, "more than " + std::to_string(limits_.nesting) + " levels of nesting",
                    limits_.nesting == max_nesting ? "a configuration has three" : ""};
    }
    levels_.push_back({made(mark, kind), anchor, nullptr});
    levels_.back().node->is_flow = style == YAML::EmitterStyle::Flow;
  }

  void close() {
    level done = std::move(levels_.back());
    levels_.pop_back();
    add(std::move(done.node), done.anchor);
  }

  void add(mutable_node node, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = node;
    attach(std::move(node));
  }

  void attach(yaml_node_ptr node) {
    if (levels_.empty()) {
      root_ = std::move(node);
      return;
    }
    level& parent = levels_.back();
    if (parent.node->kind == yaml_kind::list) {
      parent.node->items.push_back(std::move(node));
    } else if (parent.key == nullptr) {
      parent.key = std::move(node);
    } else {
      const yaml_node_ptr key = std::exchange(parent.key, nullptr);
      const bool is_merge = limits_.as_kubectl && key->is_plain && key->scalar == merge_key;
      if (is_merge) {
        merge(*node, parent);
      } else if (parent.merged.erase(key->scalar) > 0) {
        std::erase_if(parent.node->members,
                      [&key](const auto& one) { return one.first->scalar == key->scalar; });
      }
      parent.node->members.emplace_back(key, std::move(node));
    }
  }

  /// Brings the members of one mapping, or of a list of them, the first of which goes before the
  /// others. They take the place of members before the merge, and those after it take theirs.
  void merge(const yaml_node& from, level& to) {
    if (from.kind == yaml_kind::list) {
      for (auto one = from.items.rbegin(); one != from.items.rend(); ++one) merge_one(**one, to);
    } else {
      merge_one(from, to);
    }
  }

  void merge_one(const yaml_node& from, level& to) {
    if (from.kind != yaml_kind::mapping) {
      throw refused{mark_of(from), "<< takes the members of something that is not a mapping",
                    "write the members out"};
    }
    for (const auto& [key, value] : from.members) {
      if (key->is_plain && key->scalar == merge_key) continue;
      if (++merged_members_ > max_merged_members) {
        throw refused{mark_of(from), "<< repeats too many members", "write them out"};
      }
      std::erase_if(to.node->members,
                    [&key](const auto& one) { return one.first->scalar == key->scalar; });
      to.node->members.emplace_back(key, value);
      to.merged.insert(key->scalar);
    }
  }

  static YAML::Mark mark_of(const yaml_node& node) {
    YAML::Mark out;
    out.line = static_cast<int>(node.line) - 1;
    out.column = static_cast<int>(node.column) - 1;
    return out;
  }

  std::string_view text_;
  std::size_t before_;
  const yaml_limits& limits_;
  std::vector<level> levels_;
  std::map<YAML::anchor_t, mutable_node> anchors_;
  std::size_t merged_members_ = 0;
  yaml_node_ptr root_;
  YAML::Mark start_;
};

std::unexpected<problem> at(const file& source, const YAML::Mark& mark, std::string what,
                            std::string suggestion) {
  // A null mark has -1 everywhere; point to the beginning rather than to line 0.
  const auto line = static_cast<std::size_t>(std::max(mark.line, 0)) + 1;
  const auto column = static_cast<std::size_t>(std::max(mark.column, 0)) + 1;
  return std::unexpected(
      problem{position(source.name, line, column), std::move(what), std::move(suggestion)});
}

std::string first_lines(const std::string& text, int count) {
  std::size_t end = 0;
  while (count-- > 0) {
    const std::size_t newline = text.find('\n', end);
    if (newline == std::string::npos) return text;
    end = newline + 1;
  }
  return text.substr(0, end);
}

/// True if one of the lines up to the one with the error is indented with a tab.
bool indented_with_a_tab(const file& source, int error_line) {
  std::istringstream lines(source.text);
  std::string line;
  for (int n = 0; n <= error_line && std::getline(lines, line); ++n) {
    const std::size_t first = line.find_first_not_of(' ');
    if (first != std::string::npos && line[first] == '\t') return true;
  }
  return false;
}

std::expected<yaml_node_ptr, problem> parse(const file& source, const yaml_limits& limits) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  const std::size_t begin = source.text.starts_with(byte_order_mark) ? byte_order_mark.size() : 0;
  std::string text = source.text.substr(begin);
  // The parser knows UTF-16, as Windows writes it, by its first bytes.
  const bool is_wide = text.starts_with("\xff\xfe") || text.starts_with("\xfe\xff");
  if (const std::size_t nul = text.find('\0'); nul != std::string::npos && !is_wide) {
    YAML::Mark mark;
    mark.line = static_cast<int>(std::ranges::count(text.substr(0, nul), '\n'));
    mark.column = static_cast<int>(nul - (text.rfind('\n', nul) + 1));
    return at(source, mark, "a NUL byte stands here", "is this a text file, in UTF-8?");
  }
  // Only then does the parser say where a text begins that the end of the file cuts off.
  if (!text.ends_with('\n')) text += '\n';
  std::istringstream in(text);
  YAML::Parser parser(in);
  tree_builder first(text, begin, limits);
  if (!parser.HandleNextDocument(first)) {
    return at(source, YAML::Mark::null_mark(), "the file is empty",
              limits.as_kubectl ? "is it the right one?"
                                : R"(give at least "store", "endpoint" and "election")");
  }
  if (limits.as_kubectl) return first.take();
  tree_builder second(text, begin, limits);
  if (parser.HandleNextDocument(second)) {
    return at(source, second.start(), "a second document begins here",
              "keep one document in the file");
  }
  return first.take();
}

bool is_number(std::string_view text) {
  constexpr std::string_view decimal = "0123456789";
  if (text.starts_with("0x")) return all_digits(text.substr(2), "0123456789abcdefABCDEF");
  if (text.starts_with("0o")) return all_digits(text.substr(2), "01234567");
  if (text.starts_with('-') || text.starts_with('+')) text.remove_prefix(1);
  constexpr std::array<std::string_view, 6> words{".inf", ".Inf", ".INF", ".nan", ".NaN", ".NAN"};
  if (std::ranges::find(words, text) != words.end()) return true;

  const std::size_t exponent = text.find_first_of("eE");
  if (exponent != std::string_view::npos) {
    std::string_view power = text.substr(exponent + 1);
    if (power.starts_with('-') || power.starts_with('+')) power.remove_prefix(1);
    if (!all_digits(power, decimal)) return false;
    text = text.substr(0, exponent);
  }
  const std::size_t point = text.find('.');
  if (point == std::string_view::npos) return all_digits(text, decimal);
  const std::string_view whole = text.substr(0, point);
  const std::string_view fraction = text.substr(point + 1);
  return (all_digits(whole, decimal) && (fraction.empty() || all_digits(fraction, decimal))) ||
         (whole.empty() && all_digits(fraction, decimal));
}

}  // namespace

yaml_kind kind_of_plain(std::string_view scalar) {
  constexpr std::array<std::string_view, 5> nulls{"", "~", "null", "Null", "NULL"};
  constexpr std::array<std::string_view, 6> booleans{"true",  "True",  "TRUE",
                                                     "false", "False", "FALSE"};
  if (std::ranges::find(nulls, scalar) != nulls.end()) return yaml_kind::null;
  if (std::ranges::find(booleans, scalar) != booleans.end()) return yaml_kind::boolean;
  return is_number(scalar) ? yaml_kind::number : yaml_kind::text;
}

std::optional<bool> truth_of(const yaml_node& value) {
  return word_for_kubectl(value.scalar);
}

namespace {

/// Translates an error of the parser for the author of the file.
struct wording {
  std::string_view parsers;
  const char* ours;
};
constexpr std::array<wording, 15> wordings{{
    {"illegal map value",
     "a value stands where none can; is the line indented like the one above, and is a text with a "
     "colon in it in quotes?"},
    {"illegal map key", "a name stands where none can; is the line indented like the one above?"},
    {"illegal block entry", "a - stands where no list can; is it indented like those above?"},
    {"end of map not found", "this line does not go on with what is above; is it indented alike?"},
    {"end of sequence not found",
     "this line does not go on with the list above; is it indented alike?"},
    {"end of map flow not found", "a { is never closed by }"},
    {"end of sequence flow not found", "a [ is never closed by ]"},
    {"illegal flow end", "this ] or } has no [ or { to close"},
    {"illegal EOF in scalar", "a quote is never closed"},
    {"illegal document indicator in scalar", "a quote is not closed before this line"},
    {"unknown token", "no value begins with this character; put the text in quotes"},
    {"unknown escape character: ",
     "what follows a backslash in double quotes has no meaning; use single quotes"},
    {"the referenced anchor is not defined",
     "nothing is marked with & by this name; put a text that begins with * in quotes"},
    {"alias not found after *", "a text that begins with * has to be in quotes"},
    {"anchor not found after &", "a text that begins with & has to be in quotes"},
}};

std::string in_plain_words(const std::string& message) {
  const auto* const known = std::ranges::find_if(
      wordings, [&message](const wording& one) { return message.starts_with(one.parsers); });
  return known != wordings.end() ? known->ours : "this is not valid YAML: " + message;
}

}  // namespace

std::string position(const std::string& file_name, std::size_t line, std::size_t column) {
  return file_name + ":" + std::to_string(line) + ":" + std::to_string(column);
}

std::expected<yaml_node_ptr, problem> parse_yaml(const file& source, const yaml_limits& limits) {
  if (source.text.size() > limits.bytes) {
    return std::unexpected(problem{source.name,
                                   "the file has " + std::to_string(source.text.size()) + " bytes",
                                   "keep it below " + std::to_string(limits.bytes)});
  }
  try {
    return parse(source, limits);
  } catch (const refused& e) {
    return at(source, e.mark, e.what, e.suggestion);
  } catch (const YAML::Exception& e) {
    // The quoted text that ends on this line begins further up.
    if (e.msg == YAML::ErrorMsg::DOC_IN_SCALAR && e.mark.line > 0) {
      std::string above = first_lines(source.text, e.mark.line);
      if (above.size() < source.text.size()) {
        auto what = parse_yaml({source.name, std::move(above)}, limits);
        if (!what) return what;
      }
    }
    return at(source, e.mark, in_plain_words(e.msg),
              indented_with_a_tab(source, e.mark.line) ? "indent with spaces, not with tabs" : "");
  } catch (const std::exception& e) {
    return at(source, YAML::Mark::null_mark(), std::string("the parser gave up: ") + e.what(), "");
  }
}

}  // namespace tenure::config
