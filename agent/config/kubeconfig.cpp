#include <algorithm>
#include <array>
#include <map>

#include "base/base64.hpp"
#include "config/raw_settings.hpp"
#include "config/suggest.hpp"
#include "config/yaml.hpp"

namespace tenure::config {
namespace {

constexpr std::size_t most_names_shown = 10;

/// How an entry of a kubeconfig is called in its list, and the list in the file.
struct entry_kind {
  std::string_view noun;
  std::string_view list;
};
constexpr entry_kind context_entry{"context", "contexts"};
constexpr entry_kind cluster_entry{"cluster", "clusters"};
constexpr entry_kind user_entry{"user", "users"};

/// What stands in a file of its own, or in the kubeconfig itself.
struct material {
  setting which;
  std::string_view path_key;
  std::string_view data_key;
  std::string settings::inline_security::* inlined;
  std::string_view begins;  ///< a line of the text
};
constexpr material authorities{setting::ca_file, "certificate-authority",
                               "certificate-authority-data",
                               &settings::inline_security::authorities, "-----BEGIN CERTIFICATE"};
constexpr material certificate{setting::certificate_file, "client-certificate",
                               "client-certificate-data", &settings::inline_security::certificate,
                               "-----BEGIN CERTIFICATE"};
constexpr material private_key{setting::key_file, "client-key", "client-key-data",
                               &settings::inline_security::key, "-----BEGIN "};

/// A way to sign in that Tenure does not have.
struct foreign_way {
  std::string_view key;
  std::string_view why;
};
constexpr std::array<foreign_way, 8> foreign_ways{
    {{"exec", "Tenure runs no program to sign in"},
     {"auth-provider", "Tenure has no such providers"},
     {"username", "Tenure signs in to Kubernetes with a token or a certificate"},
     {"password", "Tenure signs in to Kubernetes with a token or a certificate"},
     {"as", "Tenure acts as nobody but the one who signs in"},
     {"as-uid", "Tenure acts as nobody but the one who signs in"},
     {"as-groups", "Tenure acts as nobody but the one who signs in"},
     {"as-user-extra", "Tenure acts as nobody but the one who signs in"}}};

bool is_empty(const yaml_node& node) {
  switch (node.kind) {
    case yaml_kind::null:
      return true;
    case yaml_kind::list:
      return node.items.empty();
    case yaml_kind::mapping:
      return node.members.empty();
    default:
      return node.scalar.empty();
  }
}

/// Null if `of` is not a mapping, or has nothing there. Of members of one name the last one counts,
/// as for `kubectl`.
const yaml_node* member(const yaml_node& of, std::string_view key) {
  const auto found = std::find_if(of.members.rbegin(), of.members.rend(),
                                  [key](const auto& one) { return one.first->scalar == key; });
  return found == of.members.rend() || is_empty(*found->second) ? nullptr : found->second.get();
}

bool is_scalar(const yaml_node& node) {
  return node.kind != yaml_kind::list && node.kind != yaml_kind::mapping;
}

/// Takes what one kubeconfig says. Lives for one call of `take_kubeconfig`.
class kubeconfig_document {
 public:
  kubeconfig_document(const file& source, const yaml_node& root, const inputs& in,
                      raw_settings& out)
      : source_(source), root_(root), in_(in), out_(out) {}

  void take() {
    for (const entry_kind& kind : {context_entry, cluster_entry, user_entry}) refuse_twins(kind);
    const yaml_node* const context = chosen_context();
    if (context == nullptr) return;
    const yaml_node* const cluster = member(*context, cluster_entry.noun);
    if (cluster == nullptr) {
      reject(*context, "the context has no cluster", "name one of the clusters of this file in it");
    } else if (const yaml_node* const its = entry(cluster_entry, *cluster)) {
      take_cluster(*its);
    }
    take_user_of(*context);
    take(setting::name_space, text(*context, "namespace"));
  }

 private:
  [[nodiscard]] origin at(const yaml_node& node) const {
    return {source::file, position(source_.name, node.line, node.column)};
  }

  void reject(const yaml_node& node, std::string what, std::string suggestion) {
    out_.reject({at(node).where, std::move(what), std::move(suggestion)});
  }

  /// The value could not be used, and nobody is to miss it.
  void reject(setting which, const yaml_node& node, std::string what, std::string suggestion) {
    out_.bad.set(static_cast<std::size_t>(which));
    reject(node, std::move(what), std::move(suggestion));
  }

  [[nodiscard]] std::string written(setting which) const {
    const field& f = field_of(which);
    return std::string(in_.file_alone ? f.key : f.flag);
  }

  /// Null if there is none. Its content is never repeated.
  const yaml_node* text(const yaml_node& of, std::string_view key) {
    const yaml_node* const found = member(of, key);
    if (found == nullptr || found->kind == yaml_kind::text) return found;
    if (is_scalar(*found)) {
      reject(*found,
             std::string(key) + (found->kind == yaml_kind::number
                                     ? " is a number, which kubectl does not take for a text"
                                     : " is a boolean, which kubectl does not take for a text"),
             "write it in quotes");
    } else {
      reject(*found, std::string(key) + " is a list or a mapping", "give one text");
    }
    return nullptr;
  }

  /// Which of two was meant decides who excludes whom; `kubectl` refuses such a file, too.
  void refuse_twins(const entry_kind& kind) {
    const yaml_node* const list = member(root_, kind.list);
    if (list == nullptr) return;
    std::map<std::string_view, const yaml_node*> seen;
    for (const yaml_node_ptr& one : list->items) {
      const yaml_node* const name = member(*one, "name");
      if (name == nullptr || !is_scalar(*name)) continue;
      const auto [earlier, is_new] = seen.try_emplace(name->scalar, name);
      if (is_new) continue;
      reject(*name,
             "there are two " + std::string(kind.list) + " called " + quote(name->scalar) +
                 ", the first in line " + std::to_string(earlier->second->line),
             "remove one, or give it another name, as kubectl wants it");
    }
  }

  const yaml_node* chosen_context() {
    if (const assignment* const asked = strongest(out_, setting::kube_context)) {
      return entry(context_entry, std::get<std::string>(asked->what), asked->from.where);
    }
    if (is_given(out_, setting::kube_context)) return nullptr;
    const yaml_node* const current = text(root_, "current-context");
    if (current == nullptr) {
      reject(root_, "there is no current-context",
             "say which context is meant with " + written(setting::kube_context) + "; " +
                 known_names(context_entry, {}));
      return nullptr;
    }
    const yaml_node* const found = entry(context_entry, *current);
    if (found != nullptr) out_.assign(setting::kube_context, current->scalar, at(*current));
    return found;
  }

  [[nodiscard]] std::vector<std::string_view> names_of(const entry_kind& kind) const {
    std::vector<std::string_view> out;
    const yaml_node* const list = member(root_, kind.list);
    if (list == nullptr) return out;
    for (const yaml_node_ptr& one : list->items) {
      const yaml_node* const name = member(*one, "name");
      if (name != nullptr && is_scalar(*name)) out.emplace_back(name->scalar);
    }
    return out;
  }

  [[nodiscard]] std::string known_names(const entry_kind& kind, std::string_view given) const {
    const std::vector<std::string_view> known = names_of(kind);
    if (known.empty()) return "the file has no " + std::string(kind.list);
    std::string meant = did_you_mean(given, known);
    if (!meant.empty()) return meant;
    const std::size_t shown = std::min(known.size(), most_names_shown);
    return "its " + std::string(kind.list) + (shown < known.size() ? ", among others: " : ": ") +
           choices(std::span(known).first(shown));
  }

  const yaml_node* entry(const entry_kind& kind, const yaml_node& name) {
    if (is_scalar(name)) return entry(kind, name.scalar, at(name).where);
    reject(name, std::string(kind.noun) + " is a list or a mapping", "give a name");
    return nullptr;
  }

  /// What the list of this kind has under `name`; rejected with `where` it is named if there is no
  /// such entry.
  const yaml_node* entry(const entry_kind& kind, const std::string& name,
                         const std::string& where) {
    const yaml_node* const list = member(root_, kind.list);
    if (list != nullptr && list->kind != yaml_kind::list) {
      reject(*list, std::string(kind.list) + " is not a list", "is this a kubeconfig?");
      return nullptr;
    }
    if (list != nullptr) {
      for (const yaml_node_ptr& one : list->items) {
        const yaml_node* const its = member(*one, "name");
        if (its == nullptr || its->scalar != name) continue;
        const yaml_node* const found = member(*one, kind.noun);
        if (found != nullptr && found->kind == yaml_kind::mapping) return found;
        reject(*one, std::string(kind.noun) + " " + quote(name) + " is empty",
               "fill it in, or choose another context");
        return nullptr;
      }
    }
    out_.reject(
        {where, "there is no " + std::string(kind.noun) + " " + quote(name) + " in " + source_.name,
         known_names(kind, name)});
    return nullptr;
  }

  /// A value as it would be written in a file of ours, unless something else gives it.
  void take(setting which, const yaml_node* node) {
    if (node != nullptr && !is_given(out_, which)) take(which, node->scalar, *node);
  }

  void take(setting which, const std::string& content, const yaml_node& node) {
    const field& f = field_of(which);
    parsed<value> result = parse_value(f, content);
    if (!result) {
      out_.reject(f, at(node).where, result.error());
    } else if (f.is_list_of_texts()) {
      out_.assign(which, std::vector{std::get<std::string>(std::move(*result))}, at(node));
    } else {
      out_.assign(which, std::move(*result), at(node));
    }
  }

  /// Relative to the folder of this file, as for `kubectl`.
  void take_path(setting which, const yaml_node& node) {
    const bool is_absolute = node.scalar.starts_with('/');
    const std::size_t folder = source_.name.rfind('/');
    if (is_absolute || folder == std::string::npos) return take(which, node.scalar, node);
    take(which, source_.name.substr(0, folder + 1) + node.scalar, node);
  }

  /// False if there is none. What the file has itself wins over a path, as for `kubectl`.
  bool take(const material& what, const yaml_node& from) {
    const yaml_node* const data = text(from, what.data_key);
    const yaml_node* const path = text(from, what.path_key);
    if (data != nullptr) {
      take_data(what, *data);
    } else if (path != nullptr) {
      take_path(what.which, *path);
    }
    return data != nullptr || path != nullptr;
  }

  void take_data(const material& what, const yaml_node& data) {
    std::string digits = data.scalar;
    std::erase_if(digits, [](char c) { return c == '\n' || c == '\r'; });
    std::optional<std::string> pem = base::from_base64(digits);
    const std::string key(what.data_key);
    if (!pem) {
      reject(what.which, data, key + " is not base64", "copy it again as a whole");
    } else if (!pem->contains(what.begins)) {
      reject(what.which, data, key + " is base64 of something else than PEM",
             "it has to be the file with " + std::string(what.begins) + " in it, in base64");
    } else {
      put(what.which, what.inlined, std::move(*pem), data);
    }
  }

  void put(setting which, std::string settings::inline_security::* to, std::string content,
           const yaml_node& node) {
    out_.inlined.*to = std::move(content);
    out_.inlined_settings.push_back({which, at(node)});
  }

  void take_cluster(const yaml_node& its) {
    const yaml_node* const server = text(its, "server");
    if (server == nullptr && !is_given(out_, setting::endpoint)) {
      reject(its, "the cluster has no server", "give the URL of its API server");
    }
    take(setting::endpoint, server);
    if (const yaml_node* const proxy = member(its, "proxy-url")) {
      reject(*proxy, "proxy-url is given, and Tenure goes through no proxy",
             "remove it, and name a server that can be reached without one");
    }
    const yaml_node* const unchecked = member(its, "insecure-skip-tls-verify");
    if (unchecked != nullptr && truth_of(*unchecked) != false) {
      reject(*unchecked,
             "insecure-skip-tls-verify is given, and Tenure talks to no server that may be another",
             "give its CA as certificate-authority, and tls-server-name if its certificate is for "
             "another name");
    }
    if (!is_given(out_, setting::ca_file)) take(authorities, its);
    take(setting::server_name, text(its, "tls-server-name"));
  }

  /// A token or a certificate that is given elsewhere is instead of the user.
  void take_user_of(const yaml_node& context) {
    const auto is_elsewhere = [this](setting which) { return is_given(out_, which); };
    if (std::ranges::any_of(
            std::array{setting::token_file, setting::certificate_file, setting::key_file},
            is_elsewhere)) {
      return;
    }
    const yaml_node* const name = member(context, user_entry.noun);
    const yaml_node* const its = name == nullptr ? nullptr : entry(user_entry, *name);
    if (its == nullptr) return;
    refuse_foreign_ways(*its);
    take_certificate(*its);
    take_token(*its);
  }

  void refuse_foreign_ways(const yaml_node& user) {
    for (const foreign_way& one : foreign_ways) {
      const yaml_node* const found = member(user, one.key);
      if (found == nullptr) continue;
      reject(*found, "the user has " + std::string(one.key) + ", and " + std::string(one.why),
             "put the token of a ServiceAccount into a file, and name that with " +
                 written(setting::token_file));
      return;
    }
  }

  void take_certificate(const yaml_node& user) {
    const bool has_certificate = take(certificate, user);
    const bool has_key = take(private_key, user);
    if (has_certificate == has_key) return;
    reject(has_key ? setting::certificate_file : setting::key_file, user,
           has_key ? "the user has a client-key without a client-certificate"
                   : "the user has a client-certificate without a client-key",
           "give both, or none");
  }

  /// A file wins, as for `kubectl`.
  void take_token(const yaml_node& user) {
    if (const yaml_node* const path = text(user, "tokenFile")) {
      return take_path(setting::token_file, *path);
    }
    const yaml_node* const token = text(user, "token");
    if (token == nullptr) return;
    if (!std::ranges::all_of(token->scalar, is_visible)) {
      reject(setting::token_file, *token, "token is something else than one token",
             "copy it again, without blanks and line ends");
      return;
    }
    put(setting::token_file, &settings::inline_security::token, token->scalar, *token);
  }

  const file& source_;
  const yaml_node& root_;
  const inputs& in_;
  raw_settings& out_;
};

/// True if a kubeconfig is named, well or not.
bool take_variable(const inputs& in, raw_settings& out) {
  if (is_given(out, setting::kubeconfig)) return true;
  if (!in.kubeconfig || in.in_pod || is_given(out, setting::endpoint)) return false;
  const std::string where(kubeconfig_paths);
  const field& f = field_of(setting::kubeconfig);
  parsed<value> path = parse_value(f, in.kubeconfig->path);
  if (!path) {
    out.reject(f, where, path.error());
    return true;
  }
  out.assign(f.which, std::move(*path), {source::environment, where});
  if (in.kubeconfig->listed > 1) {
    out.warnings.push_back({where,
                            "of the " + std::to_string(in.kubeconfig->listed) + " files in it, " +
                                in.kubeconfig->path + " alone is read",
                            "name the one that is meant with " + std::string(f.flag)});
  }
  return true;
}

/// Takes what the file says. The problem is that it cannot be read.
std::optional<problem> take_named(const std::string& path, const inputs& in, raw_settings& out) {
  const file_result source = in.read(path);
  if (!source) return source.error();
  const auto root = parse_yaml(*source, {.as_kubectl = true});
  if (!root) {
    out.reject(root.error());
  } else if ((*root)->kind != yaml_kind::mapping) {
    out.reject({source->name, "this is not a kubeconfig", "check its path"});
  } else {
    kubeconfig_document(*source, **root, in, out).take();
  }
  return std::nullopt;
}

}  // namespace

void take_kubeconfig(const inputs& in, raw_settings& out) {
  const settings::store_kind* const kind = kind_of_store(out);
  if (kind == nullptr || !kind->in_pods || !take_variable(in, out)) return;
  const assignment* const named = strongest(out, setting::kubeconfig);
  const std::size_t before = out.problems.size();
  if (named != nullptr && in.read) {
    const std::string path = std::get<std::string>(named->what);
    auto unreadable = take_named(path, in, out);
    // What is checked by itself may be for another machine.
    if (unreadable && (in.file_alone || in.partial)) {
      out.warnings.push_back(std::move(*unreadable));
    } else if (unreadable) {
      out.reject(std::move(*unreadable));
    }
  }
  // Nothing else is to be said of what the kubeconfig would have given.
  if (named == nullptr || out.problems.size() > before) {
    out.bad.set(static_cast<std::size_t>(setting::endpoint));
  }
}

}  // namespace tenure::config
