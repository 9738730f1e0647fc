#include "health/health_process.hpp"

#include <utility>

#include "base/error_text.hpp"
#include "base/printable_text.hpp"
#include "base/wall_time.hpp"
#include "core/timing.hpp"
#include "process/wait_status.hpp"

namespace tenure::health {
namespace {

/// The longest program name in the log.
constexpr std::size_t most_name_bytes = 80;

/// Only the program: any of its arguments may be a secret.
std::string subject_of(const std::vector<std::string>& argv) {
  const std::string program = base::printable(argv.front(), most_name_bytes);
  return argv.size() == 1 ? program
                          : program + " with " + std::to_string(argv.size() - 1) +
                                (argv.size() == 2 ? " argument" : " arguments");
}

}  // namespace

process_check::process_check(http::asio_loop& on, process::check_task what, std::string subject,
                             judge says)
    : loop_(on),
      what_(std::move(what)),
      subject_(std::move(subject)),
      says_(std::move(says)),
      deadline_(loop_) {}

void process_check::begin(core::duration limit, handler done) {
  done_ = std::make_shared<handler>(std::move(done));
  limit_ = limit;
  deadline_.after(limit, [this] { too_late(); });
  if (!process_) start();
}

void process_check::start() {
  auto started = process::helper_process::start(
      loop_.executor(), what_, [this](const process::check_outcome& how) { ended(how); });
  if (started) {
    process_ = std::move(*started);
  } else {
    fail_soon("the check could not be started: " + base::error_text(started.error()));
  }
}

void process_check::kill_process() {
  if (process_ && !std::exchange(killed_, true)) process_->kill();
}

void process_check::cancel() {
  done_.reset();
  deadline_.cancel();
  kill_process();
}

void process_check::ended(const process::check_outcome& how) {
  process_.reset();
  if (!std::exchange(killed_, false)) return finish(says_(how));
  if (done_) start();
}

void process_check::too_late() {
  if (!done_) return;
  const bool never_began = killed_;
  kill_process();
  finish(subject_ + ": " +
         (never_began ? "the previous check was killed, and the kernel has not ended it yet"
                      : "no end within " + core::text(limit_)));
}

void process_check::finish(verdict what) {
  deadline_.cancel();
  const auto done = std::exchange(done_, nullptr);
  if (done) (*done)(std::move(what));
}

void process_check::fail_soon(const std::string& why) {
  deadline_.cancel();
  loop_.post([noted = std::weak_ptr(done_), why = subject_ + ": " + why] {
    // Empty if the check was cancelled or destroyed.
    if (const auto done = noted.lock()) (*done)(why);
  });
}

std::unique_ptr<health_check> make_command_check(http::asio_loop& on,
                                                 std::vector<std::string> argv) {
  std::string subject = subject_of(argv);
  auto says = [subject](const process::check_outcome& how) -> health_check::verdict {
    if (const auto* ended = std::get_if<process::command_ended>(&how)) {
      if (ended->status == 0) return std::nullopt;
      return subject + " " + process::describe_wait_status(ended->status);
    }
    if (const auto* failed = std::get_if<process::command_not_executed>(&how)) {
      return subject + " cannot be executed: " + base::error_text(failed->error) +
             "; check its name, PATH and permissions";
    }
    return subject + " was killed";
  };
  return std::make_unique<process_check>(on, process::run_command{std::move(argv)},
                                         std::move(subject), std::move(says));
}

std::unique_ptr<health_check> make_file_check(http::asio_loop& on, std::string path,
                                              std::optional<core::duration> most_age) {
  auto says = [path, most_age](const process::check_outcome& how) -> health_check::verdict {
    if (const auto* missing = std::get_if<process::file_not_found>(&how)) {
      return path + ": " + base::error_text(missing->error);
    }
    const auto* found = std::get_if<process::file_found>(&how);
    if (found == nullptr) return path + ": the process that looked for it was killed";
    const core::duration age =
        std::chrono::milliseconds(base::wall_now_ms() - found->modified_unix_ms);
    if (!most_age || age <= *most_age) return std::nullopt;
    return path + " is " + core::text(age) + " old; at most " + core::text(*most_age) +
           " is allowed";
  };
  std::string subject = path;
  return std::make_unique<process_check>(on, process::look_at_file{std::move(path)},
                                         std::move(subject), std::move(says));
}

std::vector<std::unique_ptr<health_check>> make_health_checks(http::asio_loop& on,
                                                              const settings::health& with) {
  std::vector<std::unique_ptr<health_check>> out;
  if (!with.http.empty()) out.push_back(make_http_check(on, with.http));
  if (!with.command.empty()) out.push_back(make_command_check(on, with.command));
  if (!with.file.empty()) out.push_back(make_file_check(on, with.file, with.file_age));
  return out;
}

}  // namespace tenure::health
