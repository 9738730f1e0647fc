#include "config/values.hpp"

#include <algorithm>
#include <array>
#include <csignal>

#include "config/configuration.hpp"
#include "config/suggest.hpp"
#include "core/check.hpp"
#include "settings/endpoint.hpp"

namespace tenure::config {
namespace {

parsed<std::string> parse_word(std::string_view text, std::span<const std::string_view> words) {
  if (std::ranges::find(words, text) != words.end()) return std::string(text);
  std::string suggestion = did_you_mean(text, words);
  if (suggestion.empty()) suggestion = "give " + choices(words);
  return wrong("is " + quote(text) + ", which is unknown", std::move(suggestion));
}

parsed<std::string> parse_signal(const field& f, std::string_view text) {
  const bool stops = f.which == setting::stop_signal;
  std::string_view name = text;
  if (name.starts_with("SIG")) name.remove_prefix(3);
  if (name == "KILL" || name == "STOP") {
    if (!stops)
      return wrong("is " + quote(text) + ", which no process can handle",
                   "give " + choices(f.words));
    return wrong("is " + quote(text) + ", which a process cannot answer by ending in order",
                 "give " + choices(f.words) + "; SIGKILL follows by itself");
  }
  parsed<std::string> result = parse_word(name, f.words);
  if (!result) {
    result.error().what = "is " + quote(text) + ", which cannot be used as " +
                          (stops ? "a stop signal" : "the signal for an active workload");
  }
  return result;
}

parsed<std::string> parse_endpoint(std::string_view text) {
  if (text.empty()) return wrong("is empty", "give a URL, or a path for sqlite");
  if (text.size() > max_endpoint_bytes) {
    return wrong("is " + std::to_string(text.size()) + " bytes long",
                 "give no more than " + std::to_string(max_endpoint_bytes));
  }
  if (std::ranges::any_of(text, is_control)) {
    return wrong("is " + settings::quote_endpoint(text) + ", which has a control character in it",
                 "take it out");
  }
  return std::string(text);
}

parsed<std::string> parse_identity(std::string_view text) {
  if (text.empty()) return wrong("is empty", "give a name, or leave it out for the host name");
  if (text.size() > max_name_bytes) {
    return wrong("is " + std::to_string(text.size()) + " bytes long",
                 "give no more than " + std::to_string(max_name_bytes));
  }
  if (!std::ranges::all_of(text, is_visible)) {
    return wrong("is " + quote(text) + ", which has a blank or a character outside ASCII in it",
                 "use letters, digits and signs");
  }
  return std::string(text);
}

parsed<bool> parse_boolean(std::string_view text) {
  if (text == "true" || text == "false") return text == "true";
  constexpr std::array<std::string_view, 6> yes{"yes", "on", "1", "y", "True", "TRUE"};
  constexpr std::array<std::string_view, 6> no{"no", "off", "0", "n", "False", "FALSE"};
  std::string suggestion = "write true or false";
  if (std::ranges::find(yes, text) != yes.end()) suggestion = "write true";
  if (std::ranges::find(no, text) != no.end()) suggestion = "write false";
  return wrong("is " + quote(text) + ", which is neither true nor false", std::move(suggestion));
}

constexpr const char* path_hint = "give the path of a file";

struct named_signal {
  std::string_view name;
  int number;
};
constexpr std::array<named_signal, 9> signal_numbers{{{"TERM", SIGTERM},
                                                      {"CONT", SIGCONT},
                                                      {"INT", SIGINT},
                                                      {"QUIT", SIGQUIT},
                                                      {"HUP", SIGHUP},
                                                      {"USR1", SIGUSR1},
                                                      {"USR2", SIGUSR2},
                                                      {"WINCH", SIGWINCH},
                                                      {"PWR", SIGPWR}}};

bool is_host_name(std::string_view text) {
  return !text.empty() && text.size() <= max_name_bytes &&
         std::ranges::all_of(text, is_host_character);
}

}  // namespace

parsed<value> parse_value(const field& f, std::string_view text) {
  switch (f.type) {
    case field_type::word:
      if (std::ranges::find(f.refused, text) != f.refused.end()) return std::string(text);
      return parse_word(text, f.words);
    case field_type::signal:
      return parse_signal(f, text);
    case field_type::endpoints:
      return parse_endpoint(text);
    case field_type::election_name:
    case field_type::elections:
      return parse_election_name(text);
    case field_type::identity:
    case field_type::ids:
      return parse_identity(text);
    case field_type::path:
      return parse_path(text);
    case field_type::program:
      return parse_program(text);
    case field_type::command_line:
      return parse_command_line(text);
    case field_type::host:
      return parse_host(text);
    case field_type::host_names:
      return parse_host_name(text);
    case field_type::user:
      return parse_user(text);
    case field_type::http_url:
      return parse_http_url(text);
    case field_type::command:
      return parse_command(text);
    case field_type::duration:
      return parse_duration(text);
    case field_type::percent:
      return parse_percent(text);
    case field_type::integer:
      return parse_integer(text, f.least, f.most);
    case field_type::boolean:
      return parse_boolean(text);
    case field_type::listen:
      return parse_listen(text);
  }
  TENURE_CHECK(false);
}

parsed<std::string> parse_path(std::string_view text) {
  if (text.empty()) return wrong("is empty", path_hint);
  // The user gave the output of `$(cat key.pem)`.
  if (text.starts_with("-----BEGIN")) {
    return wrong("is what belongs into the file", "put it into a file and give the path of that");
  }
  if (text.size() > max_path_bytes) {
    return wrong("is " + std::to_string(text.size()) + " bytes long", path_hint);
  }
  if (std::ranges::any_of(text, is_control)) {
    return wrong("has a control character in it", path_hint);
  }
  return std::string(text);
}

parsed<std::string> parse_host_name(std::string_view text) {
  if (!is_host_name(text)) {
    return wrong("is " + settings::quote_endpoint(text) + ", which is not the name of a host",
                 "give the name alone, without a scheme or a port, such as tenure.example.org");
  }
  return std::string(text);
}

parsed<std::string> parse_host(std::string_view text) {
  std::string without_colons(text);
  std::erase(without_colons, ':');
  if (text.size() > max_name_bytes || !is_host_name(without_colons)) {
    return wrong(
        "is " + settings::quote_endpoint(text) + ", which is not a host name or an IP address",
        "give the host name or IP address that the certificate is for, without a port");
  }
  return std::string(text);
}

parsed<std::string> parse_user(std::string_view text) {
  // etcdctl and curl take NAME:PASSWORD for a user.
  if (text.contains(':')) {
    return wrong("has a colon in it",
                 "give the name alone, and a file that holds the password as password_file");
  }
  if (text.empty() || text.size() > max_name_bytes || !std::ranges::all_of(text, is_visible)) {
    return wrong("is not " + std::string(field_of(setting::user).range), "give the user's name");
  }
  return std::string(text);
}

int signal_number(std::string_view name) {
  const auto* const found = std::ranges::find(signal_numbers, name, &named_signal::name);
  TENURE_CHECK(found != signal_numbers.end());
  return found->number;
}

std::string_view signal_name(int number) {
  const auto* const found = std::ranges::find(signal_numbers, number, &named_signal::number);
  TENURE_CHECK(found != signal_numbers.end());
  return found->name;
}

}  // namespace tenure::config
