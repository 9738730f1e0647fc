#include "manifest/insertion.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "core/check.hpp"
#include "manifest/marks.hpp"

namespace tenure::manifest {
namespace {

using config::yaml_kind;
using config::yaml_node;
using config::yaml_node_ptr;

constexpr std::size_t not_there = std::string_view::npos;

/// Each line of `lines` with `indent` blanks in front.
std::string indented(std::string_view lines, std::size_t indent) {
  std::string out;
  for (std::size_t at = 0; at < lines.size();) {
    const std::string_view line = line_at(lines, at);
    at += line.size();
    out.append(indent, ' ').append(line);
  }
  return out;
}

/// Where the value that begins at `at` begins behind its anchor and its tag.
std::size_t behind_properties(std::string_view text, std::size_t at) {
  while (at < text.size()) {
    const char c = text[at];
    if (c == '&' || c == '!') {
      at = std::min(text.find_first_of(" \t\r\n", at), text.size());
    } else if (c == '#') {
      at = std::min(text.find('\n', at), text.size());
    } else if (std::string_view(" \t\r\n").contains(c)) {
      ++at;
    } else {
      break;
    }
  }
  return at;
}

/// A member without items, all of it in one line: "volumes: []", "volumes:", "volumes: null".
bool is_empty_in_its_line(std::string_view line, const yaml_node& key, yaml_kind kind) {
  std::size_t at = line.find(key.scalar);
  if (at == not_there) return false;
  at = line.find(':', at + key.scalar.size());
  if (at == not_there) return false;
  std::string_view rest = without_end(line.substr(at + 1));
  if (const std::size_t comment = rest.find(" #"); comment != not_there) {
    rest = rest.substr(0, comment);
  }
  std::string value;
  std::ranges::copy_if(rest, std::back_inserter(value),
                       [](char c) { return c != ' ' && c != '\t'; });
  return kind == yaml_kind::list ? value == "[]" : config::kind_of_plain(value) == yaml_kind::null;
}

/// What happens to the line that begins at some offset.
struct line_change {
  std::string above;         ///< whole lines that go in front of it, not yet marked
  std::size_t indent = 0;    ///< in front of their marks
  bool is_replaced = false;  ///< by the lines above
  std::size_t bytes = 0;     ///< that are replaced; 0: those of the one line
  std::string words;         ///< that go into it
  std::size_t words_at = 0;  ///< offset
};

/// Lives for one call of `with_additions`.
class writer {
 public:
  writer(const std::string& name, const document& in, const workload& of)
      : name_(name), in_(in), of_(of), label_(of.label()) {}

  /// Each returns false if there is no place; `problem` says why.
  bool add(const addition& what) {
    const yaml_node& mapping = node_at(*in_.root, what.mapping);
    const std::size_t place = place_of(mapping, what.key);
    if (place == repeated_member) {
      return fail(mapping, "this has \"" + what.key + "\" twice", "remove one");
    }
    if (place == no_member) return add_member(mapping, what);
    const yaml_node& key = *mapping.members[place].first;
    const yaml_node& list = *mapping.members[place].second;
    if (list.kind == yaml_kind::mapping && !list.members.empty()) return add_members(list, what);
    if (list.kind != yaml_kind::list || list.items.empty()) {
      return replace_line(key, list.kind, what);
    }
    return list.is_flow ? add_words(list, what) : add_items(list, what);
  }

  /// Takes a member out, with all lines that its value has.
  bool remove(const yaml_node& mapping, const std::string& key) {
    const yaml_node& name = *mapping.members[place_of(mapping, key)].first;
    const auto indent = indent_of(name.offset);
    if (!indent) return no_line(name);
    const std::string blanks(*indent, ' ');
    const std::size_t begin = line_begin(name.offset);
    std::size_t end = begin;
    std::string lines;
    std::string not_yet;
    for (std::size_t at = begin; at < in_.text.size();) {
      const std::string_view line = line_at(in_.text, at);
      const std::size_t first = line.find_first_not_of(" \r\n");
      if (at != begin && first != not_there && first <= *indent) break;
      at += line.size();
      not_yet += (begin == at - line.size() ? "" : blanks) + was_mark(without_end(line)) + "\n";
      if (first == not_there) continue;  // it may be behind the value
      lines += std::exchange(not_yet, {});
      end = at;
    }
    line_change& change = changes_[begin];
    change.above += lines;
    change.indent = *indent;
    change.is_replaced = true;
    change.bytes = end - begin;
    return true;
  }

  bool add_objects(const std::vector<std::string>& objects) {
    if (objects.empty()) return true;
    if (!of_.item.empty()) return add_to_list(objects);
    std::string lines;
    for (const std::string& one : objects) lines += one + "---\n";
    line_change& change = changes_[in_.first_line - in_.begin];
    change.above += lines;
    change.indent = 0;
    return true;
  }

  [[nodiscard]] const config::problem& problem() const { return problem_; }

  [[nodiscard]] std::string text() const {
    std::string out;
    std::size_t at = 0;
    for (const auto& [begin, change] : changes_) {
      out += in_.text.substr(at, begin - at);
      const std::string_view line = line_at(in_.text, begin);
      out += marked(change, line);
      if (!change.is_replaced) out += with_words(change, begin, line);
      at = begin + (change.bytes != 0 ? change.bytes : line.size());
    }
    return out + std::string(in_.text.substr(at));
  }

 private:
  bool fail(const yaml_node& where, std::string what, std::string todo) {
    problem_ = {config::position(name_, where.line + in_.lines_before, where.column),
                std::move(what), std::move(todo)};
    return false;
  }

  bool no_line(const yaml_node& where) {
    return fail(where, "no line can be put in front of this one",
                "begin it in a line of its own, with nothing but blanks in front");
  }

  [[nodiscard]] std::size_t line_begin(std::size_t offset) const {
    const std::size_t before = offset == 0 ? not_there : in_.text.rfind('\n', offset - 1);
    return before == not_there ? 0 : before + 1;
  }

  /// How many blanks are in front of `offset` in its line, if there is nothing else.
  [[nodiscard]] std::optional<std::size_t> indent_of(std::size_t offset) const {
    const std::size_t begin = line_begin(offset);
    if (begin == 0 && in_.first_line > in_.begin) return std::nullopt;  // behind "---"
    const std::string_view blanks = in_.text.substr(begin, offset - begin);
    if (blanks.find_first_not_of(' ') != not_there) return std::nullopt;
    return blanks.size();
  }

  /// Comments with the same indentation belong to what they are above.
  [[nodiscard]] std::size_t above_comments(std::size_t begin, std::size_t indent) const {
    const std::string comment = std::string(indent, ' ') + "#";
    while (begin > 0) {
      const std::size_t before = line_begin(begin - 1);
      if (before == 0 && in_.first_line > in_.begin) break;
      if (!line_at(in_.text, before).starts_with(comment)) break;
      begin = before;
    }
    return begin;
  }

  void put_above(std::size_t offset, std::size_t indent, std::string lines) {
    line_change& change = changes_[above_comments(line_begin(offset), indent)];
    change.above += lines;
    change.indent = indent;
  }

  bool add_member(const yaml_node& mapping, const addition& what) {
    const std::size_t place = place_of(mapping, what.before);
    if (place >= mapping.members.size()) return no_line(mapping);
    const yaml_node& next = *mapping.members[place].first;
    const auto indent = indent_of(next.offset);
    if (!indent) return no_line(next);
    put_above(next.offset, *indent, member_lines(what, *indent));
    return true;
  }

  /// Items are indented as those of the pod's containers are.
  [[nodiscard]] std::string member_lines(const addition& what, std::size_t indent) const {
    return std::string(indent, ' ') + what.key + ":\n" + indented(what.items, indent + step());
  }

  [[nodiscard]] std::size_t step() const {
    constexpr std::size_t usual = 2;
    const yaml_node& pod = node_at(*in_.root, of_.pod);
    const std::size_t place = place_of(pod, "containers");
    if (place >= pod.members.size()) return usual;
    const auto key = indent_of(pod.members[place].first->offset);
    const auto dash = indent_of(behind_properties(in_.text, pod.members[place].second->offset));
    return key && dash == key ? 0 : usual;
  }

  bool add_items(const yaml_node& list, const addition& what) {
    const std::size_t dash = behind_properties(in_.text, list.offset);
    const auto indent = indent_of(dash);
    if (!indent || dash >= in_.text.size() || in_.text[dash] != '-') return no_line(list);
    put_above(dash, *indent, indented(what.items, *indent));
    return true;
  }

  bool add_members(const yaml_node& to, const addition& what) {
    if (to.is_flow) return add_words(to, what);
    const yaml_node& first = *to.members[0].first;
    const auto indent = indent_of(first.offset);
    if (!indent) return no_line(first);
    put_above(first.offset, *indent, indented(what.items, *indent));
    return true;
  }

  bool replace_line(const yaml_node& key, yaml_kind kind, const addition& what) {
    const auto indent = indent_of(key.offset);
    const std::size_t begin = line_begin(key.offset);
    const std::string_view line = line_at(in_.text, begin);
    if (!indent || !is_empty_in_its_line(line, key, kind)) {
      return fail(key, what.key + " is empty, and not in a line of its own",
                  "leave it out, or write `" + what.key + ": []`");
    }
    line_change& change = changes_[begin];
    change.above += was_mark(without_end(line)) + "\n" + member_lines(what, *indent);
    change.indent = *indent;
    change.is_replaced = true;
    return true;
  }

  bool add_words(const yaml_node& list, const addition& what) {
    const std::size_t bracket = behind_properties(in_.text, list.offset);
    if (bracket >= in_.text.size() ||
        in_.text[bracket] != (list.kind == yaml_kind::list ? '[' : '{') || what.words.empty()) {
      return no_line(list);
    }
    if (line_begin(bracket) == 0 && in_.first_line > in_.begin) return no_line(list);
    line_change& change = changes_[line_begin(bracket)];
    if (!change.words.empty()) return no_line(list);
    change.words = what.words;
    change.words_at = std::min(in_.text.find_first_not_of(' ', bracket + 1), in_.text.size());
    change.indent = std::min(in_.text.find_first_not_of(' ', line_begin(bracket)), bracket) -
                    line_begin(bracket);
    return true;
  }

  /// The dash of the item that begins at `offset`: in its line, or with only comments in between.
  [[nodiscard]] std::optional<std::size_t> dash_in_front_of(std::size_t offset) const {
    std::size_t begin = line_begin(offset);
    std::size_t first = in_.text.find_first_not_of(" \r\n", begin);
    if (first < offset) return in_.text[first] == '-' ? std::optional(first) : std::nullopt;
    while (begin > 0) {
      begin = line_begin(begin - 1);
      const std::string_view line = without_end(line_at(in_.text, begin));
      first = line.find_first_not_of(' ');
      if (first == not_there || line[first] == '#') continue;
      return line[first] == '-' ? std::optional(begin + first) : std::nullopt;
    }
    return std::nullopt;
  }

  bool add_to_list(const std::vector<std::string>& objects) {
    const yaml_node& list = node_at(*in_.root, {of_.item[0]});
    const yaml_node& own = node_at(*in_.root, of_.item);
    const auto dash = dash_in_front_of(own.offset);
    const auto indent = dash ? indent_of(*dash) : std::nullopt;
    if (list.is_flow || !indent) return no_line(own);
    std::string lines;
    for (const std::string& one : objects) {
      std::string item = indented(one, 2);
      item[0] = '-';
      lines += indented(item, *indent);
    }
    put_above(*dash, *indent, lines);
    return true;
  }

  /// The lines above, between their marks, with the line's own kind of end.
  [[nodiscard]] std::string marked(const line_change& change, std::string_view line) const {
    const std::string blanks(change.indent, ' ');
    std::string all;
    if (!change.above.empty()) {
      all = blanks + begin_mark(label_) + "\n";
      if (change.is_replaced) all += blanks;
      all += change.above + blanks + end_mark(label_) + "\n";
    }
    if (!change.words.empty()) all += blanks + next_line_mark(label_, change.words) + "\n";
    std::string out;
    // The last line of a file may have no end.
    const bool has_end = line.ends_with('\n');
    const bool is_dos = has_end ? line.ends_with("\r\n") : in_.text.contains("\r\n");
    for (const char c : all) {
      if (c == '\n' && is_dos) out += '\r';
      out += c;
    }
    if (change.is_replaced && !has_end) out.resize(without_end(out).size());
    return out;
  }

  static std::string with_words(const line_change& change, std::size_t begin,
                                std::string_view line) {
    std::string out(line);
    if (!change.words.empty()) out.insert(change.words_at - begin, change.words + ", ");
    return out;
  }

  const std::string& name_;
  const document& in_;
  const workload& of_;
  const std::string label_;
  std::map<std::size_t, line_change> changes_;  ///< by where the line begins in the document
  config::problem problem_;
};

yaml_node_ptr parsed(const std::string& text) {
  auto out = config::parse_yaml({"injected", text}, {.nesting = max_manifest_nesting});
  TENURE_CHECK(out.has_value());
  return *std::move(out);
}

/// `root` with another node at `path`; what is not on the way is shared.
yaml_node_ptr replaced(const yaml_node_ptr& root, std::span<const std::size_t> path,
                       const auto& change) {
  auto out = std::make_shared<yaml_node>(*root);
  if (path.empty()) {
    change(*out);
    return out;
  }
  yaml_node_ptr& next =
      out->kind == yaml_kind::list ? out->items[path[0]] : out->members[path[0]].second;
  next = replaced(next, path.subspan(1), change);
  return out;
}

void add_to(yaml_node& mapping, const addition& what) {
  auto list = std::make_shared<yaml_node>(*parsed(what.items));
  const std::size_t place = place_of(mapping, what.key);
  if (place == no_member) {
    auto key = std::make_shared<yaml_node>();
    key->kind = yaml_kind::text;
    key->scalar = what.key;
    const std::size_t before = place_of(mapping, what.before);
    mapping.members.emplace(mapping.members.begin() + static_cast<std::ptrdiff_t>(before), key,
                            list);
    return;
  }
  yaml_node_ptr& old = mapping.members[place].second;
  list->members.insert(list->members.end(), old->members.begin(), old->members.end());
  list->items.insert(list->items.end(), old->items.begin(), old->items.end());
  old = std::move(list);
}

/// Compares trees in which aliases may repeat nodes many times.
class comparison {
 public:
  bool same(const yaml_node& a, const yaml_node& b) {
    if (!seen_.insert({&a, &b}).second) return true;
    if (a.kind != b.kind || a.scalar != b.scalar || a.items.size() != b.items.size() ||
        a.members.size() != b.members.size()) {
      return false;
    }
    return std::ranges::equal(a.items, b.items,
                              [this](const auto& x, const auto& y) { return same(*x, *y); }) &&
           std::ranges::equal(a.members, b.members, [this](const auto& x, const auto& y) {
             return same(*x.first, *y.first) && same(*x.second, *y.second);
           });
  }

 private:
  std::set<std::pair<const yaml_node*, const yaml_node*>> seen_;
};

}  // namespace

std::expected<std::string, config::problem> with_additions(
    const std::string& file_name, const document& in, const workload& of,
    const std::vector<addition>& all, const removal& taken,
    const std::vector<std::string>& objects) {
  writer out(file_name, in, of);
  if (!out.add_objects(objects)) return std::unexpected(out.problem());
  for (const std::string& key : taken.keys) {
    if (!out.remove(node_at(*in.root, taken.mapping), key)) return std::unexpected(out.problem());
  }
  for (const addition& one : all) {
    if (!out.add(one)) return std::unexpected(out.problem());
  }
  return out.text();
}

yaml_node_ptr tree_with_additions(const document& in, const workload& of,
                                  const std::vector<addition>& all, const removal& taken,
                                  const std::vector<std::string>& objects) {
  // What is added or taken out moves what is behind it, and with that the paths that lead through:
  // so what is innermost comes first.
  std::vector<const addition*> innermost_first;
  for (const addition& one : all) innermost_first.push_back(&one);
  std::ranges::sort(innermost_first, {}, [](const addition* one) {
    // Those of one depth stay in their order.
    return std::pair(-std::ssize(one->mapping), one);
  });
  yaml_node_ptr root = in.root;
  const auto add_all = [&](bool within_what_is_taken_from) {
    for (const addition* const one : innermost_first) {
      if ((one->mapping.size() > taken.mapping.size()) != within_what_is_taken_from) continue;
      root = replaced(root, one->mapping, [one](yaml_node& mapping) { add_to(mapping, *one); });
    }
  };
  add_all(true);
  root = replaced(root, taken.mapping, [&taken](yaml_node& mapping) {
    std::erase_if(mapping.members, [&taken](const auto& one) {
      return std::ranges::count(taken.keys, one.first->scalar) > 0;
    });
  });
  add_all(false);
  if (objects.empty() || of.item.empty()) return root;
  return replaced(root, std::span(of.item).first(1), [&](yaml_node& list) {
    std::vector<yaml_node_ptr> own;
    for (const std::string& one : objects) own.push_back(parsed(one));
    list.items.insert(list.items.begin() + static_cast<std::ptrdiff_t>(of.item[1]), own.begin(),
                      own.end());
  });
}

bool same_tree(const yaml_node_ptr& a, const yaml_node_ptr& b) {
  if (a == nullptr || b == nullptr) return a == b;
  return comparison().same(*a, *b);
}

}  // namespace tenure::manifest
