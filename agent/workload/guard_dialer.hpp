#pragma once

#include <sys/types.h>

#include <boost/asio/any_io_executor.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "guard/guard_fds.hpp"

namespace tenure::workload {

/// Why there is no connection, for a person.
struct no_guard {
  std::string why;
  bool absent = false;  ///< nobody listens: no guard runs there (yet)
};

/// Finds the guard that waits for an agent in a directory, and goes on trying until there is one.
///
/// Use it on its executor only. No handler is called from inside a call, and none after
/// destruction.
class guard_dialer {
 public:
  /// A connection, which ends the search until the next `start`; or what has come of one try.
  using handler = std::function<void(std::variant<guard::guard_fds, no_guard>)>;

  /// `guard_uid`: the guard may be of this user, beside ours and root.
  guard_dialer(boost::asio::any_io_executor executor, std::string directory,
               std::optional<uid_t> guard_uid, handler outcome);
  ~guard_dialer();
  guard_dialer(const guard_dialer&) = delete;
  guard_dialer& operator=(const guard_dialer&) = delete;

  /// Tries at once, and after each failure again.
  void start();

  /// The same, with a pause before the first try: what was found is of no use.
  void start_later();

 private:
  struct impl;
  std::shared_ptr<impl> self_;
};

}  // namespace tenure::workload
