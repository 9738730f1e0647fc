#include <algorithm>
#include <cstddef>

#include "config/raw_settings.hpp"

namespace tenure::config {
namespace {

/// The place of a word in its setting's list, whose order is that of the enumeration.
std::size_t place_of(const value& word, setting which) {
  const auto words = field_of(which).words;
  const auto found = std::ranges::find(words, std::get<std::string>(word));
  return static_cast<std::size_t>(found - words.begin());
}

}  // namespace

void apply_value(setting which, const value& v, settings& out) {
  switch (which) {
    case setting::store:
      out.store = std::get<std::string>(v);
      break;
    case setting::endpoint:
      out.endpoints = std::get<std::vector<std::string>>(v);
      break;
    case setting::ca_file:
      out.secure.ca_file = std::get<std::string>(v);
      break;
    case setting::certificate_file:
      out.secure.certificate_file = std::get<std::string>(v);
      break;
    case setting::key_file:
      out.secure.key_file = std::get<std::string>(v);
      break;
    case setting::server_name:
      out.secure.server_name = std::get<std::string>(v);
      break;
    case setting::user:
      out.secure.user = std::get<std::string>(v);
      break;
    case setting::password_file:
      out.secure.password_file = std::get<std::string>(v);
      break;
    case setting::election:
    case setting::elections:
      break;  // which of the two counts is not known before all are in
    case setting::slots:
      out.slots = std::get<std::uint32_t>(v);
      break;
    case setting::identity:
      out.identity = std::get<std::string>(v);
      break;
    case setting::observe:
      out.observe = std::get<bool>(v);
      break;
    case setting::unlisted:
      out.unlisted = std::get<bool>(v);
      break;
    case setting::ttl:
      out.asked.ttl = std::get<core::duration>(v);
      break;
    case setting::renew:
      out.asked.renew = std::get<core::duration>(v);
      break;
    case setting::grace:
      out.asked.grace = std::get<core::duration>(v);
      break;
    case setting::kill_budget:
      out.asked.kill_budget = std::get<core::duration>(v);
      break;
    case setting::lock_delay:
      out.asked.lock_delay = std::get<core::duration>(v);
      break;
    case setting::drift:
      out.asked.drift_ppm = std::get<std::uint32_t>(v);
      break;
    case setting::drain:
      out.asked.drain = std::get<core::duration>(v);
      break;
    case setting::stop_signal:
      out.stop_signal = signal_number(std::get<std::string>(v));
      break;
    case setting::guard_dir:
      out.guard_dir = std::get<std::string>(v);
      break;
    case setting::guard_uid:
      out.guard_uid = std::get<std::uint32_t>(v);
      break;
    case setting::gain_http:
      out.hooks.gain_http = std::get<std::string>(v);
      break;
    case setting::gain_command:
      out.hooks.gain_command = std::get<std::vector<std::string>>(v);
      break;
    case setting::gain_file:
      out.hooks.gain_file = std::get<std::string>(v);
      break;
    case setting::stop_http:
      out.hooks.stop_http = std::get<std::string>(v);
      break;
    case setting::stop_command:
      out.hooks.stop_command = std::get<std::vector<std::string>>(v);
      break;
    case setting::stop_exit_code:
      out.hooks.stop_exit_code = std::get<std::uint32_t>(v);
      break;
    case setting::on_lost:
      out.on_lost =
          std::get<std::string>(v) == "exit" ? core::after_loss::exit : core::after_loss::standby;
      break;
    case setting::health_http:
      out.health.http = std::get<std::string>(v);
      break;
    case setting::health_command:
      out.health.command = std::get<std::vector<std::string>>(v);
      break;
    case setting::health_file:
      out.health.file = std::get<std::string>(v);
      break;
    case setting::health_file_age:
      out.health.file_age = std::get<core::duration>(v);
      break;
    case setting::health_while:
      out.health.when =
          std::get<std::string>(v) == "always" ? health_time::always : health_time::active;
      break;
    case setting::health_interval:
      out.health.interval = std::get<core::duration>(v);
      break;
    case setting::health_timeout:
      out.health.timeout = std::get<core::duration>(v);
      break;
    case setting::health_failures:
      out.health.failures = std::get<std::uint32_t>(v);
      break;
    case setting::health_successes:
      out.health.successes = std::get<std::uint32_t>(v);
      break;
    case setting::health_delay:
      out.health.delay = std::get<core::duration>(v);
      break;
    case setting::target_executable:
      out.target.executable = std::get<std::string>(v);
      break;
    case setting::target_command_line:
      out.target.command_line = std::get<std::string>(v);
      break;
    case setting::target_pid_file:
      out.target.pid_file = std::get<std::string>(v);
      break;
    case setting::target_uid:
      out.target.uid = std::get<std::uint32_t>(v);
      break;
    case setting::while_standby:
      out.target.while_standby =
          std::get<std::string>(v) == "run" ? on_standby::run : on_standby::stop;
      break;
    case setting::on_gain:
      out.target.on_gain =
          std::get<std::string>(v) == "signal" ? on_gain::signal : on_gain::nothing;
      break;
    case setting::gain_signal:
      out.target.gain_signal = signal_number(std::get<std::string>(v));
      break;
    case setting::listen:
      out.listen = std::get<listen_address>(v);
      break;
    case setting::socket:
      out.socket = std::get<std::string>(v);
      break;
    case setting::runtime_dir:
      out.runtime_dir = std::get<std::string>(v);
      break;
    case setting::probe_listen:
      out.probe_listen = std::get<listen_address>(v);
      break;
    case setting::allowed_host:
      out.allowed_hosts = std::get<std::vector<std::string>>(v);
      break;
    case setting::control_token_file:
      out.control_token_file = std::get<std::string>(v);
      break;
    case setting::log_format:
      out.log_format = static_cast<log_format>(place_of(v, which));
      break;
    case setting::log_level:
      out.log_level = static_cast<log_level>(place_of(v, which));
      break;
  }
}

}  // namespace tenure::config
