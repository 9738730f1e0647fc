#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "http/tls/tls_settings.hpp"
#include "settings/endpoint.hpp"

namespace tenure::tests {

/// Certificates, made once a process by certificates.sh. The path of one of its files.
std::string certificate(const std::string& file);

/// A folder that vanishes with the test.
class place {
 public:
  place();
  ~place();
  place(const place&) = delete;
  place& operator=(const place&) = delete;

  [[nodiscard]] std::string file(const std::string& name) const { return path_ / name; }
  /// As Kubernetes swaps a secret: what was there is replaced at one instant.
  std::string put(const std::string& name, const std::string& copy_of) const;

 private:
  std::filesystem::path path_;
};

/// tls_server.py in a process of its own, with the certificate and key of this name.
class tls_server {
 public:
  explicit tls_server(const std::string& name, std::vector<std::string> options = {},
                      std::uint16_t port = 0);
  ~tls_server();
  tls_server(const tls_server&) = delete;
  tls_server& operator=(const tls_server&) = delete;

  [[nodiscard]] settings::endpoint where() const {
    return {.tls = true, .host = "127.0.0.1", .port = port_};
  }

 private:
  int pid_ = -1;
  int input_ = -1;
  std::uint16_t port_ = 0;
};

}  // namespace tenure::tests
