#pragma once

#include <memory>
#include <optional>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// `release` and `end_term` for Kubernetes: one write that frees the Lease, as client-go does with
/// `ReleaseOnCancel`, and leaves a note. It relies on all that the Lease says, so a late one
/// touches no later term.
///
/// Used on its loop only.
class releases {
 public:
  explicit releases(shared_state& of) : shared_(of) {}

  void release(core::election_index which, core::version version, const release_details& how,
               core::time_point deadline, handler<release_outcome> done);
  void end_term(core::election_index which, const core::holder& whose, const release_details& how,
                core::time_point deadline, handler<release_outcome> done);

 private:
  struct attempt {
    core::election_index which{};
    core::version version = core::no_version;  ///< `no_version`: any term of ours
    std::optional<core::holder> whose{};       ///< another member's term; nothing: ours
    std::optional<release_details> how{};      ///< nothing: no record is left
    core::time_point deadline{};
    handler<release_outcome> done;
    int tries = 0;
    reliance last{};
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  std::optional<slot_holder> find(const attempt& a);
  void look(const attempt_ptr& a);
  void give_up(const attempt_ptr& a, const slot_holder& its);
  void finish(const attempt_ptr& a, release_outcome outcome);

  shared_state& shared_;
};

}  // namespace tenure::stores::kubernetes
