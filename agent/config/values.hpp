#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/fields.hpp"
#include "config/value.hpp"
#include "core/clock.hpp"
#include "settings/mistake.hpp"

/// Text to typed values. Whole settings are checked together later, in load.cpp.
namespace tenure::config {

using settings::mistake;
using settings::parsed;
using settings::quote;
using settings::wrong;

inline constexpr std::size_t max_name_bytes = 253;  ///< the limit of names in Kubernetes
inline constexpr std::size_t max_endpoint_bytes = 4096;
/// The largest user id; the next one means "no user".
inline constexpr std::uint32_t max_user_id = 0xffff'fffe;
inline constexpr std::size_t max_path_bytes = 4095;        ///< what Linux opens
inline constexpr std::size_t max_socket_path_bytes = 107;  ///< what Linux binds
inline constexpr std::uint32_t max_port = 65535;
inline constexpr std::int64_t max_priority = 1'000'000;
inline constexpr std::size_t max_command_words = 64;
inline constexpr std::size_t max_command_bytes = 4096;  ///< the limit of all words together
/// Beyond what any setting allows, and far from where nanoseconds overflow.
inline constexpr core::duration max_duration = std::chrono::hours(1000);

/// An ASCII character that is neither a blank nor a control character.
constexpr bool is_visible(char c) {
  return c > ' ' && c < '\x7F';
}
constexpr bool is_control(char c) {
  return static_cast<unsigned char>(c) < ' ' || c == '\x7F';
}
/// A character that the name of a host can have.
constexpr bool is_host_character(char c) {
  const bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  return letter || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

/// The value of setting `f`, or one item if it is a list. Percents are parts per million.
parsed<value> parse_value(const field& f, std::string_view text);

/// "500ms", "15s", "1.5s", "1m30s".
parsed<core::duration> parse_duration(std::string_view text);

/// "1%", "0.5%" as parts per million.
parsed<std::uint32_t> parse_percent(std::string_view text);

/// Digits without leading zeros, behind a minus sign if it is below zero.
parsed<std::int64_t> parse_integer(std::string_view text, std::int64_t least, std::int64_t most);

/// "127.0.0.1:4040", "[::1]:0", "localhost:80", "off".
parsed<std::optional<settings::listen_address>> parse_listen(std::string_view text);

/// The path of a file. The mistake does not repeat it.
parsed<std::string> parse_path(std::string_view text);

/// The absolute path of a program, or its last name alone.
parsed<std::string> parse_program(std::string_view text);

/// A command line as ps shows it.
parsed<std::string> parse_command_line(std::string_view text);

/// A host name or an IP address, without a port.
parsed<std::string> parse_host(std::string_view text);

/// A host name without a port.
parsed<std::string> parse_host_name(std::string_view text);

/// The name of a user. The mistake does not repeat what may have a password in it.
parsed<std::string> parse_user(std::string_view text);

/// "http://127.0.0.1:8080/healthz?full=1", a URL of this machine. The mistake never repeats a
/// user, a password or a query.
parsed<std::string> parse_http_url(std::string_view text);

/// A program and its arguments, separated by blanks. Quotes keep blanks inside a word; no other
/// character is special.
parsed<std::vector<std::string>> parse_command(std::string_view text);

/// What is wrong with a command of these words, if anything is.
std::optional<mistake> command_mistake(const std::vector<std::string>& words);

/// A name that all stores can carry: path of etcd, Consul and ZooKeeper, key of SQLite and
/// Tarantool.
parsed<std::string> parse_election_name(std::string_view text);

/// The number of a signal by its table name, without SIG. Precondition: it is in the table.
int signal_number(std::string_view name);

}  // namespace tenure::config
