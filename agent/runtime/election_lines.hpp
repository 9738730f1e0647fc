#pragma once

#include <optional>
#include <string>

#include "core/election.hpp"
#include "runtime/lines.hpp"
#include "runtime/log.hpp"

namespace tenure::runtime {

/// What the log says of one election: each change once, and nothing that a line before has said.
///
/// Knows who held it and since when nobody does. Not thread-safe.
class election_lines {
 public:
  /// The watch shows `seen`; `now` is the instant, `one` has not heard of it yet.
  void observed(log& to, const speaker& who, const core::election& one,
                const core::observation& seen, core::time_point now);

  /// The election has come into another phase. `end`: how what runs is being stopped, if the phase
  /// is draining; its term, reason and heir are filled in here.
  void changed(log& to, const speaker& who, const core::election& one,
               const core::command::transition& what, term_end end, core::time_point now);

  /// The store is asked to release what we hold, which nobody else is granted before `safe_until`.
  void releasing(core::time_point safe_until);
  /// It is not known whether it did.
  void not_released();

 private:
  void say_holders(log& to, const speaker& who, core::phase state, const core::observation& seen);
  void ending(log& to, const speaker& who, const core::election& one,
              const core::command::transition& what, term_end end, core::time_point now);
  void standby(log& to, const speaker& who, const core::election& one,
               const core::command::transition& what, core::time_point now);
  void released(log& to, const speaker& who, const core::command::transition& what,
                core::time_point now);
  [[nodiscard]] std::optional<core::duration> vacant_for(core::time_point now) const;

  core::version held_ = core::no_version;  ///< by us
  std::optional<core::holder> last_;       ///< who was seen to hold it last, ourselves too
  std::optional<core::version> said_;  ///< the holder that the log has named; `no_version`: nobody
  std::optional<core::time_point> vacant_since_;     ///< nobody is active since then
  std::optional<core::time_point> releasing_until_;  ///< ours ends then, if it is not released
  core::time_point expires_at_ = core::never;        ///< by the store's word
};

}  // namespace tenure::runtime
