#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "http/asio_loop.hpp"
#include "settings/agent.hpp"

namespace tenure::workload {

/// What a hook tells the workload.
struct hook_order {
  std::string body;                      ///< one line of JSON
  std::vector<std::string> environment;  ///< the same, as "KEY=VALUE"
};

/// Why a hook failed.
struct hook_failure {
  std::string why;        ///< for people; contains no secret
  bool in_doubt = false;  ///< the workload may have been told, or may still be
};

/// One way to tell something to a workload that the agent does not run itself.
///
/// Nothing here waits. Use it on its loop only. No handler is called from inside a call, and none
/// after `cancel` or destruction.
class hook {
 public:
  using handler = std::function<void(std::optional<hook_failure>)>;

  virtual ~hook() = default;

  /// Tells the workload. Calls `done` once, with nothing if the workload has accepted, and by
  /// `until` if the hook enforces its own time limit. Precondition: the previous call has ended.
  virtual void call(const hook_order& what, core::time_point until, handler done) = 0;

  /// Cancels the call. The workload may have accepted it.
  virtual void cancel() = 0;

  /// True if no program of a cancelled call runs any more. Otherwise calls `then` once none does: a
  /// killed program must not act after the next one.
  virtual bool settled(std::function<void()> then) = 0;

  /// For the log: "POST http://127.0.0.1:8080/active". Contains no secret.
  [[nodiscard]] virtual const std::string& subject() const = 0;
};

/// All configured hooks; null or empty: not configured.
struct hooks {
  std::vector<std::unique_ptr<hook>> gain;  ///< in the order in which they are called
  std::unique_ptr<hook> removal;            ///< removes the file of `gain`
  std::unique_ptr<hook> stop_http;
  std::unique_ptr<hook> stop_command;
};
hooks make_hooks(http::asio_loop& on, const settings::hooks& with);

/// Sends the body by POST; accepted if answered with 200 to 299.
std::unique_ptr<hook> make_http_hook(http::asio_loop& on, const std::string& url);

/// Runs a program with the environment added to the agent's own; accepted if it ends with status 0.
/// A cancelled call kills it with all its descendants.
std::unique_ptr<hook> make_command_hook(http::asio_loop& on, std::vector<std::string> argv);

/// Writes the body to a file, completely or not at all.
std::unique_ptr<hook> make_file_hook(http::asio_loop& on, std::string path);

/// Removes that file; also accepted if there is none.
std::unique_ptr<hook> make_file_removal(http::asio_loop& on, std::string path);

}  // namespace tenure::workload
