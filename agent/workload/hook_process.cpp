#include <cstdint>
#include <map>
#include <utility>

#include "base/error_text.hpp"
#include "process/helper_process.hpp"
#include "process/wait_status.hpp"
#include "workload/hook.hpp"

namespace tenure::workload {
namespace {

using process::check_outcome;
using process::check_task;
using process::helper_process;

/// A hook in a process of its own, so that neither a program nor a disk that hangs blocks the
/// agent.
class process_hook final : public hook {
 public:
  using task = std::function<check_task(const hook_order&)>;

  process_hook(http::asio_loop& on, std::string subject, task what)
      : loop_(on), subject_(std::move(subject)), task_(std::move(what)) {}

  void call(const hook_order& what, core::time_point, handler done) override {
    done_ = std::make_shared<handler>(std::move(done));
    const std::uint64_t number = ++number_;
    auto started =
        helper_process::start(loop_.executor(), task_(what),
                              [this, number](const check_outcome& how) { ended(number, how); });
    if (started) {
      under_way_.emplace(number, std::move(*started));
      return;
    }
    loop_.post(
        [noted = std::weak_ptr(done_), why = subject_ + ": " + base::error_text(started.error())] {
          // Empty if the call was cancelled or the hook destroyed.
          if (const auto call = noted.lock()) (*call)(hook_failure{.why = why});
        });
  }

  void cancel() override {
    done_.reset();
    // It stays in the list until the kernel has ended it.
    if (const auto it = under_way_.find(number_); it != under_way_.end()) it->second->kill();
  }

  bool settled(std::function<void()> then) override {
    if (!under_way_.empty()) settled_ = std::move(then);
    return under_way_.empty();
  }

  [[nodiscard]] const std::string& subject() const override { return subject_; }

 private:
  void ended(std::uint64_t number, const check_outcome& how) {
    under_way_.erase(number);
    const auto settled = under_way_.empty() ? std::exchange(settled_, nullptr) : nullptr;
    if (settled) return settled();
    if (number != number_) return;
    if (const auto done = std::exchange(done_, nullptr)) (*done)(judge(how));
  }

  [[nodiscard]] std::optional<hook_failure> judge(const check_outcome& how) const {
    if (const auto* ended = std::get_if<process::command_ended>(&how)) {
      if (ended->status == 0) return std::nullopt;
      return hook_failure{.why = subject_ + ' ' + process::describe_wait_status(ended->status)};
    }
    if (const auto* failed = std::get_if<process::command_not_executed>(&how)) {
      return hook_failure{.why =
                              subject_ + " cannot be executed: " + base::error_text(failed->error)};
    }
    if (const auto* failed = std::get_if<process::file_not_done>(&how)) {
      return hook_failure{.why = subject_ + ": " + base::error_text(failed->error)};
    }
    if (std::holds_alternative<process::file_done>(how)) return std::nullopt;
    return hook_failure{.why = subject_ + " was killed", .in_doubt = true};
  }

  http::asio_loop& loop_;
  std::string subject_;
  task task_;
  std::shared_ptr<handler> done_;  ///< null: nobody waits
  std::uint64_t number_ = 0;       ///< the newest call's number
  std::map<std::uint64_t, std::unique_ptr<helper_process>> under_way_;
  std::function<void()> settled_;  ///< to call when none is under way
};

}  // namespace

std::unique_ptr<hook> make_command_hook(http::asio_loop& on, std::vector<std::string> argv) {
  // Only the program: any of its arguments may be a secret.
  std::string subject = argv.front();
  return std::make_unique<process_hook>(
      on, std::move(subject), [argv = std::move(argv)](const hook_order& what) {
        return process::run_command{.argv = argv, .environment = what.environment};
      });
}

std::unique_ptr<hook> make_file_hook(http::asio_loop& on, std::string path) {
  std::string subject = "write " + path;
  return std::make_unique<process_hook>(
      on, std::move(subject), [path = std::move(path)](const hook_order& what) {
        return process::write_file{.path = path, .text = what.body + '\n'};
      });
}

std::unique_ptr<hook> make_file_removal(http::asio_loop& on, std::string path) {
  std::string subject = "remove " + path;
  return std::make_unique<process_hook>(
      on, std::move(subject),
      [path = std::move(path)](const hook_order&) { return process::remove_file{path}; });
}

hooks make_hooks(http::asio_loop& on, const settings::hooks& with) {
  hooks out;
  if (!with.gain_http.empty()) out.gain.push_back(make_http_hook(on, with.gain_http));
  if (!with.gain_command.empty()) out.gain.push_back(make_command_hook(on, with.gain_command));
  if (!with.gain_file.empty()) {
    out.gain.push_back(make_file_hook(on, with.gain_file));
    out.removal = make_file_removal(on, with.gain_file);
  }
  if (!with.stop_http.empty()) out.stop_http = make_http_hook(on, with.stop_http);
  if (!with.stop_command.empty()) out.stop_command = make_command_hook(on, with.stop_command);
  return out;
}

}  // namespace tenure::workload
