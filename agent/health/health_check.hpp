#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/clock.hpp"
#include "http/asio_loop.hpp"
#include "settings/agent.hpp"

namespace tenure::health {

/// One way to find out whether the workload is well.
///
/// Nothing here waits: a check takes place in another process, or between turns of the loop. Used
/// on its loop only. No handler is called from inside a call, and none after destruction.
class health_check {
 public:
  /// What failed, and against what, in one line for a person; nothing if the workload is well.
  using verdict = std::optional<std::string>;
  using handler = std::function<void(verdict)>;

  virtual ~health_check() = default;

  /// Begins one. `done` is called once, within `limit` or a moment later, unless `cancel` is
  /// called before. Precondition: the one before has called its handler, or was cancelled.
  virtual void begin(core::duration limit, handler done) = 0;

  /// Nobody wants to know any more.
  virtual void cancel() = 0;

  /// What it does, for the log: "GET http://127.0.0.1:8080/healthz". No secret is in it.
  [[nodiscard]] virtual const std::string& subject() const = 0;
};

/// The checks that are configured, in the order of the settings.
std::vector<std::unique_ptr<health_check>> make_health_checks(http::asio_loop& on,
                                                              const settings::health& with);

/// GET of a URL that `config` has accepted. A new connection for each check, so that what is
/// checked includes that the workload accepts one.
std::unique_ptr<health_check> make_http_check(http::asio_loop& on, const std::string& url);

/// Exit status 0 of a program. All of it is killed when its time is over.
std::unique_ptr<health_check> make_command_check(http::asio_loop& on,
                                                 std::vector<std::string> argv);

/// A file is there, and was modified no longer than `most_age` ago if that is given. Its time is
/// the wall clock's, and one in the future counts as now.
std::unique_ptr<health_check> make_file_check(http::asio_loop& on, std::string path,
                                              std::optional<core::duration> most_age);

}  // namespace tenure::health
