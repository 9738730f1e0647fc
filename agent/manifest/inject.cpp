#include "manifest/inject.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "base/list_text.hpp"
#include "config/suggest.hpp"
#include "manifest/documents.hpp"
#include "manifest/insertion.hpp"
#include "manifest/json_form.hpp"
#include "manifest/marks.hpp"
#include "settings/kubernetes_names.hpp"
#include "settings/mistake.hpp"

namespace tenure::manifest {
namespace {

using config::problem;
using config::yaml_node;

/// Looks for texts with lines that look like marks. Aliases may repeat a node many times.
class mark_finder {
 public:
  const yaml_node* find(const yaml_node& in) {
    if (!seen_.insert(&in).second) return nullptr;
    if (in.scalar.contains(mark_prefix)) return &in;
    for (const auto& one : in.items) {
      if (const yaml_node* const found = find(*one)) return found;
    }
    for (const auto& [key, value] : in.members) {
      if (const yaml_node* const found = find(*key)) return found;
      if (const yaml_node* const found = find(*value)) return found;
    }
    return nullptr;
  }

 private:
  std::set<const yaml_node*> seen_;
};

/// Text in which each line ends where YAML and we think it does.
std::optional<problem> odd_line(const config::file& of) {
  const std::string_view text = of.text;
  for (std::size_t at = text.find('\r'); at != std::string_view::npos;
       at = text.find('\r', at + 1)) {
    if (text.substr(at + 1).starts_with('\n')) continue;
    return problem{of.name, "a line ends with a carriage return alone",
                   "end all lines with a line feed"};
  }
  if (text.contains('\0')) {
    return problem{of.name, "the text has a zero byte in it", "give a manifest in UTF-8"};
  }
  return std::nullopt;
}

using documents = std::expected<std::vector<document>, std::vector<problem>>;

/// The documents of a text, if marks in it are those of `inject`.
documents read(const config::file& of) {
  if (auto odd = odd_line(of)) return std::unexpected(std::vector{*odd});
  auto all = documents_of(of);
  if (!all) return std::unexpected(std::vector{all.error()});
  for (const document& one : *all) {
    if (one.root == nullptr) continue;
    if (const yaml_node* const found = mark_finder().find(*one.root)) {
      return std::unexpected(std::vector{
          problem{config::position(of.name, found->line + one.lines_before, found->column),
                  "this text has a line in it that looks like a mark of `tenure inject`",
                  "leave that line out"}});
    }
  }
  return *std::move(all);
}

std::string listed(const std::vector<workload>& all) {
  return base::listed(all, &workload::label);
}

using choice = std::expected<workload, std::vector<problem>>;

std::unexpected<std::vector<problem>> only(problem what) {
  return std::unexpected(std::vector{std::move(what)});
}

/// The workload that `wanted` names, or the only one.
choice choose(const config::file& of, const std::vector<document>& in, const std::string& wanted) {
  const std::vector<workload> all = workloads_of(in);
  std::vector<workload> found;
  std::ranges::copy_if(all, std::back_inserter(found), [&](const workload& one) {
    return wanted.empty() || wanted == one.name || wanted == one.label();
  });
  if (all.empty()) {
    const std::string kinds = kinds_of(in);
    return only({of.name,
                 "there is no workload in this file" + (kinds.empty() ? "" : ", only " + kinds),
                 "give a Deployment, StatefulSet, DaemonSet, ReplicaSet, PodTemplate or Pod"});
  }
  if (found.empty()) {
    return only({of.name, "there is no workload " + settings::quote(wanted) + " in this file",
                 "these are: " + listed(all)});
  }
  if (found.size() > 1) {
    return only({of.name, "there are several workloads in this file: " + listed(found),
                 wanted.empty() ? "say which one: --workload " + found[0].label()
                                : "give each a kind and a name of its own"});
  }
  const document& its = in[found[0].in];
  const yaml_node& object = node_at(*its.root, found[0].item);
  const std::string where =
      config::position(of.name, object.line + its.lines_before, object.column);
  if (!found[0].why_not.empty()) {
    return only({where, found[0].kind + " " + found[0].why_not, "see `kubectl explain`"});
  }
  if (object.is_flow) {
    return only({where, "this is written in brackets or braces, as JSON",
                 "write it in lines, e.g. by `kubectl patch --local -f FILE -p {} -o yaml`"});
  }
  std::string_view name = found[0].name;
  // A generateName may end with a dash.
  if (name.ends_with('-')) name.remove_suffix(1);
  if (!settings::is_object_name(name)) {
    return only({where, found[0].kind + " has no name that Kubernetes could accept",
                 "name it in metadata.name"});
  }
  return std::move(found[0]);
}

/// A member of the mapping that begins a line and stays, so that others can be put in front of it.
std::string first_in_its_line(const document& in, const yaml_node& mapping,
                              const std::vector<std::string>& taken) {
  const auto begins_line = [&in](const yaml_node& key) {
    const std::size_t end = in.text.find_last_not_of(' ', key.offset == 0 ? 0 : key.offset - 1);
    return key.offset > 0 && end != std::string_view::npos && in.text[end] == '\n';
  };
  // One that is empty is replaced.
  const yaml_node* const command = member_of(mapping, "command");
  const bool is_empty = command == nullptr || command->items.empty();
  if (!is_empty && begins_line(*mapping.members[place_of(mapping, "command")].first)) {
    return "command";
  }
  for (const auto& [key, value] : mapping.members) {
    if (key->scalar == "command" || std::ranges::count(taken, key->scalar) > 0) continue;
    if (begins_line(*key) && place_of(mapping, key->scalar) != repeated_member) return key->scalar;
  }
  return {};
}

/// In quotes, if the words that are there are in double quotes.
std::string guard_text(const document& in, const yaml_node& command,
                       const std::vector<std::string>& words) {
  const std::size_t first = command.items[0]->offset;
  const bool in_quotes = first < in.text.size() && in.text[first] == '"';
  return base::listed(
      words, [in_quotes](const std::string& one) { return in_quotes ? "\"" + one + "\"" : one; });
}

/// What the pods need so that the agent can name the active one.
std::vector<addition> shown_by(const workload& of, const sidecar& what, const pod_report& pod) {
  std::vector<addition> out;
  if (!pod.labelled.empty()) {
    const std::string label = std::string(election_label) + ": " + scalar_text(what.election);
    out.push_back({.mapping = pod.labelled,
                   .key = "labels",
                   .before = {},
                   .items = label + "\n",
                   .words = label});
  }
  if (pod.gets_gate) {
    const std::string gate = "conditionType: " + std::string(active_gate);
    out.push_back({.mapping = of.pod,
                   .key = "readinessGates",
                   .before = "containers",
                   .items = "- " + gate + "\n",
                   .words = "{" + gate + "}"});
  }
  return out;
}

/// The items of a list, in block style.
std::string items_text(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& one : words) out += "- " + scalar_text(one) + "\n";
  return out;
}

std::vector<addition> additions(const document& in, const workload& of, const sidecar& what,
                                const pod_report& pod) {
  const yaml_node& main = node_at(*in.root, pod.container);
  std::vector<std::string> words = guard_words(pod.facts);
  std::ranges::copy(pod.facts.command, std::back_inserter(words));
  std::vector<addition> out = shown_by(of, what, pod);
  for (const wrapped_probe& one : pod.wrapped) {
    const yaml_node& probed = *member_of(node_at(*in.root, one.exec), "command");
    out.push_back({.mapping = one.exec,
                   .key = "command",
                   .before = {},
                   .items = items_text(one.words),
                   .words = guard_text(in, probed, one.words)});
  }
  const std::vector<addition> others{
      {.mapping = of.pod,
       .key = "initContainers",
       .before = "containers",
       .items = init_containers(what, pod.facts)},
      {.mapping = of.pod,
       .key = "volumes",
       .before = "containers",
       .items = std::string(volumes),
       .words = std::string(volume_words)},
      {.mapping = pod.container,
       .key = "volumeMounts",
       .before = first_in_its_line(in, main, pod.taken),
       .items = std::string(mounts),
       .words = std::string(mount_words)},
      {.mapping = pod.container,
       .key = "command",
       .before = first_in_its_line(in, main, pod.taken),
       .items = items_text(words),
       .words = pod.facts.command.empty() ? guard_text(in, *member_of(main, "command"), words)
                                          : std::string()}};
  out.insert(out.end(), others.begin(), others.end());
  return out;
}

/// What is to come out of an injection, to be compared with what has.
struct expectation {
  const config::file& base;
  const std::vector<document>& before;
  const workload& of;
  config::yaml_node_ptr tree;
  std::size_t new_documents;
};

bool is_as_expected(const std::string& text, const expectation& what) {
  const auto taken_out = without_marked(what.base.name, text, what.of.label());
  if (!taken_out || *taken_out != what.base.text) return false;
  const auto after = documents_of({what.base.name, text});
  if (!after || after->size() != what.before.size() + what.new_documents) return false;
  for (std::size_t i = 0; i < what.before.size(); ++i) {
    const std::size_t now = i < what.of.in ? i : i + what.new_documents;
    const auto& wanted = i == what.of.in ? what.tree : what.before[i].root;
    if (!same_tree((*after)[now].root, wanted)) return false;
  }
  return true;
}

std::expected<injected, std::vector<problem>> inject_lines(const config::file& of,
                                                           const injection& how) {
  const documents first = read(of);
  if (!first) return std::unexpected(first.error());
  const choice chosen = choose(of, *first, how.workload);
  if (!chosen) return std::unexpected(chosen.error());
  const std::string label = chosen->label();
  auto plain = without_marked(of.name, of.text, label);
  if (!plain) return only(plain.error());

  const config::file base{of.name, *std::move(plain)};
  const documents in = read(base);
  if (!in) return std::unexpected(in.error());
  const choice target = choose(base, *in, label);
  if (!target) return std::unexpected(target.error());
  const document& its = (*in)[target->in];
  pod_report pod = examine(of.name, its, *target, how.what, how.choices);
  if (!pod.problems.empty()) return std::unexpected(std::move(pod.problems));

  const std::vector<addition> all = additions(its, *target, how.what, pod);
  std::vector<std::string> objects;
  if (how.what.adds_rights) {
    objects = role_objects(how.what.needs, *target, pod.facts.account);
  }
  const removal taken{.mapping = pod.container, .keys = pod.taken};
  const auto changed = with_additions(of.name, its, *target, all, taken, objects);
  if (!changed) return only(changed.error());
  std::string text =
      base.text.substr(0, its.begin) + *changed + base.text.substr(its.begin + its.text.size());
  const expectation wanted{.base = base,
                           .before = *in,
                           .of = *target,
                           .tree = tree_with_additions(its, *target, all, taken, objects),
                           .new_documents = target->item.empty() ? objects.size() : 0};
  if (!is_as_expected(text, wanted)) {
    return only({config::position(of.name, its.root->line + its.lines_before, its.root->column),
                 "this document is written in a way that lines cannot be added to safely",
                 "write it anew, e.g. by `kubectl patch --local -f FILE -p {} -o yaml`"});
  }
  return injected{std::move(text), std::move(pod.notes)};
}

/// One object, or a List of all.
std::string json_of(const std::vector<document>& all) {
  if (all.size() == 1) return as_json(*all.front().root);
  std::string out = "{\"apiVersion\": \"v1\", \"kind\": \"List\", \"items\": [\n";
  for (const document& one : all) {
    if (&one != &all.front()) out += ",\n";
    out += as_json(*one.root);
  }
  return out + "]}\n";
}

/// True if `text` says what `root` says, and nothing else.
bool says(const std::string& text, const config::yaml_node_ptr& root) {
  const config::file of{"", text};
  const auto all = documents_of(of);
  return all && all->size() == 1 && same_tree(all->front().root, root);
}

/// JSON is injected into in lines, whose positions mean nothing to somebody who has given JSON.
std::expected<injected, std::vector<problem>> inject_json(const config::file& of,
                                                          const injection& how) {
  const documents given = read(of);
  if (!given) return std::unexpected(given.error());
  if (given->size() != 1 || given->front().root->kind != config::yaml_kind::mapping) {
    return inject_lines(of, how);
  }
  const config::file lines{of.name, in_lines(*given->front().root)};
  if (!says(lines.text, given->front().root)) {
    return only({of.name, "this JSON cannot be written in lines", "give it as YAML"});
  }
  const auto without_position = [&of](std::vector<problem>& all) {
    for (problem& one : all) one.where = of.name;
  };
  auto done = inject_lines(lines, how);
  if (!done) {
    without_position(done.error());
    return std::unexpected(std::move(done.error()));
  }
  without_position(done->notes);
  const config::file in_line_form{of.name, std::move(done->text)};
  const auto after = documents_of(in_line_form);
  if (!after) return only(after.error());
  done->text = json_of(*after);
  if (after->size() == 1 && !says(done->text, after->front().root)) {
    return only({of.name, "this cannot be written as JSON", "give it as YAML"});
  }
  return done;
}

}  // namespace

std::expected<injected, std::vector<problem>> inject(const config::file& of, const injection& how) {
  return is_json(of.text) ? inject_json(of, how) : inject_lines(of, how);
}

std::expected<std::string, std::vector<problem>> uninject(const config::file& of,
                                                          const std::string& workload) {
  if (const documents all = read(of); !all) return std::unexpected(all.error());
  if (is_json(of.text)) {
    return only({of.name, "this is JSON, which has no comments that could say what was added",
                 "apply the manifest that was there before"});
  }
  std::string label = workload;
  if (!workload.empty() && !workload.contains('/')) {
    std::vector<std::string> found = marked_workloads(of.text);
    std::erase_if(found,
                  [&workload](const std::string& one) { return !one.ends_with("/" + workload); });
    if (found.size() > 1) {
      return only({of.name, "several workloads are called " + settings::quote(workload),
                   "say which one: --workload " + found[0]});
    }
    if (found.empty()) return of.text;
    label = found[0];
  }
  auto out = without_marked(of.name, of.text, label);
  if (!out) return only(out.error());
  return *std::move(out);
}

}  // namespace tenure::manifest
