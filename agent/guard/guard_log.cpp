#include "guard/guard_log.hpp"

#include <unistd.h>

#include <algorithm>

#include "base/boot_time.hpp"
#include "base/wall_time.hpp"

namespace tenure::guard {

void stderr_sink::write(std::string_view line) {
  [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, line.data(), line.size());
}

std::int64_t stderr_sink::unix_ms() const {
  return base::wall_now_ms();
}

void guard_log::speak_as(std::uint32_t form, std::string_view fields) {
  constexpr auto last = static_cast<std::uint32_t>(log::log_form::coloured);
  if (form > last || fields.size() > most_fields) return;
  form_ = static_cast<log::log_form>(form);
  fields_.clear();
  fields_.append(fields);
}

void guard_log::say(log::log_level level, const sentence& what) const {
  write({.level = level, .at = {}, .unix_ms = to_.unix_ms(), .what = what});
}

void guard_log::say_unless_told(core::time_point now, log::log_level level, const sentence& what) {
  // More never wait; if they did, the newest would replace the last.
  waiting_ = std::min(waiting_, lines_.size() - 1);
  lines_[waiting_++] = {.level = level, .at = now, .unix_ms = to_.unix_ms(), .what = what};
}

core::time_point guard_log::due() const {
  return waiting_ == 0 ? core::never : lines_.front().at + patience;
}

void guard_log::flush(core::time_point now, bool has_agent) {
  if (has_agent && now < due()) return;
  for (std::size_t i = 0; i < waiting_; ++i) write(lines_[i]);
  waiting_ = 0;
}

void guard_log::write(const line& one) const {
  base::short_text<sizeof(sentence) + most_fields + 128> out;
  if (form_) {
    log::begin_line(out, *form_, one.level, one.unix_ms, one.what.view());
    out.append(fields_.view());
    log::end_line(out, *form_);
  } else {
    out.append("tenure guard: ");
    out.append(one.what.view());
  }
  out.append("\n");
  to_.write(out.view());
}

}  // namespace tenure::guard
