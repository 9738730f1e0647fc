#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/election.hpp"
#include "core/succession.hpp"
#include "core/timing.hpp"
#include "log/log_line.hpp"
#include "settings/consul.hpp"
#include "settings/election.hpp"
#include "settings/health.hpp"
#include "settings/hooks.hpp"
#include "settings/kubernetes.hpp"
#include "settings/listen_address.hpp"
#include "settings/security.hpp"
#include "settings/target.hpp"

/// What an agent is set up with: values, without how they were written down or where. `config`
/// makes them of a file, variables and flags.
namespace tenure::settings {

/// What a listener binds.
struct listener {
  std::optional<listen_address> at{};  ///< none: "off"
  bool is_chosen = false;              ///< by the user, not by default

  friend bool operator==(const listener&, const listener&) = default;
};

/// "127.0.0.1:4040", "[::1]:4040" or "off".
inline std::string text(const listener& one) {
  return one.at ? text(*one.at) : "off";
}

/// `automatic`: text at a terminal, else logfmt.
enum class log_format : std::uint8_t { automatic, text, logfmt, json };

/// All of it. The settings of one agent agree with each other; see config::load.
struct agent {
  std::string store;
  std::vector<std::string> endpoints;  ///< as given; a path for SQLite
  security secure;
  std::string kubeconfig{};    ///< the path of the file that the above came from; empty: none
  std::string kube_context{};  ///< which context of it
  std::string name_space;      ///< where the leases are, if the store has namespaces
  settings::consul consul;
  std::vector<election> elections;  ///< at least one, names unique
  std::uint32_t slots = 1;          ///< how many an election has that does not say otherwise
  std::string identity;
  bool observe = false;
  bool unlisted = false;
  core::succession_settings succeeds;  ///< for all elections; without the time of the start

  core::timing_request asked;  ///< what the user gave, for `tenure explain`
  core::timing timing{};       ///< what follows from it

  int stop_signal = 0;  ///< a signal number
  core::after_loss on_lost = core::after_loss::standby;
  std::string guard_dir{};                   ///< empty: there is no guard in another container
  std::optional<std::uint32_t> guard_uid{};  ///< its user, if neither ours nor root

  settings::hooks hooks;
  settings::health health;
  settings::target target;  ///< for `tenure agent` only
  settings::kubernetes kubernetes;

  listener listen;
  std::string socket{};       ///< the path of a Unix socket; empty: none
  std::string runtime_dir{};  ///< empty: the user's default; "off": none
  listener probe_listen;
  listener peer_listen{};                    ///< off: it tells no word, and is told none
  std::vector<std::string> allowed_hosts{};  ///< further Host headers that are answered
  std::string control_token_file{};          ///< empty: no orders over TCP

  settings::log_format log_format = settings::log_format::automatic;
  log::log_level log_level = log::log_level::info;
};

}  // namespace tenure::settings
