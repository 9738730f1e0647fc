#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <expected>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "guard/guard_fds.hpp"

namespace tenure::workload {

/// Why there is no connection, for people.
struct no_guard {
  std::string why;
  bool absent = false;  ///< nobody listens: no guard runs there yet
};

/// Does a guard listen in this directory, and may we talk to it? The guard notices nothing, so that
/// its agent goes on. `guard_uid`: as below.
std::expected<void, no_guard> look_for_guard(const std::string& directory,
                                             std::optional<uid_t> guard_uid);

/// Connects to the guard in a directory, and keeps trying until there is one.
///
/// Use it on its executor only. No handler is called from inside a call, and none after
/// destruction.
class guard_dialer {
 public:
  /// Receives a connection, which ends the search until the next `start`, or why one try failed.
  using handler = std::function<void(std::variant<guard::guard_fds, no_guard>)>;

  /// `guard_uid`: a user that the guard may run as, besides ours and root; none: in a meeting place
  /// (guard/meeting_place.hpp) the user of the guard that came first.
  guard_dialer(boost::asio::any_io_executor executor, std::string directory,
               std::optional<uid_t> guard_uid, handler outcome);
  ~guard_dialer();
  guard_dialer(const guard_dialer&) = delete;
  guard_dialer& operator=(const guard_dialer&) = delete;

  /// Tries at once, and again after each failure.
  void start();

  /// The same, with a pause before the first try, because the guard that was found is unusable.
  void start_later();

 private:
  struct impl;
  std::shared_ptr<impl> self_;
};

}  // namespace tenure::workload
