#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "config/value.hpp"

/// The one table of settings. Parsing, flags, environment variables, the JSON Schema and
/// docs/configuration.md all follow from it.
namespace tenure::config {

/// Every setting; the order is that of `fields()`.
enum class setting : std::uint8_t {
  store,
  endpoint,
  ca_file,
  certificate_file,
  key_file,
  server_name,
  user,
  password_file,
  token_file,
  kubeconfig,
  kube_context,
  datacenter,
  name_space,
  partition,
  session_lock_delay,
  session_behavior,
  session_without_ttl,
  node_check,
  service_check,
  election,
  elections,
  slots,
  identity,
  observe,
  unlisted,
  priority,
  prefer_newer,
  preempt,
  peer_listen,
  ttl,
  renew,
  grace,
  kill_budget,
  lock_delay,
  drift,
  drain,
  stop_signal,
  on_lost,
  guard_dir,
  guard_uid,
  target_executable,
  target_command_line,
  target_pid_file,
  target_uid,
  while_standby,
  on_gain,
  gain_signal,
  gain_http,
  gain_command,
  gain_file,
  stop_http,
  stop_command,
  stop_exit_code,
  health_http,
  health_command,
  health_file,
  health_file_age,
  health_while,
  health_interval,
  health_timeout,
  health_failures,
  health_successes,
  health_delay,
  listen,
  socket,
  runtime_dir,
  probe_listen,
  allowed_host,
  control_token_file,
  log_format,
  log_level,
  traffic,
  traffic_slice,
  events,
  witness,
  pod_name,
  pod_namespace,
  pod_uid,
  pod_node,
  pod_address,
};

inline constexpr std::size_t setting_count = static_cast<std::size_t>(setting::pod_address) + 1;

/// What belongs together in rules.
inline constexpr std::array tls_settings{setting::ca_file, setting::certificate_file,
                                         setting::key_file, setting::server_name};
inline constexpr std::array sign_in_settings{setting::user, setting::password_file};
/// What only Consul has.
inline constexpr std::array consul_settings{setting::datacenter,          setting::partition,
                                            setting::session_lock_delay,  setting::session_behavior,
                                            setting::session_without_ttl, setting::node_check,
                                            setting::service_check};
/// What only Kubernetes has.
inline constexpr std::array kubernetes_settings{setting::kubeconfig, setting::kube_context};
/// What only stores with tokens have.
inline constexpr std::array token_settings{setting::token_file, setting::name_space};

enum class field_type : std::uint8_t {
  word,           ///< one of `field::words`
  signal,         ///< one of `field::words`, with or without SIG
  endpoints,      ///< one or more URLs or paths
  election_name,  ///< one name in the file; the flag may be repeated
  elections,      ///< a list of names or of {name, slots}; in the file only
  identity,       ///< printable, without blanks
  path,     ///< a file's path; never repeated in a message, as it may be the secret that belongs in
            ///< the file
  program,  ///< an absolute path, or the last name of one
  command_line,  ///< one line, as ps shows it
  host,          ///< a host name or an IP address, without a port
  host_names,    ///< one or more names of hosts, without a port
  ids,           ///< one or more, each printable and without blanks
  user,          ///< printable, without blanks and colons
  http_url,      ///< a URL of this machine, plain http; its query is not repeated in a message
  command,       ///< a program and its arguments: words, or a list of them in the file
  duration,      ///< "15s"
  percent,       ///< "1%"
  integer,       ///< from `field::least` to `field::most`
  boolean,       ///< true or false; the flag takes no value
  listen,        ///< "127.0.0.1:4040" or "off"
};

enum class group : std::uint8_t {
  store,
  election,
  timing,
  process,
  hooks,
  health,
  http,
  log,
  kubernetes
};

struct configuration;
struct field;

/// Where a `configuration` has the value of a setting.
struct place {
  /// Stores a value of the type of the setting.
  void (*put)(configuration& to, const field& f, const value& from) = nullptr;
  /// What stands after "key:" in a file; empty if there is no value.
  std::string (*shown)(const configuration& s, const field& f) = nullptr;
};

/// One row of the table. All text lives as long as the program.
struct field {
  setting which;
  std::string_view key;               ///< in the file: "kill_budget"
  bool in_file_only = false;          ///< true: neither a flag nor a variable
  std::string_view flag = {};         ///< "--kill-budget"; follows from `key`
  std::string_view environment = {};  ///< "TENURE_KILL_BUDGET"; follows from `key`
  field_type type;
  group section;
  place in;
  std::string_view fallback = {};    ///< the default as written; empty: see `derivation`
  std::string_view derivation = {};  ///< how a default follows from other settings: "ttl / 3"
  std::string_view range = {};       ///< what is accepted, where the type alone does not say
  std::string_view metavar = {};     ///< what a usage line calls the flag's value: "DURATION"
  std::string_view doc;              ///< one line
  std::span<const std::string_view> words = {};  ///< the words of `word` and `signal`
  /// Further words that are refused with a message of their own: other builds may accept them.
  std::span<const std::string_view> refused = {};
  std::int64_t least = 0;  ///< the least value of `integer`
  std::int64_t most = 0;

  /// True if the flag may be given more than once.
  [[nodiscard]] constexpr bool repeatable() const {
    return is_list_of_texts() || type == field_type::election_name;
  }

  /// True if its value is one text or a list of them.
  [[nodiscard]] constexpr bool is_list_of_texts() const {
    return type == field_type::endpoints || type == field_type::host_names ||
           type == field_type::ids;
  }
};

/// The table, in the order of `setting`.
std::span<const field> fields();

/// The row of one setting.
const field& field_of(setting which);

/// Its name in a file.
inline std::string key_of(setting which) {
  return std::string(field_of(which).key);
}

/// "Time budget", the heading of a group.
constexpr std::string_view title(group section) {
  // In the order of the enumeration.
  constexpr std::array<std::string_view, 9> titles{"Store",    "Election", "Time budget",
                                                   "Workload", "Hooks",    "Health",
                                                   "HTTP",     "Log",      "Kubernetes"};
  return titles[static_cast<std::size_t>(section)];
}

/// Names the file; not a setting, because the file cannot name itself.
inline constexpr std::string_view config_flag = "--config";
inline constexpr std::string_view config_environment = "TENURE_CONFIG";

}  // namespace tenure::config
