#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/election.hpp"
#include "core/timing.hpp"
#include "log/log_line.hpp"

namespace tenure::config {

struct election {
  std::string name;
  std::uint32_t slots = 1;

  friend bool operator==(const election&, const election&) = default;
};

/// Where a listener binds.
struct listen_address {
  bool enabled = false;    ///< false: "off"; the rest is then empty
  std::string host;        ///< an IP address, without brackets
  std::uint16_t port = 0;  ///< 0: any that is free
  bool explicit_ = false;  ///< set by the user, not by default

  friend bool operator==(const listen_address&, const listen_address&) = default;
};

/// "127.0.0.1:4040", "[::1]:4040" or "off".
std::string text(const listen_address& a);

/// `automatic`: text at a terminal, else logfmt.
enum class log_format : std::uint8_t { automatic, text, logfmt, json };
using log::log_level;

enum class source : std::uint8_t { fallback, file, environment, flag };

/// Where the value of a setting came from.
struct origin {
  source from = source::fallback;
  std::string where;  ///< "tenure.yaml:3:1", "TENURE_TTL", "--ttl"; empty for a default

  friend bool operator==(const origin&, const origin&) = default;
};

/// How the store is reached and signed in to; what is empty was not given. No secret is in here.
struct security {
  std::string ca_file{};
  std::string certificate_file{};  ///< given if and only if `key_file` is
  std::string key_file{};
  std::string server_name{};
  std::string user{};  ///< given if and only if `password_file` is
  std::string password_file{};

  friend bool operator==(const security&, const security&) = default;
};

/// When the workload's health is checked.
enum class health_time : std::uint8_t { active, always };

/// How the workload's health is checked. Of several kinds each has to find it well.
struct health {
  std::string http{};                  ///< a URL; empty: nothing is asked
  std::vector<std::string> command{};  ///< argv; empty: nothing is run
  std::string file{};                  ///< empty: nothing is looked for
  std::optional<core::duration> file_age{};
  std::optional<health_time> when{};  ///< nothing: as suits what runs the workload
  core::duration interval{};
  core::duration timeout{};  ///< no longer than `interval`
  std::uint32_t failures = 1;
  std::uint32_t successes = 1;
  core::duration delay{};

  /// True if anything is checked.
  [[nodiscard]] bool is_checked() const {
    return !http.empty() || !command.empty() || !file.empty();
  }
  /// How long a workload that fails goes unnoticed at most, once it has run for `delay`.
  [[nodiscard]] core::duration noticed_within() const { return failures * interval + timeout; }

  friend bool operator==(const health&, const health&) = default;
};

enum class on_standby : std::uint8_t { stop, run };
enum class on_gain : std::uint8_t { nothing, signal };

/// A workload that somebody else starts, e.g. the kubelet in the container beside ours, and how
/// it is found: by one of the first three, or there is none.
struct target {
  std::string executable{};
  std::string command_line{};
  std::string pid_file{};
  std::optional<std::uint32_t> uid{};  ///< whose processes may be meant, beside ours and root's
  config::on_standby while_standby = config::on_standby::stop;
  config::on_gain on_gain = config::on_gain::nothing;
  int gain_signal = 0;  ///< a signal number, given if and only if `on_gain` is signal

  [[nodiscard]] bool given() const {
    return !executable.empty() || !command_line.empty() || !pid_file.empty();
  }
  friend bool operator==(const target&, const target&) = default;
};

/// How a workload that the agent does not run itself is told; what is empty was not given.
struct hooks {
  std::string gain_http{};
  std::vector<std::string> gain_command{};
  std::string gain_file{};
  std::string stop_http{};
  std::vector<std::string> stop_command{};
  std::optional<std::uint32_t> stop_exit_code{};

  /// True if the workload is told when it may be active.
  [[nodiscard]] bool gain() const {
    return !gain_http.empty() || !gain_command.empty() || !gain_file.empty();
  }
  /// True if something stops it.
  [[nodiscard]] bool stop() const {
    return !stop_http.empty() || !stop_command.empty() || stop_exit_code;
  }
  [[nodiscard]] bool any() const { return gain() || stop(); }

  friend bool operator==(const hooks&, const hooks&) = default;
};

/// A configuration that was checked as a whole. Made by `load` only.
struct settings {
  std::string store;
  std::vector<std::string> endpoints;  ///< as given; a path for SQLite
  security secure;
  std::vector<election> elections;  ///< at least one, names unique
  std::uint32_t slots = 1;          ///< of elections that do not say otherwise
  std::string identity;
  bool observe = false;
  bool unlisted = false;

  core::timing_request asked;  ///< what the user gave, for `tenure explain`
  core::timing timing{};       ///< what follows from it

  int stop_signal = 0;  ///< a signal number
  core::after_loss on_lost = core::after_loss::standby;
  std::string guard_dir{};                   ///< empty: there is no guard in another container
  std::optional<std::uint32_t> guard_uid{};  ///< who may be the guard there, beside us and root

  config::hooks hooks;
  config::health health;

  config::target target;  ///< of `tenure agent`

  listen_address listen;
  std::string socket{};       ///< the path of a Unix socket; empty: none
  std::string runtime_dir{};  ///< empty: the user's default; "off": none
  listen_address probe_listen;
  std::vector<std::string> allowed_hosts{};  ///< further Host headers that are answered
  std::string control_token_file{};          ///< empty: nobody may give orders over TCP

  config::log_format log_format = config::log_format::automatic;
  config::log_level log_level = config::log_level::info;

  std::array<origin, setting_count> origins{};  ///< use `origin_of`
  std::vector<problem> warnings;                ///< works, but should be said in the log

  [[nodiscard]] const origin& origin_of(setting which) const {
    return origins[static_cast<std::size_t>(which)];
  }
};

/// "TERM" for 15. Precondition: `number` is that of a signal in the table.
std::string_view signal_name(int number);

/// Every setting with its value, and its source as a comment. It is itself a configuration file
/// that loads to the same settings (durations to the microsecond); if a URL has a query, which is
/// not shown, it is refused.
std::string effective(const settings& s);

}  // namespace tenure::config
