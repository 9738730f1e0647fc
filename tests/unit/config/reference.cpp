#include "unit/config/reference.hpp"

#include "config/fields.hpp"
#include "config/suggest.hpp"

namespace tenure::config {
namespace {

constexpr std::string_view introduction = R"(# Configuration

<!-- Made from agent/config/fields.cpp. To make it again: config_tests --update-reference -->

A setting is a key of the configuration file, a flag, or an environment variable. A flag wins over
the environment, the environment over the file, and the file over the default; a list replaces the
weaker one and is not joined to it. `--config FILE` (or `TENURE_CONFIG`) names the file. What is
unknown, given twice, of the wrong type or impossible is refused at start, all of it at once, with
line and column; exit status 2. `tenure check` prints every setting with the place it came from.

```yaml
store: sqlite
endpoint: /var/lib/tenure/tenure.db
elections:
  - orders
  - {name: reports, slots: 2}
ttl: 10s
```

- The file is one YAML 1.2 document of at most 1 MiB. Anchors and aliases are allowed, tags and
  merge keys are not. Only `true` and `false` are booleans. A text in quotes is one line.
- A duration needs its unit: `500ms`, `15s`, `1.5s`, `2m`, `1h`, `1m30s`.
- A flag for a list is given once an item; an environment variable separates items with commas.
- A flag that is `true` or `false` takes no value: `--observe`.
- An environment variable that begins with `TENURE_` must be a setting, or it is refused. Excepted are
  those that Tenure gives to a workload and those that Kubernetes makes for a Service named `tenure`.
- No secret is a setting: flags, variables and files of settings are read by others. What is secret
  stands in a file of its own, which a setting names (`password_file`, `key_file`, `kubeconfig`).
- An endpoint of `etcd` or `kubernetes` is `http://HOST:PORT` or `https://HOST:PORT`; only `https`
  is encrypted. TLS settings without any `https` endpoint are refused. Both round a `ttl` up to
  whole seconds.
- In a pod, `kubernetes` needs neither an endpoint nor a token: if no endpoint is given, Tenure takes
  the API server of the pod's cluster, and the token, the CA and the namespace of the pod.
- Elsewhere it takes all of that from a `kubeconfig`, as far as no other setting says it; a token or a
  certificate that is set is instead of the user of that file. A variable `KUBECONFIG` names the file
  outside of a pod where neither `kubeconfig` nor `endpoint` is set; of a list, the first file that
  exists is read, and a warning says so. The file means what it means to `kubectl`, and what that refuses is
  refused, such as two clusters of one name.
- An election's name becomes a key in the store, so it is held to what all stores can carry. Two
  names of one agent must not be inside each other (`a` and `a/b`). With `kubernetes` it is the name
  of a Lease: up to 63 small letters, digits, `-` and `.`.
)";

std::string code(std::string_view text) {
  return text.empty() ? "" : "`" + std::string(text) + "`";
}

std::string accepted(const field& f) {
  switch (f.type) {
    case field_type::word:
    case field_type::signal: {
      std::string out;
      for (const std::string_view word : f.words) out += (out.empty() ? "" : ", ") + code(word);
      return f.type == field_type::signal ? out + "; with or without `SIG`" : out;
    }
    case field_type::integer:
      return std::to_string(f.least) + " to " + std::to_string(f.most);
    case field_type::boolean:
      return "`true`, `false`";
    default:
      return std::string(f.range);
  }
}

void add_setting(const field& f, std::string& out) {
  out += "\n### `" + std::string(f.key) + "`\n\n" + std::string(f.doc) + ".\n\n";
  if (f.flag.empty()) {
    out += "- in the file only\n";
  } else {
    const std::string argument = f.metavar.empty() ? "" : " " + std::string(f.metavar);
    out += "- flag " + code(std::string(f.flag) + argument);
    if (f.repeatable()) out += ", repeatable";
    out += "; variable " + code(f.environment) + "\n";
  }
  out += "- default: " + (f.fallback.empty() ? std::string(f.derivation) : code(f.fallback)) + "\n";
  out += "- accepts: " + accepted(f) + "\n";
}

}  // namespace

std::string reference_markdown() {
  std::string out(introduction);
  const field* before = nullptr;
  for (const field& f : fields()) {
    const bool first_of_section = before == nullptr || before->section != f.section;
    if (first_of_section) {
      out += "\n## " + std::string(title(f.section)) + "\n";
    }
    if (f.section == group::timing && first_of_section) {
      out +=
          "\nA shorter `ttl` shrinks what is not given, so that `--ttl 2s` alone is a good\n"
          "configuration. `tenure explain` prints the sums.\n";
    }
    if (f.section == group::hooks && first_of_section) {
      out +=
          "\nFor `tenure agent` and a workload that somebody else runs; see "
          "[hooks.md](hooks.md).\n";
    }
    if (f.section == group::health && first_of_section) {
      out +=
          "\nNothing is checked unless `health_http`, `health_command` or `health_file` is given; "
          "of\n"
          "several each has to find the workload well. See [health.md](health.md).\n";
    }
    if (f.section == group::kubernetes && first_of_section) {
      out +=
          "\nFor an agent in a pod, with any store; see [traffic.md](traffic.md). The API server, "
          "its\n"
          "CA and the token are always those that Kubernetes has given to the pod.\n";
    }
    add_setting(f, out);
    before = &f;
  }
  return out;
}

}  // namespace tenure::config
