#include "log/logger.hpp"

#include <unistd.h>

#include <utility>

#include "base/error_text.hpp"
#include "base/printable_text.hpp"
#include "base/wall_time.hpp"

namespace tenure::log {
namespace {

std::string escaped(std::string_view value, bool quotes) {
  return base::escaped(value, quotes ? "\"\\" : "");
}

bool is_for_people(log_form form) {
  return form == log_form::text || form == log_form::coloured;
}

std::string lines_missing(log_form form, std::uint64_t lost, int error) {
  log_field count("lost", lost);
  count.for_programs = true;
  return log_line(form, log_level::warn, base::wall_now_ms(),
                  std::to_string(lost) + (lost == 1 ? " line is" : " lines are") +
                      " missing here: " +
                      (error == 0 ? "nobody read this log for too long"
                                  : "this log could not be written: " + base::error_text(error)),
                  {count});
}

}  // namespace

log_field coded(std::string_view key, std::string_view value) {
  log_field out(key, value);
  out.for_programs = true;
  return out;
}

std::string fields_text(log_form form, std::initializer_list<log_field> fields) {
  std::string out;
  for (const log_field& f : fields) {
    if (f.for_programs && is_for_people(form)) continue;
    append_field(out, form, f.key, escaped(f.value, true), f.bare);
  }
  return out;
}

std::string log_line(log_form form, log_level level, std::int64_t unix_ms, std::string_view message,
                     std::initializer_list<log_field> fields) {
  std::string out;
  begin_line(out, form, level, unix_ms, escaped(message, !is_for_people(form)));
  out += fields_text(form, fields);
  end_line(out, form);
  return out;
}

logger::logger(log_form form, log_level least)
    : form_(form),
      least_(least),
      writer_(std::make_unique<line_writer>(STDERR_FILENO, [form](std::uint64_t lost, int error) {
        return lines_missing(form, lost, error);
      })) {}

logger::logger(log_form form, log_level least, std::function<void(const std::string&)> write)
    : form_(form), least_(least), write_(std::move(write)) {}

void logger::write(log_level level, std::string_view message,
                   std::initializer_list<log_field> fields) {
  if (level < least_) return;
  std::string line = log_line(form_, level, base::wall_now_ms(), message, fields);
  return writer_ ? writer_->write(std::move(line)) : write_(line);
}

}  // namespace tenure::log
