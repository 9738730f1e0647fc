#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "http/client/client_message.hpp"

namespace tenure::http {

/// Turns the bytes of a connection into one reply. No I/O; skips interim replies (1xx).
///
/// After an error, or once `done`, it accepts nothing more.
class reply_reader {
 public:
  enum class form : std::uint8_t {
    whole,   ///< a body within `body_bytes`
    pieces,  ///< an endless body: the caller takes out what has arrived
  };

  /// The most interim replies to one request.
  static constexpr unsigned most_interim = 8;

  /// `head`: the reply to a HEAD has no body, even if its headers announce one.
  reply_reader(const client_limits& limits, form how, bool head);
  ~reply_reader();
  reply_reader(reply_reader&&) noexcept;
  reply_reader& operator=(reply_reader&&) noexcept;

  /// Parses these bytes. The error says what is wrong with them.
  std::expected<void, std::string> take(std::string_view bytes);

  /// The server has closed in an orderly way: the end of a body without a length, otherwise an
  /// error.
  std::expected<void, std::string> end();

  [[nodiscard]] bool has_head() const;  ///< the final one, not an interim one
  [[nodiscard]] bool done() const;
  /// True if the connection may carry another request: the server said so, and sent nothing after
  /// the reply. Precondition: `done`.
  [[nodiscard]] bool keeps_connection() const;

  /// Precondition: `has_head`.
  [[nodiscard]] reply_head head() const;
  /// The body, or the part of it that has arrived since the last call.
  std::string take_body();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tenure::http
