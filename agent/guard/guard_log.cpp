#include "guard/guard_log.hpp"

#include <algorithm>

namespace tenure::guard {

void guard_log::speak_as(std::uint32_t form, std::string_view fields) {
  constexpr auto last = static_cast<std::uint32_t>(log::log_form::coloured);
  if (form > last || fields.size() > most_fields) return;
  form_ = static_cast<log::log_form>(form);
  fields_.clear();
  fields_.append(fields);
}

void guard_log::say(log::log_level level, const sentence& what) {
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
  static_cast<void>(say_lost());
  if (has_agent && now < due()) return;
  for (std::size_t i = 0; i < waiting_; ++i) write(lines_[i]);
  waiting_ = 0;
}

void guard_log::write(const line& one) {
  if (!say_lost() || !put(one)) ++lost_;
}

/// False if some were lost and there is still no room to say so.
bool guard_log::say_lost() {
  if (lost_ == 0) return true;
  line one{.level = log::log_level::warn, .at = {}, .unix_ms = to_.unix_ms(), .what = {}};
  one.what.append_number(lost_);
  one.what.append(lost_ == 1 ? " line of the guard is lost" : " lines of the guard are lost");
  one.what.append(": its log could not be written for a while");
  if (!put(one)) return false;
  lost_ = 0;
  return true;
}

bool guard_log::put(const line& one) {
  base::short_text<most_line_bytes> out;
  if (form_) {
    log::begin_line(out, *form_, one.level, one.unix_ms, one.what.view());
    out.append(fields_.view());
    log::end_line(out, *form_);
  } else {
    out.append("tenure guard: ");
    out.append(one.what.view());
  }
  out.append("\n");
  return to_.write(out.view());
}

}  // namespace tenure::guard
