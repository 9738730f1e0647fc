#pragma once

#include <string>

namespace tenure::http {

/// What an https endpoint needs in addition to its URL. All files are PEM; after a swap, the next
/// new connection reads the new file.
struct tls_settings {
  std::string ca_file{};  ///< CAs trusted to sign the server's certificate; empty: the system's
  std::string certificate_file{};  ///< the client's own, with its chain; both or none
  std::string key_file{};          ///< its key, without a passphrase
  std::string server_name{};       ///< expected in the server's certificate instead of its host
};

}  // namespace tenure::http
