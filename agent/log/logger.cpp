#include "log/logger.hpp"

#include <spdlog/async.h>
#include <spdlog/async_logger.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <unistd.h>

#include "base/printable_text.hpp"
#include "base/wall_time.hpp"

namespace tenure::log {
namespace {

constexpr std::size_t log_queue_lines = 256;

std::string escaped(std::string_view value, bool quotes) {
  return base::escaped(value, quotes ? "\"\\" : "");
}

bool is_for_people(log_form form) {
  return form == log_form::text || form == log_form::coloured;
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

struct logger::sink {
  log_level least;
  std::shared_ptr<spdlog::details::thread_pool> writer;
  std::shared_ptr<spdlog::async_logger> logger;
  std::function<void(const std::string&)> write{};  ///< used instead of the logger
};

logger::logger(log_form form, log_level least)
    : sink_(std::make_unique<sink>(sink{.least = least, .writer = nullptr, .logger = nullptr})),
      form_(form) {
  sink_->writer = std::make_shared<spdlog::details::thread_pool>(log_queue_lines, 1);
  sink_->logger = std::make_shared<spdlog::async_logger>(
      "tenure", std::make_shared<spdlog::sinks::stderr_sink_mt>(), sink_->writer,
      spdlog::async_overflow_policy::overrun_oldest);
  sink_->logger->set_pattern("%v");
}

logger::logger(log_form form, log_level least, std::function<void(const std::string&)> write)
    : sink_(std::make_unique<sink>(
          sink{.least = least, .writer = nullptr, .logger = nullptr, .write = std::move(write)})),
      form_(form) {}

logger::~logger() = default;

void logger::write(log_level level, std::string_view message,
                   std::initializer_list<log_field> fields) {
  if (level < sink_->least) return;
  if (sink_->write) {
    return sink_->write(log_line(form_, level, base::wall_now_ms(), message, fields));
  }
  // At a level that spdlog always passes: our level is in the line.
  sink_->logger->critical("{}", log_line(form_, level, base::wall_now_ms(), message, fields));
}

}  // namespace tenure::log
