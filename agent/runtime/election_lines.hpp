#pragma once

#include <optional>
#include <string>

#include "core/election.hpp"
#include "log/logger.hpp"
#include "runtime/lines.hpp"

namespace tenure::runtime {

/// When something happens, and what the agent knows of the store by then.
struct circumstances {
  core::time_point now;
  bool store_answers = true;  ///< it does what it is asked; else who holds is not known
};

/// What the log says of one election: each change once, and nothing that a line before has said.
///
/// Knows who held it and since when nobody does. Not thread-safe.
class election_lines {
 public:
  /// The watch shows `seen`; `one` has not heard of it yet.
  void observed(log::logger& to, const log::speaker& who, const core::election& one,
                const core::observation& seen, const circumstances& at);

  /// The election has come into another phase. `end`: how what runs is being stopped, if the phase
  /// is draining; its term, reason and heir are filled in here.
  void changed(log::logger& to, const log::speaker& who, const core::election& one,
               const core::command::transition& what, term_end end, const circumstances& at);

  /// The store is asked to release what we hold, which nobody else is granted before `safe_until`.
  void releasing(core::time_point safe_until);
  /// It is not known whether it did.
  void not_released();

 private:
  /// Since when nobody holds it.
  struct gap {
    core::time_point since;
    std::string lease_of{};  ///< whose lease ended then, though not by a release; or empty
  };
  void note_vacancy(const core::observation& seen, core::time_point now);
  void say_holders(log::logger& to, const log::speaker& who, const core::election_view& view,
                   core::phase state, const core::observation& seen, const circumstances& at);
  [[nodiscard]] vacancy vacancy_of(core::phase state, const core::observation& seen,
                                   core::time_point now) const;
  void ending(log::logger& to, const log::speaker& who, const core::election& one,
              const core::command::transition& what, term_end end, core::time_point now);
  void standby(log::logger& to, const log::speaker& who, const core::election& one,
               const core::command::transition& what, const circumstances& at);
  void released(log::logger& to, const log::speaker& who, const core::command::transition& what,
                core::time_point now);
  [[nodiscard]] bool ran_out(core::time_point now) const { return last_ && expires_at_ <= now; }
  [[nodiscard]] std::optional<wait_for_holder> vacant_for(core::time_point now) const;

  core::version held_ = core::no_version;  ///< by us
  std::optional<core::holder> last_;       ///< who was seen to hold it last, ourselves too
  std::optional<core::version> said_;  ///< the holder that the log has named; `no_version`: nobody
  std::optional<gap> vacant_;          ///< nobody holds it
  std::optional<core::time_point> releasing_until_;  ///< ours ends then, if it is not released
  core::time_point expires_at_ = core::never;        ///< that of `last_`, by the store's word
};

}  // namespace tenure::runtime
