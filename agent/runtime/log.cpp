#include "runtime/log.hpp"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "core/printable_text.hpp"

namespace tenure::runtime {
namespace {

constexpr std::size_t log_queue_lines = 256;

spdlog::level::level_enum theirs(log_level level) {
  switch (level) {
    case log_level::debug:
      return spdlog::level::debug;
    case log_level::info:
      return spdlog::level::info;
    case log_level::warn:
      return spdlog::level::warn;
    case log_level::error:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

void append_quoted(std::string& out, std::string_view value) {
  out.append("\"").append(core::escaped(value, "\"\\")).append("\"");
}

/// logfmt leaves a value bare if a reader can see where it ends.
bool is_plain(std::string_view value) {
  return !value.empty() && value.find_first_not_of(
                               "abcdefghijklmnopqrstuvwxyz"
                               "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789._-:/@%+,") == std::string_view::npos;
}

void append(std::string& out, log_format form, std::string_view key, std::string_view value,
            bool bare) {
  if (!out.empty()) out += form == log_format::json ? ',' : ' ';
  if (form == log_format::json) {
    out += '"';
    out += key;
    out += "\":";
    if (bare) {
      out += value;
    } else {
      append_quoted(out, value);
    }
    return;
  }
  out += key;
  out += '=';
  if (bare || is_plain(value)) {
    out += value;
  } else {
    append_quoted(out, value);
  }
}

}  // namespace

std::string log_body(log_format form, std::string_view message,
                     std::initializer_list<log_field> fields) {
  std::string out;
  append(out, form, "msg", message, false);
  for (const log_field& f : fields) append(out, form, f.key, f.value, f.bare);
  return out;
}

struct log::sink {
  std::shared_ptr<spdlog::details::thread_pool> writer;
  std::shared_ptr<spdlog::async_logger> logger;
};

log::log(log_format form, log_level least) : sink_(std::make_unique<sink>()), form_(form) {
  sink_->writer = std::make_shared<spdlog::details::thread_pool>(log_queue_lines, 1);
  sink_->logger = std::make_shared<spdlog::async_logger>(
      "tenure", std::make_shared<spdlog::sinks::stderr_sink_mt>(), sink_->writer,
      spdlog::async_overflow_policy::overrun_oldest);
  sink_->logger->set_level(theirs(least));
  sink_->logger->set_pattern(form == log_format::json
                                 ? R"({"time":"%Y-%m-%dT%H:%M:%S.%eZ","level":"%l",%v})"
                                 : "time=%Y-%m-%dT%H:%M:%S.%eZ level=%l %v",
                             spdlog::pattern_time_type::utc);
}

log::~log() = default;

void log::write(log_level level, std::string_view message,
                std::initializer_list<log_field> fields) {
  const spdlog::level::level_enum as = theirs(level);
  if (!sink_->logger->should_log(as)) return;
  sink_->logger->log(as, "{}", log_body(form_, message, fields));
}

}  // namespace tenure::runtime
