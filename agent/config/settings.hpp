#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "config/fields.hpp"
#include "config/problem.hpp"
#include "core/election.hpp"
#include "core/timing.hpp"

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

enum class log_format : std::uint8_t { logfmt, json };
enum class log_level : std::uint8_t { debug, info, warn, error };

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

/// A configuration that was checked as a whole. Made by `load` only.
struct settings {
  std::string store;
  std::vector<std::string> endpoints;  ///< as given; a path for SQLite
  security secure;
  std::vector<election> elections;  ///< at least one, names unique
  std::uint32_t slots = 1;          ///< of elections that do not say otherwise
  std::string identity;
  bool observe = false;

  core::timing_request asked;  ///< what the user gave, for `tenure explain`
  core::timing timing{};       ///< what follows from it

  int stop_signal = 0;  ///< a signal number
  core::after_loss on_lost = core::after_loss::standby;
  std::string guard_dir{};  ///< empty: there is no guard in another container

  listen_address listen;
  listen_address probe_listen;

  config::log_format log_format = config::log_format::logfmt;
  config::log_level log_level = config::log_level::info;

  std::array<origin, setting_count> origins{};  ///< use `origin_of`
  std::vector<problem> warnings;                ///< works, but should be said in the log

  [[nodiscard]] const origin& origin_of(setting which) const {
    return origins[static_cast<std::size_t>(which)];
  }
};

/// "TERM" for 15. Precondition: `number` came from `settings::stop_signal`.
std::string_view signal_name(int number);

/// Every setting with its value, and its source as a comment. It is itself a configuration file
/// that loads to the same settings (durations to the microsecond).
std::string effective(const settings& s);

}  // namespace tenure::config
