#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tenure::base {

/// An instant of the wall clock as people read it, in UTC. Allocates nothing.
class time_text {
 public:
  /// An instant outside the years 0 to 9999 is shown as the first or last one inside.
  explicit time_text(std::int64_t unix_ms);

  /// "2026-01-31T12:00:00.250Z", as in RFC 3339.
  [[nodiscard]] std::string_view date_and_time() const { return {text_.data(), text_.size()}; }
  /// "12:00:00.250Z"
  [[nodiscard]] std::string_view time() const { return date_and_time().substr(time_begins); }

 private:
  static constexpr std::size_t time_begins = 11;
  std::array<char, 24> text_{};
};

/// "2026-01-31T12:00:00.250000Z", as Kubernetes' MicroTime is written.
std::string micro_time(std::int64_t unix_ms);

/// Reads a text in the form of `date_and_time` as milliseconds since 1970; nothing for other texts.
std::optional<std::int64_t> read_time(std::string_view rfc3339);

/// Reads "Sun, 06 Nov 1994 08:49:37 GMT" (RFC 9110, 5.6.7), as a Date header has it, as
/// milliseconds since 1970; nothing for other texts.
std::optional<std::int64_t> read_http_date(std::string_view text);

}  // namespace tenure::base
