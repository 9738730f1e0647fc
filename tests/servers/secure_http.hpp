#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::servers {

/// A server on loopback, and whose token goes with each request.
struct secure_caller {
  std::uint16_t port = 0;
  std::string ca_file;  ///< that its certificate is of
  std::string token;    ///< empty: the request has none
};

/// What a server answers over TLS.
struct secure_answer {
  int status = 0;      ///< 0: it did not answer
  std::string head{};  ///< the headers, "Name: value" and CRLF each
  std::string body{};
  std::string why{};  ///< without an answer: what became of the request
};

/// One request on a connection of its own.
secure_answer ask_securely(const secure_caller& as, std::string_view method,
                           std::string_view target, std::string_view body,
                           std::string_view content_type, std::chrono::milliseconds at_most);

/// The answer to a GET as it comes, e.g. a watch. Nothing is read but within `read_until`.
class secure_stream {
 public:
  secure_stream(const secure_caller& as, std::string_view target);
  ~secure_stream();
  secure_stream(const secure_stream&) = delete;
  secure_stream& operator=(const secure_stream&) = delete;

  /// Reads until `enough` holds for all that came of the body, or the answer has ended. True if
  /// `enough` holds; false without it after `at_most`.
  bool read_until(const std::function<bool(std::string_view)>& enough,
                  std::chrono::milliseconds at_most);

  /// 0 before the head has come.
  [[nodiscard]] int status() const;
  [[nodiscard]] const std::string& body() const;
  /// The server has ended it, or the connection is broken.
  [[nodiscard]] bool ended() const;

 private:
  struct parts;
  std::unique_ptr<parts> parts_;
};

}  // namespace tenure::servers
