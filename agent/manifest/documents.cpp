#include "manifest/documents.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "base/list_text.hpp"
#include "manifest/marks.hpp"

namespace tenure::manifest {
namespace {

using config::yaml_kind;
using config::yaml_node;

/// Where a kind has the specification of its pods.
struct kind_of_workload {
  std::string_view name;
  std::array<std::string_view, 3> keys;  ///< from the object on; the first empty one ends it
};
constexpr std::array kinds{kind_of_workload{"Deployment", {"spec", "template", "spec"}},
                           kind_of_workload{"StatefulSet", {"spec", "template", "spec"}},
                           kind_of_workload{"DaemonSet", {"spec", "template", "spec"}},
                           kind_of_workload{"ReplicaSet", {"spec", "template", "spec"}},
                           kind_of_workload{"PodTemplate", {"template", "spec", ""}},
                           kind_of_workload{"Pod", {"spec", "", ""}}};

bool is_boundary(std::string_view line, std::string_view marker) {
  if (!line.starts_with(marker)) return false;
  line = without_end(line.substr(marker.size()));
  return line.empty() || line.starts_with(' ') || line.starts_with('\t');
}

/// True for blank lines, comments and directives.
bool says_nothing(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view line = line_at(text, at);
    at += line.size();
    const std::size_t first = line.find_first_not_of(" \t\r\n");
    if (first != std::string_view::npos && line[first] != '#' && line[0] != '%') return false;
  }
  return true;
}

std::vector<document> split(std::string_view text) {
  std::size_t at = byte_order_mark_of(text);
  document now{.begin = at, .first_line = at, .text = {}, .root = {}};
  std::vector<document> out;
  std::size_t lines = 0;
  const auto close = [&](std::size_t end) {
    now.text = text.substr(now.begin, end - now.begin);
    out.push_back(now);
  };
  while (at < text.size()) {
    const std::string_view line = line_at(text, at);
    for (const std::string_view marker : {std::string_view("---"), std::string_view("...")}) {
      if (!is_boundary(line, marker)) continue;
      close(at);
      now = {.begin = at + marker.size(),
             .first_line = at + line.size(),
             .text = {},
             .lines_before = lines,
             .root = {}};
    }
    at += line.size();
    ++lines;
  }
  close(text.size());
  return out;
}

/// A problem's position counts from the beginning of its document.
config::problem moved(config::problem what, const std::string& name, std::size_t lines) {
  const std::size_t number = name.size() + 1;
  if (lines == 0 || !what.where.starts_with(name + ":")) return what;
  const std::size_t colon = what.where.find(':', number);
  if (colon == std::string::npos) return what;
  const std::size_t line = std::stoul(what.where.substr(number, colon - number)) + lines;
  what.where = name + ":" + std::to_string(line) + what.where.substr(colon);
  return what;
}

bool is_list_of_objects(const yaml_node& object) {
  const std::string kind = text_of(object, "kind");
  return kind.ends_with("List") && member_of(object, "items") != nullptr &&
         member_of(object, "items")->kind == yaml_kind::list;
}

/// Adds the workload that `object` is, if it is one.
void take(const yaml_node& object, std::size_t in, node_path item, std::vector<workload>& out) {
  const std::string name = text_of(object, "kind");
  const auto* const kind = std::ranges::find(kinds, name, &kind_of_workload::name);
  if (object.kind != yaml_kind::mapping || kind == kinds.end()) return;
  workload one{.kind = name, .name = {}, .in = in, .item = item, .pod = std::move(item)};
  if (const yaml_node* const meta = member_of(object, "metadata")) {
    one.name = text_of(*meta, "name");
    if (one.name.empty()) one.name = text_of(*meta, "generateName");
    one.name_space = text_of(*meta, "namespace");
  }
  const yaml_node* at = &object;
  for (const std::string_view key : kind->keys) {
    if (key.empty()) break;
    const std::size_t place = place_of(*at, key);
    if (place == no_member || place == repeated_member ||
        at->members[place].second->kind != yaml_kind::mapping) {
      one.why_not = place == repeated_member ? "has \"" + std::string(key) + "\" twice"
                                             : "has no mapping \"" + std::string(key) + "\"";
      break;
    }
    one.pod.push_back(place);
    at = at->members[place].second.get();
  }
  out.push_back(std::move(one));
}

void each_object(const std::vector<document>& all, auto found) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].root == nullptr) continue;
    const yaml_node& root = *all[i].root;
    if (!is_list_of_objects(root)) {
      found(root, i, node_path{});
      continue;
    }
    const std::size_t items = place_of(root, "items");
    for (std::size_t n = 0; n < root.members[items].second->items.size(); ++n) {
      found(*root.members[items].second->items[n], i, node_path{items, n});
    }
  }
}

}  // namespace

std::expected<std::vector<document>, config::problem> documents_of(const config::file& of) {
  const config::yaml_limits limits{
      .bytes = max_manifest_bytes, .nesting = max_manifest_nesting, .as_kubectl = true};
  std::vector<document> all = split(of.text);
  for (document& one : all) {
    if (says_nothing(one.text)) continue;
    auto root = config::parse_yaml({of.name, std::string(one.text)}, limits);
    if (!root) {
      config::problem wrong = moved(root.error(), of.name, one.lines_before);
      if (one.text.contains("{{")) wrong.suggestion = "if this is a template, render it first";
      return std::unexpected(std::move(wrong));
    }
    one.root = *std::move(root);
  }
  return all;
}

std::vector<workload> workloads_of(const std::vector<document>& all) {
  std::vector<workload> out;
  each_object(all, [&out](const yaml_node& object, std::size_t in, node_path item) {
    take(object, in, std::move(item), out);
  });
  return out;
}

std::string kinds_of(const std::vector<document>& all) {
  std::vector<std::string> found;
  each_object(all, [&found](const yaml_node& object, std::size_t, const node_path&) {
    std::string kind = text_of(object, "kind");
    if (kind.empty()) kind = "something without a kind";
    if (std::ranges::find(found, kind) == found.end()) found.push_back(std::move(kind));
  });
  return base::listed(found);
}

const yaml_node& node_at(const yaml_node& root, const node_path& path) {
  const yaml_node* at = &root;
  for (const std::size_t place : path) {
    at = at->kind == yaml_kind::list ? at->items[place].get() : at->members[place].second.get();
  }
  return *at;
}

std::size_t place_of(const yaml_node& mapping, std::string_view key) {
  std::size_t found = no_member;
  for (std::size_t i = 0; i < mapping.members.size(); ++i) {
    if (mapping.members[i].first->scalar != key) continue;
    if (found != no_member) return repeated_member;
    found = i;
  }
  return found;
}

const yaml_node* member_of(const yaml_node& mapping, std::string_view key) {
  const std::size_t place = place_of(mapping, key);
  return place >= mapping.members.size() ? nullptr : mapping.members[place].second.get();
}

std::string text_of(const yaml_node& mapping, std::string_view key) {
  const yaml_node* const value = member_of(mapping, key);
  return value == nullptr ? "" : value->scalar;
}

}  // namespace tenure::manifest
