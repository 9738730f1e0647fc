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
/// Does not touch OpenSSL before the first `current`.
class tls_context {
 public:
  explicit tls_context(tls_settings settings) : settings_(std::move(settings)) {}

  /// The context for a new connection: TLS 1.2 or newer, and the server must prove its identity.
  /// Checks the files first. If a swapped file is bad, the old context stays, and `problem` says
  /// so; without an old one this is an error that names the file.
  std::expected<std::shared_ptr<boost::asio::ssl::context>, std::string> current();

  /// What is wrong with the present files; empty if nothing is.
  [[nodiscard]] const std::string& problem() const { return problem_; }

  [[nodiscard]] const tls_settings& settings() const { return settings_; }

 private:
  /// Attributes of a file that change when it is swapped; all zero: there is no file.
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
