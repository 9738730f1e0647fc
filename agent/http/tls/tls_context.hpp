#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>

#include "http/tls/tls_settings.hpp"

namespace boost::asio::ssl {
class context;
}

namespace tenure::http {

/// The files of `tls_settings`, loaded, and loaded again when they are swapped.
///
/// Nothing of OpenSSL is touched before the first `current`.
class tls_context {
 public:
  explicit tls_context(tls_settings settings) : settings_(std::move(settings)) {}

  /// For a new connection: TLS 1.2 or newer, and the server has to prove who it is. Looks at the
  /// files first. If a swapped one is bad the old context stays, and `problem` tells; if there is
  /// no old one that is an error, which names the file.
  std::expected<std::shared_ptr<boost::asio::ssl::context>, std::string> current();

  /// What is wrong with the files as they are now; empty if nothing is.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  [[nodiscard]] const tls_settings& settings() const { return settings_; }

 private:
  /// What of a file changes when it is swapped; all zero: it is not there.
  struct stamp {
    std::uint64_t device = 0;
    std::uint64_t inode = 0;
    std::int64_t size = 0;
    std::int64_t modified_seconds = 0;
    std::int64_t modified_nanoseconds = 0;

    friend bool operator==(const stamp&, const stamp&) = default;
  };
  using stamps = std::array<stamp, 3>;

  static stamp stamp_of(const std::string& file);
  [[nodiscard]] stamps stamps_now() const;

  tls_settings settings_;
  std::shared_ptr<boost::asio::ssl::context> loaded_;
  stamps tried_{};  ///< as they were just before the last attempt to load them
  std::string problem_;
};

}  // namespace tenure::http
