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

/// What the workload is told.
struct hook_order {
  std::string body;                      ///< one line of JSON
  std::vector<std::string> environment;  ///< the same, as "KEY=VALUE"
};

/// Why it may not have been told.
struct hook_failure {
  std::string why;        ///< for a person; no secret
  bool in_doubt = false;  ///< it may have been told, or may yet hear of it
};

/// One way to tell a workload something that the agent does not run itself.
///
/// Nothing here waits. Used on its loop only. No handler is called from inside a call, and none
/// after `cancel` or destruction.
class hook {
 public:
  using handler = std::function<void(std::optional<hook_failure>)>;

  virtual ~hook() = default;

  /// Tells it. `done` is called once, with nothing if the workload has taken it in, and by `until`
  /// where that is the way's own to see to. Precondition: the call before has ended.
  virtual void call(const hook_order& what, core::time_point until, handler done) = 0;

  /// Gives the call up. It may have been taken in.
  virtual void cancel() = 0;

  /// True if nothing of a call that was given up is at work here any more. Otherwise `then` is
  /// called once, when that is so: what a killed program still does must not come after what the
  /// next one has done.
  virtual bool settled(std::function<void()> then) = 0;

  /// For the log: "POST http://127.0.0.1:8080/active". No secret is in it.
  [[nodiscard]] virtual const std::string& subject() const = 0;
};

/// All ways that are configured; null or empty: there is no such.
struct hooks {
  std::vector<std::unique_ptr<hook>> gain;  ///< in the order in which they are called
  std::unique_ptr<hook> removal;            ///< of the file of `gain`
  std::unique_ptr<hook> stop_http;
  std::unique_ptr<hook> stop_command;
};
hooks make_hooks(http::asio_loop& on, const settings::hooks& with);

/// POST of the body; taken in if answered with 200 to 299.
std::unique_ptr<hook> make_http_hook(http::asio_loop& on, const std::string& url);

/// A program with the environment on top of the agent's own; taken in if it ends with status 0. All
/// of it is killed when the call is given up.
std::unique_ptr<hook> make_command_hook(http::asio_loop& on, std::vector<std::string> argv);

/// The body as a file, written whole or not at all.
std::unique_ptr<hook> make_file_hook(http::asio_loop& on, std::string path);

/// The end of that file; taken in also if there is none.
std::unique_ptr<hook> make_file_removal(http::asio_loop& on, std::string path);

}  // namespace tenure::workload
