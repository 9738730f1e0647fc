#pragma once

#include <string>

namespace tenure::settings {

/// What a kubeconfig holds itself instead of naming a file. An empty member is not used. Secrets
/// are among them: none is ever shown.
struct inline_security {
  std::string authorities{};  ///< PEM: who may vouch for the server
  std::string certificate{};  ///< PEM: the client's own
  std::string key{};          ///< PEM: its key
  std::string token{};        ///< is sent with every request

  [[nodiscard]] bool has_secret() const { return !key.empty() || !token.empty(); }

  friend bool operator==(const inline_security&, const inline_security&) = default;
};

/// How a store proves who it is, and how we sign in to it. An empty member is not used. Secrets are
/// in files, which are read again when they change, but for those of a kubeconfig.
struct security {
  std::string ca_file{};           ///< PEM: who may vouch for the server; empty: the system's
  std::string certificate_file{};  ///< PEM: the client's own; given if and only if `key_file` is
  std::string key_file{};          ///< PEM: its key
  std::string server_name{};       ///< expected in the server's certificate instead of its host
  std::string user{};              ///< given if and only if `password_file` is
  std::string password_file{};
  std::string token_file{};   ///< what it holds is sent with every request
  inline_security inlined{};  ///< for Kubernetes; each instead of a file

  friend bool operator==(const security&, const security&) = default;
};

}  // namespace tenure::settings
