#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/clock.hpp"
#include "core/vocabulary.hpp"

namespace tenure::kube {

/// What an Event says.
struct event_note {
  std::string_view action;  ///< "Gain" or "Lose"
  std::string reason;       ///< in CamelCase, for programs
  bool is_warning = false;
  std::string note;  ///< for people
};

/// The object that an Event is about.
struct event_subject {
  std::string_view api_version;
  std::string_view kind;
  std::string name_space;
  std::string name;
  std::string uid{};  ///< empty: not known, and `kubectl describe` does not find the Event
};

/// This member is active; `goes_on`: with the workload of an agent that has ended.
event_note gain_of(std::string_view election, core::version version, bool goes_on);

/// Its term ends.
event_note loss_of(std::string_view election, core::version version, core::loss_reason why);

/// Limits how many Events are written: some at once, then one from time to time. An election that
/// flaps must not fill etcd.
class event_limit {
 public:
  static constexpr std::uint32_t at_once = 20;
  static constexpr core::duration then_one_in = std::chrono::seconds(10);

  /// How many were left out since the last one; nothing if this one is left out, too.
  std::optional<std::uint32_t> let_through(core::time_point now);
  /// One is left out for another reason.
  void leave_out() { ++left_out_; }

 private:
  std::uint32_t left_ = at_once;
  core::time_point counted_until_{};
  std::uint32_t left_out_ = 0;
};

}  // namespace tenure::kube
