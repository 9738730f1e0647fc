#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/runtime_directory.hpp"
#include "base/trusted_open.hpp"
#include "cli/verbs.hpp"
#include "config/surroundings.hpp"
#include "runtime/exit_status.hpp"
#include "workload/guard_link.hpp"

namespace tenure::cli {
namespace {

/// In a container, the host name is that of the pod, and unique. On a host that members share, the
/// name of their unit tells them apart, or else the id of their first process: it stays when a
/// guard restarts its agent, but not when the member is started again.
std::string default_identity() {
  const pid_t first = workload::guard_link::in_environment() ? ::getppid() : ::getpid();
  const std::string host = config::host_name();
  if (first == 1 || host.empty()) return host;
  const std::string unit = base::unit_name();
  return host + "-" + (unit.empty() ? std::to_string(first) : unit);
}

/// A setting under the name that an older sidecar, for which many manifests were written, gave it.
struct older_name {
  std::string_view flag;
  config::setting ours;
};
constexpr std::array older_names{older_name{"--id", config::setting::identity},
                                 older_name{"--http", config::setting::listen},
                                 older_name{"--election-namespace", config::setting::name_space}};

/// The flags, including those that only `tenure agent` takes.
std::vector<config::name_and_value> flags_of(const invocation& what) {
  std::vector<config::name_and_value> out = what.flags;
  for (const auto& [name, value] : what.given) {
    const auto* const older = std::ranges::find(older_names, name, &older_name::flag);
    if (older != older_names.end()) out.emplace_back(config::field_of(older->ours).flag, value);
  }
  return out;
}

/// Ignores files that cannot be opened: other code reports those.
void warn_of_exposed_secrets(config::configuration& s) {
  const std::string none;
  const std::pair<const char*, const std::string&> secrets[] = {
      {"kubeconfig", s.secure.inlined.has_secret() ? s.kubeconfig : none},
      {"password_file", s.secure.password_file},
      {"token_file", s.secure.token_file},
      {"key_file", s.secure.key_file},
      {"control_token_file", s.control_token_file}};
  for (const auto& [name, file] : secrets) {
    // Kubernetes itself gives that to a pod.
    const bool is_of_pod = name == std::string_view("token_file") &&
                           s.origin_of(config::setting::token_file).where == config::pod_host;
    if (file.empty() || is_of_pod) continue;
    const auto opened = base::open_named_file(name, file);
    if (!opened || !base::readable_by_all(*opened)) continue;
    s.warnings.push_back({name, "every user can read the secret in " + file,
                          "run `chmod o-r` on it, or give the volume of a Secret in Kubernetes "
                          "defaultMode 0440"});
  }
}

}  // namespace

std::expected<config::configuration, int> load_settings(const invocation& what) {
  config::inputs in;
  in.environment = config::environment();
  in.flags = flags_of(what);
  in.host_name = default_identity();
  in.in_pod = config::this_pod();
  in.kubeconfig = config::kubeconfig_of_environment();
  in.read = config::read_file;
  in.partial = what.verb == "explain";
  in.for_elsewhere = what.verb == "doctor" && !in.in_pod;
  std::optional<std::string> path = what.config_path;
  for (const auto& [name, value] : in.environment) {
    if (!path && name == config::config_environment && !value.empty()) path = value;
  }
  if (path) in.file = config::read_file(*path);

  auto settings = config::load(in);
  std::vector<config::problem> problems;
  if (!settings) {
    problems = std::move(settings.error());
  } else if (!in.partial) {
    problems = config::problems_here(*settings);
  }
  if (problems.empty()) {
    warn_of_exposed_secrets(*settings);
    return std::move(*settings);
  }
  for (const config::problem& p : problems) {
    std::fprintf(stderr, "tenure: %s\n", config::render(p).c_str());
  }
  return std::unexpected(runtime::exit_bad_settings);
}

}  // namespace tenure::cli
