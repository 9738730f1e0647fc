#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error_text.hpp"
#include "base/number_text.hpp"
#include "base/unique_fd.hpp"
#include "cli/text/print.hpp"
#include "cli/verbs.hpp"
#include "cli/version.hpp"
#include "manifest/inject.hpp"
#include "runtime/exit_status.hpp"
#include "settings/store_kind.hpp"

namespace tenure::cli {
namespace {

using config::setting;
using settings::quote;

constexpr std::string_view kubernetes_store = "kubernetes";
constexpr std::string_view guard_folder = "/run/tenure";

/// What each pod has a value of its own for, or what the sidecar decides.
constexpr std::array decided_here{setting::identity,    setting::guard_dir,     setting::guard_uid,
                                  setting::pod_name,    setting::pod_namespace, setting::pod_uid,
                                  setting::pod_node,    setting::pod_address,   setting::kubeconfig,
                                  setting::kube_context};

int report(const std::vector<config::problem>& all, int status) {
  for (const config::problem& one : all) {
    std::fprintf(stderr, "tenure inject: %s\n", config::render(one).c_str());
  }
  return status;
}

void warn(const std::vector<config::problem>& all) {
  for (const config::problem& one : all) {
    std::fprintf(stderr, "tenure inject: warning: %s\n", config::render(one).c_str());
  }
}

/// A manifest, from standard input if it is called "-".
config::file_result read_manifest(const std::string& name) {
  const bool is_standard = name == "-";
  config::file out{is_standard ? "standard input" : name, {}};
  const auto refuse = [&out](const std::string& why) {
    return std::unexpected(config::problem{out.name, "the file cannot be read: " + why, ""});
  };
  const base::unique_fd opened(is_standard ? -1 : ::open(name.c_str(), O_RDONLY | O_CLOEXEC));
  const int from = is_standard ? STDIN_FILENO : opened.get();
  if (from < 0) return refuse(base::error_text(errno));
  std::array<char, 65536> piece{};
  while (true) {
    const ssize_t n = ::read(from, piece.data(), piece.size());
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) return refuse(base::error_text(errno));
    if (n == 0) return out;
    out.text.append(piece.data(), static_cast<std::size_t>(n));
    if (out.text.size() > manifest::max_manifest_bytes) {
      return refuse("it has more than " + std::to_string(manifest::max_manifest_bytes) + " bytes");
    }
  }
}

int print_manifest(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) == text.size() && std::fflush(stdout) == 0) {
    return runtime::exit_ok;
  }
  print_failure("inject", "cannot write to standard output: " + base::error_text(errno));
  return runtime::exit_failed;
}

using problems = std::vector<config::problem>;

/// The settings of the agent, which runs in a pod and not here: no variable and no file of this
/// machine counts.
std::expected<config::configuration, problems> settings_of_agent(
    const std::vector<config::name_and_value>& flags) {
  config::inputs in;
  in.flags = flags;
  in.flags.emplace_back(config::field_of(setting::guard_dir).flag, guard_folder);
  in.host_name = "pod";
  // Any values: the sidecar has those of its pod.
  in.environment = {{"TENURE_POD_NAME", "pod"},
                    {"TENURE_POD_UID", "uid"},
                    {"TENURE_POD_NODE", "node"},
                    {"TENURE_POD_ADDRESS", "10.0.0.1"}};
  in.in_pod = config::pod{.endpoint = "https://kubernetes.default.svc",
                          .folder = "/var/run/secrets/kubernetes.io/serviceaccount",
                          .name_space = "default"};
  return config::load(in);
}

bool has_flag(const std::vector<config::name_and_value>& flags, setting which) {
  return std::ranges::count(flags, config::field_of(which).flag, &config::name_and_value::first) >
         0;
}

/// Settings that the sidecar cannot have.
problems misplaced(const invocation& what, const config::configuration& s) {
  problems out;
  for (const setting one : decided_here) {
    if (!has_flag(what.flags, one)) continue;
    out.push_back({std::string(config::field_of(one).flag),
                   "is not the same for all pods, or is decided by the sidecar", "leave it out"});
  }
  if (!s.probe_listen.at || s.probe_listen.at->port == 0 ||
      settings::is_loopback(s.probe_listen.at->host)) {
    out.push_back({"--probe-listen", "is not where the kubelet could ask the agent",
                   "give an address of the pod and a port, such as 0.0.0.0:8081"});
  }
  if (what.has("--rbac") && has_flag(what.flags, setting::name_space)) {
    out.push_back({"--rbac", "adds a Role in the namespace of the workload, not in --namespace",
                   "leave one of them out"});
  }
  return out;
}

/// Files that the agent is told to read, and that are in no volume of it.
problems unmounted(const std::vector<config::name_and_value>& flags,
                   const std::vector<manifest::agent_mount>& mounts) {
  problems out;
  for (const auto& [name, value] : flags) {
    const auto field = std::ranges::find(config::fields(), name, &config::field::flag);
    if (field == config::fields().end() || field->type != config::field_type::path) continue;
    const auto has_it = [&file = value](const std::string& folder) {
      return file.starts_with(folder + "/");
    };
    // "off" is not a file; the token of the ServiceAccount is where Kubernetes puts it.
    const bool is_there = !value.starts_with('/') || has_it("/var/run/secrets") ||
                          has_it(std::string(guard_folder)) ||
                          std::ranges::any_of(mounts, has_it, &manifest::agent_mount::path);
    if (is_there) continue;
    out.push_back({name, "names a file that is in no volume of the agent",
                   "give it the volume: --mount VOLUME:PATH"});
  }
  return out;
}

std::optional<std::uint32_t> user_of(const std::string& text) {
  constexpr std::uint32_t most = 0x7fffffff;
  const auto out = base::read_number<std::uint32_t>(text);
  return out && *out <= most ? out : std::nullopt;
}

/// "cpu=10m,memory=16Mi", each in place of what `into` has of that name. False: it is not that.
bool take_quantities(std::string_view text, manifest::quantities& into) {
  constexpr std::string_view digits = "0123456789";
  constexpr std::string_view units = "0123456789.numkKMGTPEi";
  constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789./-";
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    const std::size_t equals = one.find('=');
    if (equals == 0 || equals == std::string_view::npos) return false;
    const std::string_view name = one.substr(0, equals);
    const std::string_view quantity = one.substr(equals + 1);
    if (name.find_first_not_of(letters) != std::string_view::npos || quantity.empty() ||
        !digits.contains(quantity[0]) ||
        quantity.find_first_not_of(units) != std::string_view::npos) {
      return false;
    }
    const auto there = std::ranges::find(into, name, &manifest::quantities::value_type::first);
    if (there == into.end()) {
      into.emplace_back(name, quantity);
    } else {
      there->second = quantity;
    }
    if (one.size() == text.size()) return true;
    text.remove_prefix(one.size() + 1);
  }
}

/// An empty text if both flags are understood.
std::string take_resources(const invocation& what, manifest::sidecar& out) {
  constexpr const char* hint = "; give quantities by name, such as cpu=100m,memory=32Mi";
  const auto limits = what.value("--limits");
  if (limits) {
    if (!take_quantities(*limits, out.limits)) return "--limits is " + quote(*limits) + hint;
    out.requests = out.limits;
  }
  if (const auto requests = what.value("--requests")) {
    if (!take_quantities(*requests, out.requests))
      return "--requests is " + quote(*requests) + hint;
  }
  return {};
}

/// What the command line says; an empty text if all of it is understood.
std::string take_options(const invocation& what, manifest::injection& out) {
  out.workload = what.value("--workload").value_or("");
  out.choices.container = what.value("--container").value_or("");
  out.what.image = what.value("--image").value_or("tenure:" + facts_of_build().version);
  if (const auto user = what.value("--run-as")) {
    out.choices.user = user_of(*user);
    if (!out.choices.user) {
      return "--run-as is " + quote(*user) + "; give the number of a user, such as 1000";
    }
  }
  if (const auto command = what.value("--command")) {
    auto words = config::parse_command(*command);
    if (!words) return "--command " + words.error().what;
    out.choices.command = *std::move(words);
  }
  for (const std::string& one : what.values("--mount")) {
    const std::size_t colon = one.find(':');
    if (colon == 0 || colon == std::string::npos || !one.substr(colon + 1).starts_with('/')) {
      return "--mount is " + quote(one) +
             "; give a volume of the pod and where it is to be, such "
             "as tls:/etc/tls";
    }
    out.what.mounts.push_back({one.substr(0, colon), one.substr(colon + 1)});
  }
  return take_resources(what, out.what);
}

/// What is to be injected; the error is the exit status of what is reported.
std::expected<manifest::injection, int> injection_of(const invocation& what) {
  manifest::injection how{.what = {.image = {}}};
  if (const std::string wrong = take_options(what, how); !wrong.empty()) {
    print_failure("inject", wrong);
    return std::unexpected(runtime::exit_bad_settings);
  }
  std::vector<config::name_and_value> flags = what.flags;
  if (!has_flag(flags, setting::store)) {
    flags.insert(flags.begin(), {std::string(config::field_of(setting::store).flag),
                                 std::string(kubernetes_store)});
  }
  for (const auto& [name, value] : flags) {
    const settings::store_kind* const store = settings::find_store_kind(value);
    if (name != config::field_of(setting::store).flag || store == nullptr || !store->is_file()) {
      continue;
    }
    return std::unexpected(report({{name, "is " + value + ", a file, which pods do not share",
                                    "use kubernetes, etcd or consul"}},
                                  runtime::exit_bad_settings));
  }
  const auto s = settings_of_agent(flags);
  if (!s) return std::unexpected(report(s.error(), runtime::exit_bad_settings));
  if (const problems all = misplaced(what, *s); !all.empty()) {
    return std::unexpected(report(all, runtime::exit_bad_settings));
  }
  for (const auto& [name, value] : flags) how.what.settings.push_back(name + "=" + value);
  how.what.probe_port = s->probe_listen.at->port;
  how.what.port_is_given = has_flag(flags, setting::probe_listen);
  how.what.needs = {.leases = s->store == kubernetes_store,
                    .events = s->kubernetes.events,
                    .labels = s->kubernetes.traffic == settings::traffic::label,
                    .conditions = s->kubernetes.traffic == settings::traffic::gate,
                    .slices = s->kubernetes.slices};
  how.what.election = s->elections.front().name;
  how.what.adds_rights = what.has("--rbac");
  if (how.what.adds_rights && !how.what.needs.any()) {
    print_failure("inject", "--rbac: the agent needs no rights with --store " + s->store);
    return std::unexpected(runtime::exit_bad_settings);
  }
  warn(s->warnings);
  warn(unmounted(flags, how.what.mounts));
  return how;
}

int print_injected(const invocation& what, const config::file& of, const manifest::injection& how) {
  const auto done = manifest::inject(of, how);
  if (!done) return report(done.error(), runtime::exit_failed);
  warn(done->notes);
  if (!what.has("--image")) {
    warn({{"--image",
           "is not given, so the manifest names " + how.what.image + ", which no registry has",
           "name the image that you have pushed, such as --image registry.example/" +
               how.what.image}});
  }
  return print_manifest(done->text);
}

int print_plain(const config::file& of, const std::string& workload) {
  const auto done = manifest::uninject(of, workload);
  return done ? print_manifest(*done) : report(done.error(), runtime::exit_failed);
}

}  // namespace

int run_inject(const invocation& what) {
  const bool is_back = what.has("--uninject");
  for (const std::string_view flag : {"--container", "--command", "--run-as", "--image", "--mount",
                                      "--requests", "--limits", "--rbac"}) {
    if (!is_back || !what.has(flag)) continue;
    print_failure("inject", std::string(flag) + " has no meaning with --uninject");
    return runtime::exit_bad_settings;
  }
  if (what.config_path) {
    print_failure("inject",
                  "--config names a file that is not in the pod; give its settings as flags");
    return runtime::exit_bad_settings;
  }
  if (is_back && !what.flags.empty()) {
    print_failure("inject", what.flags.front().first + " has no meaning with --uninject");
    return runtime::exit_bad_settings;
  }
  std::expected<manifest::injection, int> how{};
  if (!is_back) how = injection_of(what);
  if (!how) return how.error();
  const auto of = read_manifest(what.value("FILE").value_or(""));
  if (!of) return report({of.error()}, runtime::exit_failed);
  return is_back ? print_plain(*of, what.value("--workload").value_or(""))
                 : print_injected(what, *of, *how);
}

}  // namespace tenure::cli
