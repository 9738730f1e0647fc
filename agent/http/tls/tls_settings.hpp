#pragma once

#include <string>

namespace tenure::http {

/// What an https endpoint needs beside its URL. All files are PEM; one that is swapped is read
/// again for the next new connection.
struct tls_settings {
  std::string ca_file{};           ///< who may vouch for the server; empty: the system's
  std::string certificate_file{};  ///< the client's own, with its chain; both or none
  std::string key_file{};          ///< its key, without a passphrase
  std::string server_name{};       ///< to be in the server's certificate instead of its host
};

}  // namespace tenure::http
