#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tenure::stores::kubernetes {

/// What an answer with another status than 200 and 201 means, and which outcome of the store
/// contract follows:
///
///   conflict      the object is not what the request relies on, or is there already: read it again
///   missing       there is no such object
///   nowhere       unknown; a refusal to open: there is no such namespace
///   expired       the watch cannot go on from where it was: read everything again
///   busy          unknown, and the server says that it has too much to do: later again
///   unknown       it may or may not have happened; other servers, then again
///   unauthorized  unknown, after the token was read again; a refusal to open: the token must be
///                 changed
///   denied        the same: what the user of the token may do must be changed
///   invalid       unknown; a refusal to open: Kubernetes will never do what was asked
///   unsupported   unknown; a refusal to open: this is not Kubernetes' API
enum class error_meaning : std::uint8_t {
  unknown,
  conflict,
  missing,
  nowhere,
  expired,
  busy,
  unauthorized,
  denied,
  invalid,
  unsupported
};

/// True if the API server does not let us do it, which another token may.
constexpr bool is_refusal(error_meaning what) {
  return what == error_meaning::unauthorized || what == error_meaning::denied;
}

/// The rights that a store needs.
inline constexpr std::string_view give_rights_to_leases =
    "give the user of the token a Role for leases of coordination.k8s.io in this namespace with "
    "the verbs get, list, watch, create, patch and delete";

/// What the user can do where the API server does not let us do something.
struct refusal_advice {
  std::string_view if_unauthorized =
      "the token is unknown to the API server, or expired: check its file";
  /// Where the user of the token lacks a right.
  std::string_view if_denied = give_rights_to_leases;
};

struct reply_error {
  unsigned status = 0;
  std::string message;  ///< Kubernetes', printable and cut to one line for the log
  error_meaning meaning = error_meaning::unknown;
  std::string_view advice{};  ///< what the user can do; empty if only another try helps
};

/// "leases ... is forbidden: ...; advice", for people.
std::string text(const reply_error& what);

/// Judges an error reply. Anything that is not in the words of a Kubernetes API server, e.g. from a
/// proxy, is unknown: anything can answer 404 or 409, so only a Status of that code is believed.
reply_error read_error(unsigned status, std::string_view body, const refusal_advice& with = {});

}  // namespace tenure::stores::kubernetes
