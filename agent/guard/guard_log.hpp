#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "base/short_text.hpp"
#include "core/clock.hpp"
#include "log/log_line.hpp"

namespace tenure::guard {

/// The longest line of the guard, including its line end.
inline constexpr std::size_t most_line_bytes = 1536;

/// The destination of the guard's lines. `log_writer` is the real implementation.
class line_sink {
 public:
  virtual ~line_sink() = default;

  /// Takes one line, including its line end. False if there is no room for it now. Never waits and
  /// allocates nothing.
  [[nodiscard]] virtual bool write(std::string_view line) = 0;

  /// The wall clock, in milliseconds since 1970.
  [[nodiscard]] virtual std::int64_t unix_ms() const = 0;
};

/// The guard's log, in the form of its agent's log. Never waits and allocates nothing.
///
/// The guard must not wait for a reader of its log, since it kills. A line that finds no room is
/// counted, and the count is logged as soon as there is room.
///
/// One event is one line: a healthy agent also logs what the guard does by itself at a deadline. So
/// such a line waits for a moment, and is dropped if the agent turns out to know. Its time is that
/// of the event in any case.
///
/// Not thread-safe.
class guard_log {
 public:
  using sentence = base::short_text<256>;

  explicit guard_log(line_sink& to) : to_(to) {}

  /// How long a line waits for the agent to log the same.
  static constexpr core::duration patience = std::chrono::milliseconds(200);
  /// Longer fields from an agent are ignored.
  static constexpr std::size_t most_fields = 1024;

  /// Writes lines in this form from now on, with these fields after the message. Ignored if `form`
  /// is unknown or the fields are too long.
  void speak_as(std::uint32_t form, std::string_view fields);

  /// Writes the line now.
  void say(log::log_level level, const sentence& what);

  /// Writes it after `patience`, unless the agent turns out to know.
  void say_unless_told(core::time_point now, log::log_level level, const sentence& what);

  /// The agent logs the event: drops the waiting lines.
  void agent_knows() { waiting_ = 0; }

  /// When to call `flush`; `never` if nothing waits.
  [[nodiscard]] core::time_point due() const;

  /// Writes lines that have waited long enough; without an agent, all waiting lines. Says first how
  /// many were lost, if there is room again.
  void flush(core::time_point now, bool has_agent);

 private:
  struct line {
    log::log_level level = log::log_level::info;
    core::time_point at{};
    std::int64_t unix_ms = 0;
    sentence what{};
  };

  void write(const line& one);
  [[nodiscard]] bool put(const line& one);
  [[nodiscard]] bool say_lost();

  line_sink& to_;
  std::optional<log::log_form> form_;  ///< none: no agent has set it yet
  base::short_text<most_fields> fields_;
  std::array<line, 4> lines_{};
  std::size_t waiting_ = 0;
  std::int64_t lost_ = 0;  ///< lines that found no room, and are not reported yet
};

}  // namespace tenure::guard
