#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "log/line_writer.hpp"
#include "log/log_line.hpp"

namespace tenure::log {

/// One `key=value` of a line. Keys are ours: lower case, no blanks.
struct log_field {
  log_field(std::string_view k, std::string_view v) : key(k), value(v) {}
  log_field(std::string_view k, std::uint64_t v) : key(k), value(std::to_string(v)), bare(true) {}

  std::string_view key;
  std::string value;
  bool bare = false;          ///< a number, written without quotes
  bool for_programs = false;  ///< left out in forms for people: the message says it
};

/// A field for programs: people find it in the message.
log_field coded(std::string_view key, std::string_view value);

/// Lines on stderr, one per event: time, level, message, fields.
///
/// A `line_writer` writes them, so that a reader of stderr that is slow, hangs or is gone cannot
/// delay a renewal. Thread-safe.
class logger {
 public:
  logger(log_form form, log_level least);
  /// Passes each line to `write` at once instead: no thread, nothing on stderr.
  logger(log_form form, log_level least, std::function<void(const std::string&)> write);

  void write(log_level level, std::string_view message,
             std::initializer_list<log_field> fields = {});

  [[nodiscard]] log_form form() const { return form_; }
  /// How many lines could not be written so far.
  [[nodiscard]] std::uint64_t lost() const { return writer_ ? writer_->lost() : 0; }

 private:
  log_form form_;
  log_level least_;
  std::unique_ptr<line_writer> writer_{};  ///< null if `write_` is used
  std::function<void(const std::string&)> write_{};
};

/// The part of a `log_line` after its message.
std::string fields_text(log_form form, std::initializer_list<log_field> fields);

/// One line, without its end. Quotes and what does not print (base/printable_text.hpp) are escaped,
/// so that no value can forge a line or control a terminal.
std::string log_line(log_form form, log_level level, std::int64_t unix_ms, std::string_view message,
                     std::initializer_list<log_field> fields);

}  // namespace tenure::log
