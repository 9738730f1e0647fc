#include "runtime/api_listeners.hpp"

#include <unistd.h>

#include <map>

#include "api/token.hpp"
#include "base/boot_time.hpp"
#include "base/file_limit.hpp"
#include "base/number_text.hpp"
#include "base/random.hpp"
#include "base/runtime_directory.hpp"
#include "base/trusted_open.hpp"
#include "base/wall_time.hpp"
#include "http/server/unix_socket.hpp"
#include "runtime/lines.hpp"

namespace tenure::runtime {
namespace {

/// What is open besides the listeners and their clients: the store, the guard, hooks, files.
constexpr std::size_t other_descriptors = 128;

}  // namespace

std::expected<void, std::string> api_listeners::open(served_agent what) {
  told_api_port_ = what.told_api_port;
  const settings::agent& s = settings_;
  api::service_settings with;
  with.api = s.listen.at;
  if (with.api && may_keep_port()) with.api->port = told_api_port_;
  with.probe = s.probe_listen.at;
  with.hosts = s.allowed_hosts;
  with.control.token_file = s.control_token_file;
  with.socket = s.socket;
  with.local_socket = local_socket();
  base::raise_file_limit(with.descriptors() + other_descriptors);
  with.metrics = std::move(what.metrics);
  with.api_traffic = what.api_traffic;
  with.probe_traffic = what.probe_traffic;
  const api::clocks time{.boot = base::boot_now, .unix_ms = base::wall_now_ms};

  auto started = api::service::start(what.published, with, time, what.fresh, what.control);
  std::map<api::listener, std::string> taken;
  while (!started && give_way(started.error(), with)) {
    if (started.error().kind == http::listen_failure::in_use) {
      taken.insert_or_assign(started.error().which, started.error().text);
    }
    started = api::service::start(what.published, with, time, what.fresh, what.control);
  }
  if (!started) return std::unexpected(started.error().text);
  service_ = std::move(*started);
  const auto shown = [](const std::optional<settings::listen_address>& a) {
    return a ? settings::text(*a) : std::string("off");
  };
  for (const auto& [which, why] : taken) {
    if (which == api::listener::api && with.api->port == 0) {
      say_port_taken(log_, "--listen", shown(s.listen.at), shown(service_->api_address()), why);
    } else if (which == api::listener::probe && with.probe->port == 0) {
      say_port_taken(log_, "--probe-listen", shown(s.probe_listen.at),
                     shown(service_->probe_address()), why);
    }
  }
  const auto shown_path = [](const std::string& path) { return path.empty() ? "off" : path; };
  say_listening(log_,
                {.api = shown(service_->api_address()),
                 .probe = shown(service_->probe_address()),
                 .socket = shown_path(s.socket),
                 .local = shown_path(with.local_socket)},
                s.identity, static_cast<std::uint64_t>(::getpid()),
                what.owns_a_process ? static_cast<std::uint64_t>(::getppid()) : 0);
  if (s.probe_listen.at && !settings::is_loopback(s.probe_listen.at->host)) {
    say_probe_is_open(log_, shown(service_->probe_address()));
  }
  if (!s.control_token_file.empty()) {
    const auto token = api::read_token(s.control_token_file);
    if (!token) say_token_unreadable(log_, token.error());
  }
  if (what.workload_found) say_if_moved();
  return {};
}

/// A port that somebody has chosen is that one.
bool api_listeners::may_keep_port() const {
  const settings::listener& given = settings_.listen;
  return told_api_port_ != 0 && given.at && (!given.is_chosen || given.at->port == 0);
}

void api_listeners::say_if_moved() const {
  const std::optional<settings::listen_address>& api = service_->api_address();
  if (told_api_port_ == 0 || (api && api->port == told_api_port_)) return;
  say_api_moved(log_, told_api_port_, api ? settings::text(*api) : std::string("off"));
}

/// Several agents on one host must be easy to try, so a port that nobody has asked for gives way,
/// and so does the one of the agent before, which somebody else may have taken meanwhile. Without
/// its local socket an agent is only harder to find. False if it cannot be done without.
bool api_listeners::give_way(const api::service_error& why, api::service_settings& with) const {
  if (why.which == api::listener::local_socket) {
    say_hard_to_find(log_, log::log_level::warn, why.text);
    with.local_socket.clear();
    return true;
  }
  const settings::agent& s = settings_;
  const bool is_api = why.which == api::listener::api;
  if (is_api && may_keep_port() && with.api->port == told_api_port_ &&
      told_api_port_ != s.listen.at->port) {
    with.api->port = s.listen.at->port;
    return true;
  }
  const bool given =
      why.which == api::listener::socket || (is_api ? s.listen : s.probe_listen).is_chosen;
  if (given || why.kind != http::listen_failure::in_use) return false;
  settings::listen_address& where = is_api ? *with.api : *with.probe;
  if (where.port == 0) return false;
  where.port = 0;
  return true;
}

/// By which commands find this agent; empty if they are not to, or cannot.
std::string api_listeners::local_socket() const {
  const std::string& given = settings_.runtime_dir;
  const std::string directory = base::runtime_directory(given);
  if (directory.empty()) return {};
  const auto named = given.empty() ? base::named_directory::no : base::named_directory::yes;
  if (const auto ours = base::make_own_directory(directory, named); !ours) {
    say_hard_to_find(log_, given.empty() ? log::log_level::info : log::log_level::warn,
                     ours.error().text);
    return {};
  }
  http::remove_abandoned_sockets(directory);
  // Containers may share the directory, and have the same process ids.
  const std::string name = directory + "/" + std::to_string(::getpid());
  const std::string usual = name + ".sock";
  return http::is_served(usual) ? name + "-" + base::hex(base::random_bits()) + ".sock" : usual;
}

}  // namespace tenure::runtime
