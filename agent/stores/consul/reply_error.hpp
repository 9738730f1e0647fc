#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "stores/consul/codec.hpp"

namespace tenure::stores::consul {

/// What an error of Consul's HTTP API means, and which outcome of the store contract follows:
///
///   unknown       unknown: it may or may not have happened; other agents, then again
///   session_gone  lost: the only one of these that is Consul's own word about a session
///   unauthorized  unknown, after the token was read again; a refusal to open: the token must be
///                 changed
///   denied        the same: the token's policy must be changed
///   invalid       unknown; a refusal to open: Consul will never do what was asked
///   unsupported   unknown; a refusal to open: this is not Consul's HTTP API
enum class error_meaning : std::uint8_t {
  unknown,
  session_gone,
  unauthorized,
  denied,
  invalid,
  unsupported
};

/// True if Consul does not let us do it, which another token may.
constexpr bool is_refusal(error_meaning what) {
  return what == error_meaning::unauthorized || what == error_meaning::denied;
}

struct reply_error {
  unsigned status = 0;
  std::string message;  ///< Consul's, printable and cut to one line for the log
  error_meaning meaning = error_meaning::unknown;
  std::string_view advice{};  ///< what the user can do; empty if only another try helps
};

/// What to do about a token that may read less than before.
inline constexpr std::string_view lost_permission =
    "the token may read less than before; give it a policy with key_prefix \"ELECTION/\" { policy "
    "= "
    "\"write\" }";

/// "No cluster leader; advice", for people.
std::string text(const reply_error& what);

/// Judges an error reply. Anything that is not in Consul's own words, e.g. from a proxy or a later
/// Consul, is unknown.
reply_error read_error(unsigned status, std::string_view body);

/// Judges the operations of a transaction that have failed. Consul refuses each one for which the
/// token lacks a permission by itself, with the status of a conflict. Nothing: none was refused so.
std::optional<reply_error> read_refusal(std::span<const failed_operation> failed);

}  // namespace tenure::stores::consul
