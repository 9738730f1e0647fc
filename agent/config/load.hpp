#pragma once

#include <cstddef>
#include <expected>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "config/configuration.hpp"
#include "config/problem.hpp"

namespace tenure::config {

inline constexpr std::size_t max_file_bytes = 1024 * 1024;
/// Levels of lists and mappings inside each other; a good file has three.
inline constexpr std::size_t max_nesting = 16;
inline constexpr std::size_t max_elections = 10'000;
inline constexpr std::size_t max_endpoints = 32;
inline constexpr std::size_t max_allowed_hosts = 32;
inline constexpr std::size_t max_checks = 32;
/// Problems that are reported one by one; a last one counts the rest.
inline constexpr std::size_t max_problems = 100;

/// A configuration file that was read.
struct file {
  std::string name;  ///< as shown in front of line and column
  std::string text;
};

using file_result = std::expected<file, problem>;
using name_and_value = std::pair<std::string, std::string>;

/// What Kubernetes gives to each pod.
struct pod {
  std::string endpoint;  ///< the API server: "https://10.96.0.1:443"
  std::string folder;  ///< the files of the pod's ServiceAccount: its token, and who may vouch for
                       ///< the server
  std::string name_space;   ///< the pod's namespace; empty: unknown
  std::string host_name{};  ///< the pod's name, unless it uses the network of its node

  [[nodiscard]] std::string token_file() const { return folder + "/token"; }
  [[nodiscard]] std::string ca_file() const { return folder + "/ca.crt"; }
};

/// What the variable `KUBECONFIG` names.
struct kubeconfig_variable {
  std::string path;        ///< the first file of the list that exists; the first one, if none does
  std::size_t listed = 1;  ///< how many there are in the list
};

/// All sources of a configuration. A flag wins over the environment, the environment over the file,
/// the file over the default. Lists replace each other; they are not joined.
struct inputs {
  std::optional<file_result> file;  ///< `read_file(path)`, if one was named
  /// All of the environment, or those that `may_be_setting`; the rest is ignored. A list is
  /// separated by commas. Where a variable of another tool holds a secret, any text may stand for
  /// it (`is_secret_variable`).
  std::vector<name_and_value> environment;
  /// In order: {"--ttl", "15s"}. A flag without a value is {"--observe", "true"}.
  std::vector<name_and_value> flags;
  std::string host_name;                            ///< the default identity
  std::optional<pod> in_pod{};                      ///< what a pod knows of its cluster
  std::optional<kubeconfig_variable> kubeconfig{};  ///< if `KUBECONFIG` is set
  /// Reads the kubeconfig, which only the other sources name: `read_file`. Without it, what a
  /// kubeconfig would have said is not known, and not missed.
  std::function<file_result(const std::string& path)> read{};
  /// Nothing is required, because only the time budget is of interest. Missing settings stay empty.
  bool partial = false;
  /// The file is checked by itself: suggestions are written as in a file, not as flags.
  bool file_alone = false;
  /// The settings may be for another machine, e.g. for a pod.
  bool for_elsewhere = false;
};

/// True for TENURE_ and for the variables of other tools (other_tools.hpp). Others need not be
/// read.
bool may_be_setting(std::string_view variable);

/// The variable in which `kubectl` looks for its files.
inline constexpr std::string_view kubeconfig_paths = "KUBECONFIG";

/// The variable in which the command `consul` looks for a token.
inline constexpr std::string_view consul_token = "CONSUL_HTTP_TOKEN";

/// The variables by which a pod finds the API server of its cluster.
inline constexpr std::string_view pod_host = "KUBERNETES_SERVICE_HOST";
inline constexpr std::string_view pod_port = "KUBERNETES_SERVICE_PORT";

/// Checks all sources and combines them. Returns *all* problems at once: those of the file
/// in its order, then of the environment, the flags, and of the whole. A bad value is a problem
/// even where another source overrides it.
///
/// Pure, but for `inputs::read`: reads no file, no environment and no clock; any bytes may be
/// given. Thread-safe.
std::expected<configuration, std::vector<problem>> load(const inputs& in);

}  // namespace tenure::config
