#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// `agree` for Kubernetes: closes the slots that will no longer be open, one by one, and then
/// writes the first Lease of the election, which says what is agreed (open_slots.hpp).
///
/// All these writes rely on one look at the election. Where a Lease has changed since, a member may
/// have taken the slot: the write fails, and everything is looked at again.
///
/// Used on its loop only.
class agreements {
 public:
  explicit agreements(shared_state& of) : shared_(of) {}

  void agree(core::election_index which, agreement_change what, core::time_point deadline,
             handler<agree_outcome> done);

 private:
  /// A Lease as the look has shown it.
  struct seen_lease {
    std::string name;
    std::optional<lease_object> lease{};  ///< nothing: there was none
  };
  struct attempt {
    core::election_index which{};
    agreement_change what;
    core::time_point deadline{};
    handler<agree_outcome> done;
    int tries = 0;
    reliance last{};
    core::agreement next{};
    open_slots open{};
    bool is_resized = false;
    seen_lease first{};
    std::vector<seen_lease> to_close{};  ///< but not slot 0, whose Lease is written last
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void look(const attempt_ptr& a);
  void judge(const attempt_ptr& a);
  void close_next(const attempt_ptr& a);
  void write_first(const attempt_ptr& a);
  [[nodiscard]] seen_lease seen(const attempt_ptr& a, std::uint32_t slot);
  void write(const attempt_ptr& a, const seen_lease& before, const note_change& notes,
             void (agreements::*then)(const attempt_ptr&));
  void agreed(const attempt_ptr& a) { finish(a, a->next); }
  void finish(const attempt_ptr& a, agree_outcome outcome);

  shared_state& shared_;
};

}  // namespace tenure::stores::kubernetes
