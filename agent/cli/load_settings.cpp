#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/verbs.hpp"
#include "config/surroundings.hpp"
#include "runtime/exit_status.hpp"
#include "stores/store.hpp"
#include "workload/guard_link.hpp"

namespace tenure::cli {
namespace {

/// In a container the host name is the pod's, and ours alone. On a host that members share, the id
/// of their first process tells them apart: it stays when a guard starts its agent again.
std::string default_identity() {
  const pid_t first = workload::guard_link::in_environment() ? ::getppid() : ::getpid();
  const std::string host = config::host_name();
  return first == 1 || host.empty() ? host : host + "-" + std::to_string(first);
}

}  // namespace

std::expected<config::settings, int> load_settings(const invocation& what) {
  config::inputs in;
  in.environment = config::environment();
  in.flags = what.flags;
  in.host_name = default_identity();
  in.stores = stores::store_kinds();
  in.partial = what.verb == "explain";
  std::optional<std::string> path = what.config_path;
  for (const auto& [name, value] : in.environment) {
    if (!path && name == config::config_environment && !value.empty()) path = value;
  }
  if (path) in.file = config::read_file(*path);

  auto settings = config::load(in);
  if (settings) return std::move(*settings);
  for (const config::problem& p : settings.error()) {
    std::fprintf(stderr, "tenure: %s\n", config::render(p).c_str());
  }
  return std::unexpected(runtime::exit_bad_settings);
}

}  // namespace tenure::cli
