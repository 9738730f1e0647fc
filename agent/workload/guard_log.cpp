#include "workload/guard_log.hpp"

#include <unistd.h>

#include <algorithm>

#include "os/boot_time.hpp"
#include "os/wall_time.hpp"

namespace tenure::workload {

void stderr_sink::write(std::string_view line) {
  [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, line.data(), line.size());
}

std::int64_t stderr_sink::unix_ms() const {
  return os::wall_now_ms();
}

void guard_log::speak_as(std::uint32_t form, std::string_view fields) {
  constexpr auto last = static_cast<std::uint32_t>(core::log_form::coloured);
  if (form > last || fields.size() > most_fields) return;
  form_ = static_cast<core::log_form>(form);
  fields_.clear();
  fields_.append(fields);
}

void guard_log::say(core::log_level level, const sentence& what) const {
  write({.level = level, .at = {}, .unix_ms = to_.unix_ms(), .what = what});
}

void guard_log::say_unless_told(core::time_point now, core::log_level level, const sentence& what) {
  // More than these never wait; were it so, the newest would count.
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
  core::short_text<sizeof(sentence) + most_fields + 128> out;
  if (form_) {
    core::begin_line(out, *form_, one.level, one.unix_ms, one.what.view());
    out.append(fields_.view());
    core::end_line(out, *form_);
  } else {
    out.append("tenure guard: ");
    out.append(one.what.view());
  }
  out.append("\n");
  to_.write(out.view());
}

}  // namespace tenure::workload
