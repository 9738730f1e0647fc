#pragma once

#include <optional>
#include <string>

#include "core/election.hpp"
#include "log/logger.hpp"
#include "runtime/lines.hpp"

namespace tenure::runtime {

/// The instant of an event, and what the agent knows of the store then.
struct circumstances {
  core::time_point now;
  bool store_answers = true;  ///< if not, the holder is unknown
};

/// The log lines of one election: each change once, and nothing that an earlier line has said.
///
/// Remembers who held the lease. Not thread-safe.
class election_lines {
 public:
  /// The watch shows `seen`; `one` has not got it yet.
  void observed(log::logger& to, const log::speaker& who, const core::election& one,
                const core::observation& seen, const circumstances& at);

  /// The election has entered another phase. `end`: how the workload is being stopped, if the phase
  /// is draining; this function fills in the term, reason and heir. `outage`: see say_active.
  void changed(log::logger& to, const log::speaker& who, const core::election& one,
               const core::command::transition& what, term_end end,
               const std::optional<api::outage>& outage, const circumstances& at);

  /// The store is asked to release our lease, which nobody else can get before `safe_until`.
  void releasing(core::time_point safe_until);
  /// It is unknown whether the store released it.
  void not_released();

 private:
  void say_vanished(log::logger& to, const log::speaker& who, const core::election_view& before,
                    const core::observation& seen, core::time_point now);
  void say_holders(log::logger& to, const log::speaker& who, const core::election_view& view,
                   core::phase state, const core::observation& seen, const circumstances& at);
  void say_passed(log::logger& to, const log::speaker& who, core::phase state,
                  const core::observation& seen, core::time_point now);
  [[nodiscard]] vacancy vacancy_of(core::phase state, const core::observation& seen,
                                   core::time_point now) const;
  void ending(log::logger& to, const log::speaker& who, const core::election& one,
              const core::command::transition& what, term_end end, core::time_point now);
  void standby(log::logger& to, const log::speaker& who, const core::election& one,
               const core::command::transition& what, const circumstances& at);
  void released(log::logger& to, const log::speaker& who, const core::command::transition& what,
                core::time_point now);
  [[nodiscard]] bool ran_out(core::time_point now) const { return last_ && expires_at_ <= now; }

  core::version held_ = core::no_version;  ///< by us
  std::optional<core::holder> last_;       ///< the last holder seen, ourselves included
  std::optional<core::version> said_;  ///< the holder that the log has named; `no_version`: none
  std::optional<core::time_point>
      releasing_until_;  ///< the end of our lease, if the store does not release it
  core::time_point expires_at_ = core::never;  ///< the expiry of `last_`, according to the store
};

}  // namespace tenure::runtime
