#pragma once

#include <string>

namespace tenure::settings {

/// How a store proves who it is, and how we sign in to it. An empty member is not used. No secret
/// is in here: those are in files, which are read again when they change.
struct security {
  std::string ca_file{};           ///< PEM: who may vouch for the server; empty: the system's
  std::string certificate_file{};  ///< PEM: the client's own; given if and only if `key_file` is
  std::string key_file{};          ///< PEM: its key
  std::string server_name{};       ///< expected in the server's certificate instead of its host
  std::string user{};              ///< given if and only if `password_file` is
  std::string password_file{};
  std::string token_file{};  ///< what it holds is sent with every request (Consul)

  friend bool operator==(const security&, const security&) = default;
};

}  // namespace tenure::settings
