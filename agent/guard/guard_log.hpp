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

/// Where the guard's lines go.
class line_sink {
 public:
  virtual ~line_sink() = default;

  /// One line, with its end. Allocates nothing.
  virtual void write(std::string_view line) = 0;

  /// What time it is for people, in milliseconds of Unix time.
  [[nodiscard]] virtual std::int64_t unix_ms() const = 0;
};

/// Lines go to stderr, with the time of the machine.
class stderr_sink final : public line_sink {
 public:
  void write(std::string_view line) override;
  [[nodiscard]] std::int64_t unix_ms() const override;
};

/// What the guard says, in the form that its agent's log has. Allocates nothing.
///
/// One change is one line: what the guard does by itself at a deadline is said by the agent, too,
/// if that is well. So such a line waits for a moment, and is dropped if the agent turns out to
/// know. It has the time at which it happened in any case.
///
/// Not thread-safe.
class guard_log {
 public:
  using sentence = base::short_text<256>;

  explicit guard_log(line_sink& to) : to_(to) {}

  /// So long a line waits for the agent to say the same.
  static constexpr core::duration patience = std::chrono::milliseconds(200);
  /// More of its fields than that a line does not take from an agent.
  static constexpr std::size_t most_fields = 1024;

  /// Lines are written in this form from now on, with these fields behind the message. Nothing that
  /// is not a form, and no fields that are too long, changes anything.
  void speak_as(std::uint32_t form, std::string_view fields);

  /// Writes the line now.
  void say(log::log_level level, const sentence& what) const;

  /// Writes it after `patience`, unless the agent turns out to know.
  void say_unless_told(core::time_point now, log::log_level level, const sentence& what);

  /// The agent says it: what waits is dropped.
  void agent_knows() { waiting_ = 0; }

  /// When `flush` is to be called; `never` if nothing waits.
  [[nodiscard]] core::time_point due() const;

  /// Writes what has waited long enough; all that waits, if there is no agent.
  void flush(core::time_point now, bool has_agent);

 private:
  struct line {
    log::log_level level = log::log_level::info;
    core::time_point at{};
    std::int64_t unix_ms = 0;
    sentence what{};
  };

  void write(const line& one) const;

  line_sink& to_;
  std::optional<log::log_form> form_;  ///< none: no agent has said yet
  base::short_text<most_fields> fields_;
  std::array<line, 4> lines_{};
  std::size_t waiting_ = 0;
};

}  // namespace tenure::guard
