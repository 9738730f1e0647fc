#pragma once

#include <string>

#include "settings/security.hpp"

namespace tenure::http {

/// What an https endpoint needs in addition to its URL. All files are PEM; after a swap, the next
/// new connection reads the new file. Each may be the PEM text itself instead.
struct tls_settings {
  std::string ca_file{};  ///< CAs trusted to sign the server's certificate; empty: the system's
  std::string certificate_file{};  ///< the client's own, with its chain; both or none
  std::string key_file{};          ///< its key, without a passphrase
  std::string server_name{};       ///< expected in the server's certificate instead of its host

  std::string authorities{};  ///< instead of `ca_file`
  std::string certificate{};  ///< instead of `certificate_file`
  std::string key{};          ///< instead of `key_file`

  [[nodiscard]] bool has_certificate() const {
    return !certificate_file.empty() || !certificate.empty();
  }
  [[nodiscard]] bool has_key() const { return !key_file.empty() || !key.empty(); }
};

/// How a store's servers are reached over TLS.
inline tls_settings tls_for(const settings::security& with) {
  return {.ca_file = with.ca_file,
          .certificate_file = with.certificate_file,
          .key_file = with.key_file,
          .server_name = with.server_name,
          .authorities = with.inlined.authorities,
          .certificate = with.inlined.certificate,
          .key = with.inlined.key};
}

}  // namespace tenure::http
