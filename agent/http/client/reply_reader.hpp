#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "http/client/client_message.hpp"

namespace tenure::http {

/// Makes one reply of the bytes of a connection. No I/O; interim replies (1xx) are skipped.
///
/// After an error, or once `done`, it takes nothing more.
class reply_reader {
 public:
  enum class form : std::uint8_t {
    whole,   ///< a body within `body_bytes`
    pieces,  ///< a body without end: the caller takes out what has come
  };

  /// How many interim replies one request may get.
  static constexpr unsigned most_interim = 8;

  /// `head`: the reply to a HEAD has no body, whatever its headers say.
  reply_reader(const client_limits& limits, form how, bool head);
  ~reply_reader();
  reply_reader(reply_reader&&) noexcept;
  reply_reader& operator=(reply_reader&&) noexcept;

  /// Takes what has come. The error says what is wrong with it.
  std::expected<void, std::string> take(std::string_view bytes);

  /// The server has closed in an orderly way: the end of a body that has no length, else an error.
  std::expected<void, std::string> end();

  [[nodiscard]] bool has_head() const;  ///< the final one, not an interim one
  [[nodiscard]] bool done() const;
  /// True if the connection may carry another request: the server said so, and sent nothing
  /// behind the reply. Precondition: `done`.
  [[nodiscard]] bool keeps_connection() const;

  /// Precondition: `has_head`.
  [[nodiscard]] reply_head head() const;
  /// The body, or what has come of it since the last call.
  std::string take_body();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace tenure::http
