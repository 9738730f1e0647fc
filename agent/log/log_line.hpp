#pragma once

#include <cstdint>
#include <string_view>

#include "base/time_text.hpp"

/// The format of a log line. Agent and guard share one stderr, so both use it; the guard writes
/// into a `short_text`, because it allocates nothing.
namespace tenure::log {

enum class log_level : std::uint8_t { debug, info, warn, error };

enum class log_form : std::uint8_t {
  logfmt,    ///< time=... level=warn msg="..." key=value
  json,      ///< the same as one JSON object
  text,      ///< 12:00:00.250Z warn  ...  key=value: for a person at a terminal
  coloured,  ///< the same in colours
};

std::string_view name(log_level level);

/// Terminal sequences: faint text, back to usual, and the colour of a level.
inline constexpr std::string_view faint_colour = "\x1b[0;2m";
inline constexpr std::string_view usual_colour = "\x1b[0m";
std::string_view colour_of(log_level level);

/// True if logfmt needs no quotes, because a reader can see where the value ends.
bool is_bare(std::string_view value);

/// Appends a value that is already escaped, in quotes if the form needs them.
template <class Out>
void append_value(Out& to, log_form form, std::string_view escaped) {
  const bool quoted = form == log_form::json || !is_bare(escaped);
  if (quoted) to.append("\"");
  to.append(escaped);
  if (quoted) to.append("\"");
}

/// Appends ` key=value` or `,"key":value`. A number has no quotes.
template <class Out>
void append_field(Out& to, log_form form, std::string_view key, std::string_view escaped,
                  bool is_number) {
  to.append(form == log_form::json ? ",\"" : form == log_form::logfmt ? " " : "  ");
  to.append(key);
  to.append(form == log_form::json ? "\":" : "=");
  if (is_number) {
    to.append(escaped);
  } else {
    append_value(to, form, escaped);
  }
}

/// Appends time, level and message.
template <class Out>
void begin_line(Out& to, log_form form, log_level level, std::int64_t unix_ms,
                std::string_view escaped_message) {
  const base::time_text at(unix_ms);
  switch (form) {
    case log_form::logfmt:
    case log_form::json:
      to.append(form == log_form::json ? "{\"time\":\"" : "time=");
      to.append(at.date_and_time());
      to.append(form == log_form::json ? "\"" : "");
      append_field(to, form, "level", name(level), false);
      append_field(to, form, "msg", escaped_message, false);
      return;
    case log_form::text:
    case log_form::coloured: {
      constexpr std::string_view wide_as_the_longest = "     ";
      const bool coloured = form == log_form::coloured;
      if (coloured) to.append(faint_colour);
      to.append(at.time());
      if (coloured) to.append(usual_colour);
      to.append(" ");
      if (coloured) to.append(colour_of(level));
      to.append(name(level));
      to.append(wide_as_the_longest.substr(name(level).size()));
      if (coloured && level == log_level::info) to.append(usual_colour);
      to.append(" ");
      to.append(escaped_message);
      if (coloured) to.append(faint_colour);
      return;
    }
  }
}

template <class Out>
void end_line(Out& to, log_form form) {
  if (form == log_form::json) to.append("}");
  if (form == log_form::coloured) to.append(usual_colour);
}

}  // namespace tenure::log
