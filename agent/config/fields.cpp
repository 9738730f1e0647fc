#include "config/fields.hpp"

#include <array>

#include "core/check.hpp"

namespace tenure::config {
namespace {

using words = std::span<const std::string_view>;

constexpr std::array<std::string_view, 6> stores{"sqlite",     "etcd",      "consul",
                                                 "kubernetes", "zookeeper", "tarantool"};
constexpr std::array<std::string_view, 8> signals{"TERM", "INT",  "QUIT",  "HUP",
                                                  "USR1", "USR2", "WINCH", "PWR"};
constexpr std::array<std::string_view, 2> after_loss{"standby", "exit"};
constexpr std::array<std::string_view, 2> formats{"logfmt", "json"};
constexpr std::array<std::string_view, 4> levels{"debug", "info", "warn", "error"};

constexpr std::string_view name_range =
    "1 to 253 letters, digits, `.`, `_`, `-` and `/`; each part between slashes begins with a "
    "letter or digit";
constexpr std::string_view listen_range =
    "`ADDRESS:PORT`, `[IPV6]:PORT`, `localhost:PORT` or `off`; port 0 takes any that is free";

constexpr std::array<field, setting_count> table{{
    {.which = setting::store,
     .key = "store",
     .flag = "--store",
     .environment = "TENURE_STORE",
     .type = field_type::word,
     .section = group::store,
     .fallback = "",
     .derivation = "none, it must be given",
     .range = "",
     .metavar = "KIND",
     .doc = "The kind of store that keeps the leases; one that this build lacks is refused",
     .words = words(stores)},
    {.which = setting::endpoint,
     .key = "endpoint",
     .flag = "--endpoint",
     .environment = "TENURE_ENDPOINT",
     .type = field_type::endpoints,
     .section = group::store,
     .fallback = "",
     .derivation = "none, it must be given, except for `kubernetes`",
     .range = "one or a list of up to 32; for `sqlite` exactly one",
     .metavar = "URL",
     .doc = "Where the store is: a URL, or for `sqlite` the path of a file on a local disk"},
    {.which = setting::election,
     .key = "election",
     .flag = "--election",
     .environment = "TENURE_ELECTION",
     .type = field_type::election_name,
     .section = group::election,
     .fallback = "",
     .derivation = "none, `election` or `elections` must be given",
     .range = name_range,
     .metavar = "NAME",
     .doc = "The election to take part in; members with the same store and name compete"},
    {.which = setting::elections,
     .key = "elections",
     .flag = "",
     .environment = "",
     .type = field_type::elections,
     .section = group::election,
     .fallback = "",
     .derivation = "none, `election` or `elections` must be given",
     .range = "a list of names or of `{name: NAME, slots: N}`, up to 10000",
     .metavar = "",
     .doc = "Several elections, renewed together; instead of `election`"},
    {.which = setting::slots,
     .key = "slots",
     .flag = "--slots",
     .environment = "TENURE_SLOTS",
     .type = field_type::integer,
     .section = group::election,
     .fallback = "1",
     .derivation = "",
     .range = "",
     .metavar = "N",
     .doc = "How many members may be active at a time; must be the same at all members",
     .least = 1,
     .most = 1000},
    {.which = setting::identity,
     .key = "identity",
     .flag = "--identity",
     .environment = "TENURE_IDENTITY",
     .type = field_type::identity,
     .section = group::election,
     .fallback = "",
     .derivation = "the host name; outside of containers with the process id",
     .range = "1 to 253 printable ASCII characters without blanks",
     .metavar = "NAME",
     .doc = "The name that others see as the holder"},
    {.which = setting::observe,
     .key = "observe",
     .flag = "--observe",
     .environment = "TENURE_OBSERVE",
     .type = field_type::boolean,
     .section = group::election,
     .fallback = "false",
     .derivation = "",
     .range = "",
     .metavar = "",
     .doc = "Only watch who holds the lease, never campaign"},
    {.which = setting::ttl,
     .key = "ttl",
     .flag = "--ttl",
     .environment = "TENURE_TTL",
     .type = field_type::duration,
     .section = group::timing,
     .fallback = "15s",
     .derivation = "",
     .range = "1s to 24h",
     .metavar = "DURATION",
     .doc = "How long the store keeps the lease for a holder that is silent"},
    {.which = setting::renew,
     .key = "renew",
     .flag = "--renew",
     .environment = "TENURE_RENEW",
     .type = field_type::duration,
     .section = group::timing,
     .fallback = "",
     .derivation = "ttl / 3",
     .range = "50ms to ttl",
     .metavar = "DURATION",
     .doc = "How often a holder renews its lease"},
    {.which = setting::grace,
     .key = "grace",
     .flag = "--grace",
     .environment = "TENURE_GRACE",
     .type = field_type::duration,
     .section = group::timing,
     .fallback = "",
     .derivation = "min(2s, ttl / 7)",
     .range = "0s to ttl",
     .metavar = "DURATION",
     .doc = "From the stop signal to SIGKILL when the lease cannot be renewed"},
    {.which = setting::kill_budget,
     .key = "kill_budget",
     .flag = "--kill-budget",
     .environment = "TENURE_KILL_BUDGET",
     .type = field_type::duration,
     .section = group::timing,
     .fallback = "",
     .derivation = "min(500ms, ttl / 20)",
     .range = "1ms to ttl",
     .metavar = "DURATION",
     .doc = "How long the kernel may take to end the workload after SIGKILL"},
    {.which = setting::lock_delay,
     .key = "lock_delay",
     .flag = "--lock-delay",
     .environment = "TENURE_LOCK_DELAY",
     .type = field_type::duration,
     .section = group::timing,
     .fallback = "",
     .derivation = "kill_budget",
     .range = "0s to ttl",
     .metavar = "DURATION",
     .doc = "How long a new holder waits if the one before did not release cleanly"},
    {.which = setting::drift,
     .key = "drift",
     .flag = "--drift",
     .environment = "TENURE_DRIFT",
     .type = field_type::percent,
     .section = group::timing,
     .fallback = "1%",
     .derivation = "",
     .range = "0% to 20%",
     .metavar = "PERCENT",
     .doc = "How far the rates of two clocks may be apart"},
    {.which = setting::drain,
     .key = "drain",
     .flag = "--drain",
     .environment = "TENURE_DRAIN",
     .type = field_type::duration,
     .section = group::process,
     .fallback = "20s",
     .derivation = "",
     .range = "0s to 24h",
     .metavar = "DURATION",
     .doc = "Time for the workload to end when the lease is given up on purpose, while renewing"},
    {.which = setting::stop_signal,
     .key = "stop_signal",
     .flag = "--stop-signal",
     .environment = "TENURE_STOP_SIGNAL",
     .type = field_type::signal,
     .section = group::process,
     .fallback = "TERM",
     .derivation = "",
     .range = "",
     .metavar = "SIGNAL",
     .doc = "What asks the workload to end; SIGKILL follows when its time is over",
     .words = words(signals)},
    {.which = setting::on_lost,
     .key = "on_lost",
     .flag = "--on-lost",
     .environment = "TENURE_ON_LOST",
     .type = field_type::word,
     .section = group::process,
     .fallback = "standby",
     .derivation = "",
     .range = "",
     .metavar = "ACTION",
     .doc = "After a lost lease: campaign again as a standby, or end the agent",
     .words = words(after_loss)},
    {.which = setting::listen,
     .key = "listen",
     .flag = "--listen",
     .environment = "TENURE_LISTEN",
     .type = field_type::listen,
     .section = group::http,
     .fallback = "127.0.0.1:4040",
     .derivation = "",
     .range = listen_range,
     .metavar = "ADDRESS",
     .doc = "Where the API is served; an address that is not loopback is accepted with a warning"},
    {.which = setting::probe_listen,
     .key = "probe_listen",
     .flag = "--probe-listen",
     .environment = "TENURE_PROBE_LISTEN",
     .type = field_type::listen,
     .section = group::http,
     .fallback = "0.0.0.0:8081",
     .derivation = "",
     .range = listen_range,
     .metavar = "ADDRESS",
     .doc = "Where probes and metrics are served"},
    {.which = setting::log_format,
     .key = "log_format",
     .flag = "--log-format",
     .environment = "TENURE_LOG_FORMAT",
     .type = field_type::word,
     .section = group::log,
     .fallback = "logfmt",
     .derivation = "",
     .range = "",
     .metavar = "FORMAT",
     .doc = "How a line of the log is written",
     .words = words(formats)},
    {.which = setting::log_level,
     .key = "log_level",
     .flag = "--log-level",
     .environment = "TENURE_LOG_LEVEL",
     .type = field_type::word,
     .section = group::log,
     .fallback = "info",
     .derivation = "",
     .range = "",
     .metavar = "LEVEL",
     .doc = "The least important line that is still logged",
     .words = words(levels)},
}};

}  // namespace

std::span<const field> fields() {
  return table;
}

const field& field_of(setting which) {
  const auto place = static_cast<std::size_t>(which);
  TENURE_CHECK(place < table.size() && table[place].which == which);
  return table[place];
}

std::string_view title(group section) {
  switch (section) {
    case group::store:
      return "Store";
    case group::election:
      return "Election";
    case group::timing:
      return "Time budget";
    case group::process:
      return "Workload";
    case group::http:
      return "HTTP";
    case group::log:
      return "Log";
  }
  return {};
}

}  // namespace tenure::config
