#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>

#include "config/settings.hpp"

namespace tenure::runtime {

using config::log_format;
using config::log_level;

/// One `key=value` of a line. Keys are ours: lower case, no blanks.
struct log_field {
  log_field(std::string_view k, std::string_view v) : key(k), value(v) {}
  log_field(std::string_view k, std::uint64_t v) : key(k), value(std::to_string(v)), bare(true) {}

  std::string_view key;
  std::string value;
  bool bare = false;  ///< a number, written without quotes
};

/// Lines on stderr, one an event: time, level, msg, fields.
///
/// A thread of its own writes them, so that whoever reads our stderr slowly, or not at all, can
/// not delay a renewal: past `log_queue_lines` the oldest waiting lines are dropped.
/// Thread-safe.
class log {
 public:
  log(log_format form, log_level least);
  ~log();
  log(const log&) = delete;
  log& operator=(const log&) = delete;

  void write(log_level level, std::string_view message,
             std::initializer_list<log_field> fields = {});

 private:
  struct sink;
  std::unique_ptr<sink> sink_;
  log_format form_;
};

/// The part of a line behind time and level: `msg="..." key=value`, or the same as JSON members.
/// Quotes and what does not print (core/printable_text.hpp) are escaped, so that no value can forge
/// a line or steer a terminal.
std::string log_body(log_format form, std::string_view message,
                     std::initializer_list<log_field> fields);

}  // namespace tenure::runtime
