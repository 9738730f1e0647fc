#include <algorithm>
#include <array>
#include <map>

#include "config/misnomer.hpp"
#include "config/raw_settings.hpp"
#include "config/suggest.hpp"
#include "config/yaml.hpp"
#include "core/check.hpp"

namespace tenure::config {
namespace {

std::string_view noun(const yaml_node& node) {
  switch (node.kind) {
    case yaml_kind::null:
      return "nothing";
    case yaml_kind::boolean:
      return "a boolean";
    case yaml_kind::number:
      return "a number";
    case yaml_kind::text:
      return "text";
    case yaml_kind::list:
      return "a list";
    case yaml_kind::mapping:
      return "a mapping";
  }
  return {};
}

std::string wanted(field_type type) {
  switch (type) {
    case field_type::duration:
      return "give a duration, such as 15s";
    case field_type::percent:
      return "give a percentage, such as 1%";
    case field_type::integer:
      return "give a whole number";
    case field_type::boolean:
      return "give true or false";
    case field_type::path:
      return "give the path of a file";
    case field_type::command:
      return "give a program and its arguments, or a list of them";
    case field_type::program:
      return "give the path of a program, or its name";
    case field_type::command_line:
      return "give one text, as ps -o args shows it";
    case field_type::endpoints:
    case field_type::host_names:
    case field_type::ids:
      return "give one, or a list of them";
    case field_type::elections:
      return "give a list of names or of {name: NAME, slots: N}";
    case field_type::election_name:
      return R"(give one name, or use "elections" for a list)";
    default:
      return "give one word";
  }
}

/// True for settings whose value is text even if YAML reads it as a number or a boolean.
constexpr std::array names{field_type::identity,   field_type::endpoints,     field_type::host,
                           field_type::host_names, field_type::ids,           field_type::elections,
                           field_type::user,       field_type::election_name, field_type::command,
                           field_type::program,    field_type::command_line};

std::vector<std::string_view> keys() {
  std::vector<std::string_view> out;
  for (const field& f : fields()) out.push_back(f.key);
  return out;
}

constexpr std::size_t most_shown = 5;

/// Reads one document. Lives for one call of `take_file`.
class document {
 public:
  document(const file& source, raw_settings& out) : source_(source), out_(out) {}

  void read(const yaml_node& root) {
    if (root.kind != yaml_kind::mapping) {
      out_.reject({at(root), "the file holds " + std::string(noun(root)) + ", not settings",
                   R"(write them as "store: sqlite", one a line)"});
      out_.file_usable = false;
      return;
    }
    const std::vector<std::string_view> known = keys();
    std::map<std::string_view, const yaml_node*> seen;
    for (const auto& [key, node] : root.members) {
      if (is_misnomer(*key) || !is_known(*key, known, "setting")) continue;
      if (is_repeated(*key, seen)) continue;
      read_setting(*std::ranges::find(fields(), key->scalar, &field::key), *key, *node);
    }
  }

 private:
  [[nodiscard]] std::string at(const yaml_node& node) const {
    return position(source_.name, node.line, node.column);
  }

  /// Reports `key` and returns true if it is not a setting, but clearly stands for one.
  bool is_misnomer(const yaml_node& key) {
    if (names_a_secret(key.scalar)) {
      const mistake why = misplaced_secret(field_of(setting::password_file).key);
      out_.reject({at(key), why.what, why.suggestion});
      return true;
    }
    const field* const ours = called_elsewhere(key.scalar);
    if (ours == nullptr) return false;
    out_.reject({at(key), "unknown setting " + quote(key.scalar),
                 "did you mean " + quote(ours->key) + "?"});
    return true;
  }

  bool is_known(const yaml_node& key, std::span<const std::string_view> known,
                const std::string& what) {
    if (key.kind == yaml_kind::list || key.kind == yaml_kind::mapping) {
      out_.reject({at(key),
                   std::string(noun(key)) + " stands where the name of a " + what + " should", ""});
      return false;
    }
    if (std::ranges::find(known, key.scalar) != known.end()) return true;
    std::string suggestion = did_you_mean(key.scalar, known);
    if (key.scalar == "<<") suggestion = "merge keys are not supported, write the settings out";
    if (suggestion.empty() && known.size() <= most_shown) {
      suggestion = "known are " + choices(known);
    } else if (suggestion.empty()) {
      suggestion = "among the " + std::to_string(known.size()) +
                   " that there are: " + choices(nearest(key.scalar, known, most_shown)) +
                   "; `tenure help agent` has all";
    }
    // Nothing else is to be said of the setting that was meant.
    const std::string_view meant = closest(key.scalar, known);
    const auto field = std::ranges::find(fields(), meant, &field::key);
    if (known.size() > most_shown && field != fields().end())
      out_.bad.set(static_cast<std::size_t>(field->which));
    out_.reject({at(key), "unknown " + what + " " + quote(key.scalar), std::move(suggestion)});
    return false;
  }

  bool is_repeated(const yaml_node& key, std::map<std::string_view, const yaml_node*>& seen) {
    const auto [earlier, first] = seen.try_emplace(key.scalar, &key);
    if (first) return false;
    out_.reject(
        {at(key),
         key.scalar + " is given twice, first in line " + std::to_string(earlier->second->line),
         "remove one"});
    return true;
  }

  void read_setting(const field& f, const yaml_node& key, const yaml_node& node) {
    const origin from{source::file, at(key)};
    if (node.kind == yaml_kind::null) {
      out_.reject(f, from.where, {"has no value", "give one, or remove the line"});
    } else if (f.type == field_type::elections) {
      read_elections(f, node, from);
    } else if (f.is_list_of_texts()) {
      read_texts(f, node, from);
    } else if (f.type == field_type::command && node.kind == yaml_kind::list) {
      read_words(f, node, from);
    } else if (auto parsed = scalar(f, node)) {
      if (f.type == field_type::election_name) {
        *parsed = std::vector{named_election{std::get<std::string>(*parsed), std::nullopt}};
      }
      out_.assign(f.which, std::move(*parsed), from);
    }
  }

  /// The value of one scalar of setting `f`; empty if it was rejected.
  std::optional<value> scalar(const field& f, const yaml_node& node) {
    if (const std::optional<mistake> wrong = wrong_kind(f, node)) {
      out_.reject(f, at(node), *wrong);
      return std::nullopt;
    }
    // Tools that read YAML 1.1, such as Helm, turn `off` into false.
    const bool off =
        f.type == field_type::listen && node.kind == yaml_kind::boolean && node.scalar == "false";
    parsed<value> result = parse_value(f, off ? "off" : node.scalar);
    if (result) return std::move(*result);
    out_.reject(f, at(node), result.error());
    return std::nullopt;
  }

  static std::optional<mistake> wrong_kind(const field& f, const yaml_node& node) {
    const std::string written = quote(node.scalar);
    switch (node.kind) {
      case yaml_kind::null:
      case yaml_kind::list:
      case yaml_kind::mapping:
        return mistake{"is " + std::string(noun(node)), wanted(f.type)};
      case yaml_kind::boolean:
      case yaml_kind::number:
        if (f.type == field_type::path) {
          return mistake{"is " + std::string(noun(node)), wanted(f.type)};
        }
        // We take any name as text, but other readers of the file would read 1e3 as a number.
        if (std::ranges::find(names, f.type) != names.end()) {
          return mistake{"is " + node.scalar + ", which YAML takes for " + std::string(noun(node)),
                         "write it in quotes: " + written};
        }
        return std::nullopt;
      case yaml_kind::text:
        if (f.type == field_type::boolean && kind_of_plain(node.scalar) == yaml_kind::boolean) {
          return mistake{"is text", "write " + node.scalar + " without quotes"};
        }
        if (f.type == field_type::integer && kind_of_plain(node.scalar) == yaml_kind::number) {
          return mistake{"is text", "write " + node.scalar + " without quotes"};
        }
        return std::nullopt;
    }
    return std::nullopt;
  }

  void read_texts(const field& f, const yaml_node& node, const origin& from) {
    std::vector<std::string> all;
    if (node.kind != yaml_kind::list) {
      if (auto one = scalar(f, node)) all.push_back(std::get<std::string>(*one));
    } else if (node.items.empty()) {
      out_.reject(f, from.where, {"is an empty list", "give at least one"});
    } else {
      for (const yaml_node_ptr& item : node.items) {
        if (auto one = scalar(f, *item)) all.push_back(std::get<std::string>(*one));
      }
    }
    if (!all.empty()) out_.assign(f.which, std::move(all), from);
  }

  /// A command as a list: each item is one word.
  void read_words(const field& f, const yaml_node& node, const origin& from) {
    std::vector<std::string> all;
    for (const yaml_node_ptr& item : node.items) {
      if (const std::optional<mistake> wrong = wrong_kind(f, *item)) {
        out_.reject(f, at(*item), *wrong);
        return;
      }
      all.push_back(item->scalar);
    }
    if (const std::optional<mistake> wrong = command_mistake(all)) {
      out_.reject(f, from.where, *wrong);
    } else {
      out_.assign(f.which, std::move(all), from);
    }
  }

  void read_elections(const field& f, const yaml_node& node, const origin& from) {
    if (node.kind != yaml_kind::list) {
      out_.reject(f, at(node), {"is " + std::string(noun(node)), wanted(f.type)});
      return;
    }
    if (node.items.empty()) {
      out_.reject(f, from.where, {"is an empty list", "give at least one"});
      return;
    }
    std::vector<named_election> all;
    for (const yaml_node_ptr& item : node.items) {
      if (item->kind == yaml_kind::mapping) {
        read_election(f, *item, all);
      } else if (auto name = scalar(f, *item)) {
        all.push_back({std::get<std::string>(*name), std::nullopt});
      }
    }
    if (!all.empty()) out_.assign(f.which, std::move(all), from);
  }

  /// One {name, slots} of a list.
  void read_election(const field& f, const yaml_node& item, std::vector<named_election>& all) {
    constexpr std::array<std::string_view, 2> known{"name", "slots"};
    named_election one;
    std::map<std::string_view, const yaml_node*> seen;
    for (const auto& [key, node] : item.members) {
      if (!is_known(*key, known, "setting of an election") || is_repeated(*key, seen)) continue;
      const bool is_name = key->scalar == "name";
      const auto parsed = scalar(is_name ? f : field_of(setting::slots), *node);
      if (!parsed) continue;
      if (is_name) {
        one.name = std::get<std::string>(*parsed);
      } else {
        one.slots = static_cast<std::uint32_t>(std::get<std::int64_t>(*parsed));
      }
    }
    if (!seen.contains("name"))
      out_.reject(f, at(item), {"has an entry without a name", "add one"});
    if (!one.name.empty()) all.push_back(std::move(one));
  }

  const file& source_;
  raw_settings& out_;
};

}  // namespace

void take_file(const file& source, raw_settings& out) {
  const auto root = parse_yaml(source);
  if (root) {
    document(source, out).read(**root);
    return;
  }
  out.reject(root.error());
  out.file_usable = false;
}

}  // namespace tenure::config
