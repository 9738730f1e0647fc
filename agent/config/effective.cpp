#include <algorithm>
#include <array>
#include <cstdio>

#include "config/settings.hpp"
#include "config/yaml.hpp"

namespace tenure::config {
namespace {

/// A string as YAML reads it back: plain where that is safe, else in quotes with escapes.
std::string scalar(std::string_view content) {
  constexpr std::string_view safe =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._/:-+";
  const bool plain = kind_of_plain(content) == yaml_kind::text &&
                     content.find_first_not_of(safe) == std::string_view::npos &&
                     !content.starts_with('-') && !content.starts_with(':') &&
                     !content.ends_with(':');
  if (plain) return std::string(content);
  std::string out = "\"";
  for (const char c : content) {
    if (c == '"' || c == '\\') out += '\\';
    out += c;
  }
  return out + '"';
}

/// A string that has no default; empty if there is none.
std::string given(std::string_view content) {
  return content.empty() ? "" : scalar(content);
}

/// A query may hold a secret. What stands for it is refused when the text is loaded again.
std::string url(const std::string& content) {
  const std::size_t query = content.find('?');
  return given(query == content.npos ? content : content.substr(0, query) + "?(query not shown)");
}

std::string percent(std::uint32_t parts_per_million) {
  std::array<char, 32> out{};
  std::snprintf(out.data(), out.size(), "%u.%04u", parts_per_million / 10'000,
                parts_per_million % 10'000);
  std::string text = out.data();
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text + "%";
}

bool is_listed(const settings& s) {
  return s.elections.size() != 1 || s.origin_of(setting::elections).from != source::fallback;
}

std::string list_of(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& item : items) out += "\n  - " + scalar(item);
  return out;
}

std::string list_of(const std::vector<election>& items) {
  std::string out;
  for (const election& e : items) {
    out += "\n  - {name: " + scalar(e.name) + ", slots: " + std::to_string(e.slots) + "}";
  }
  return out;
}

/// What stands after "key:"; empty if the setting has no value here.
std::string value_text(const settings& s, const field& f) {
  switch (f.which) {
    case setting::store:
      return scalar(s.store);
    case setting::endpoint:
      if (s.endpoints.empty()) return {};
      return s.endpoints.size() == 1 ? scalar(s.endpoints.front()) : list_of(s.endpoints);
    case setting::ca_file:
      return given(s.secure.ca_file);
    case setting::certificate_file:
      return given(s.secure.certificate_file);
    case setting::key_file:
      return given(s.secure.key_file);
    case setting::server_name:
      return given(s.secure.server_name);
    case setting::user:
      return given(s.secure.user);
    case setting::password_file:
      return given(s.secure.password_file);
    case setting::election:
      return is_listed(s) ? "" : scalar(s.elections.front().name);
    case setting::elections:
      return is_listed(s) ? list_of(s.elections) : "";
    case setting::slots:
      return std::to_string(s.slots);
    case setting::identity:
      return scalar(s.identity);
    case setting::observe:
      return s.observe ? "true" : "false";
    case setting::unlisted:
      return s.unlisted ? "true" : "false";
    case setting::ttl:
      return core::text(s.timing.ttl);
    case setting::renew:
      return core::text(s.timing.renew);
    case setting::grace:
      return core::text(s.timing.grace);
    case setting::kill_budget:
      return core::text(s.timing.kill_budget);
    case setting::lock_delay:
      return core::text(s.timing.lock_delay);
    case setting::drift:
      return percent(s.timing.drift_ppm);
    case setting::drain:
      return core::text(s.timing.drain);
    case setting::stop_signal:
      return std::string(signal_name(s.stop_signal));
    case setting::on_lost:
      return s.on_lost == core::after_loss::exit ? "exit" : "standby";
    case setting::guard_dir:
      return given(s.guard_dir);
    case setting::guard_uid:
      return s.guard_uid ? std::to_string(*s.guard_uid) : "";
    case setting::gain_http:
      return url(s.hooks.gain_http);
    case setting::gain_command:
      return list_of(s.hooks.gain_command);
    case setting::gain_file:
      return given(s.hooks.gain_file);
    case setting::stop_http:
      return url(s.hooks.stop_http);
    case setting::stop_command:
      return list_of(s.hooks.stop_command);
    case setting::stop_exit_code:
      return s.hooks.stop_exit_code ? std::to_string(*s.hooks.stop_exit_code) : "";
    case setting::health_http:
      return url(s.health.http);
    case setting::health_command:
      return list_of(s.health.command);
    case setting::health_file:
      return given(s.health.file);
    case setting::health_file_age:
      return s.health.file_age ? core::text(*s.health.file_age) : "";
    case setting::health_while:
      if (!s.health.when) return {};
      return *s.health.when == health_time::always ? "always" : "active";
    case setting::health_interval:
      return core::text(s.health.interval);
    case setting::health_timeout:
      return core::text(s.health.timeout);
    case setting::health_failures:
      return std::to_string(s.health.failures);
    case setting::health_successes:
      return std::to_string(s.health.successes);
    case setting::health_delay:
      return core::text(s.health.delay);
    case setting::target_executable:
      return given(s.target.executable);
    case setting::target_command_line:
      return given(s.target.command_line);
    case setting::target_pid_file:
      return given(s.target.pid_file);
    case setting::target_uid:
      return s.target.uid ? std::to_string(*s.target.uid) : "";
    case setting::while_standby:
      if (!s.target.given()) return {};
      return s.target.while_standby == on_standby::run ? "run" : "stop";
    case setting::on_gain:
      if (!s.target.given()) return {};
      return s.target.on_gain == on_gain::signal ? "signal" : "nothing";
    case setting::gain_signal:
      return s.target.gain_signal == 0 ? "" : std::string(signal_name(s.target.gain_signal));
    case setting::listen:
      return scalar(text(s.listen));
    case setting::socket:
      return given(s.socket);
    case setting::runtime_dir:
      return given(s.runtime_dir);
    case setting::probe_listen:
      return scalar(text(s.probe_listen));
    case setting::allowed_host:
      return list_of(s.allowed_hosts);
    case setting::control_token_file:
      return given(s.control_token_file);
    case setting::log_format:
      return std::string(f.words[static_cast<std::size_t>(s.log_format)]);
    case setting::log_level:
      return std::string(f.words[static_cast<std::size_t>(s.log_level)]);
  }
  return {};
}

std::string origin_text(const settings& s, const field& f) {
  const origin& from = s.origin_of(f.which);
  if (from.from != source::fallback) return from.where;
  return f.fallback.empty() ? "default: " + std::string(f.derivation) : "default";
}

}  // namespace

std::string effective(const settings& s) {
  constexpr std::size_t comment_column = 36;
  std::string out;
  for (const field& f : fields()) {
    // Numbers of checks that nobody makes would only confuse, and would be refused when loaded.
    if (f.section == group::health && !s.health.is_checked()) continue;
    const std::string value = value_text(s, f);
    if (value.empty()) continue;
    // The comment stands on the line of the key, also where a list follows below it.
    const std::size_t break_at = std::min(value.find('\n'), value.size());
    std::string line = std::string(f.key) + ":";
    if (break_at > 0) line += " " + value.substr(0, break_at);
    line.resize(std::max(line.size() + 2, comment_column), ' ');
    const bool names_by_flag =
        f.which == setting::elections && s.origin_of(setting::election).from != source::fallback;
    const field& given = names_by_flag ? field_of(setting::election) : f;
    out += line + "# " + origin_text(s, given) + value.substr(break_at) + "\n";
  }
  return out;
}

}  // namespace tenure::config
