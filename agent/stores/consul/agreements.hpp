#pragma once

#include <memory>

#include "stores/consul/shared_state.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// Changes an election's agreement for an operator.
///
/// How many may hold is what the lock key is: a lock for one, or a semaphore with its limit. A
/// change between these two moves the term of a holder, in one transaction: its session holds on
/// without a gap, and its key says which version it has.
///
/// Used on its loop only.
class agreements {
 public:
  explicit agreements(shared_state& of) : shared_(of) {}

  void agree(core::election_index which, agreement_change what, core::time_point deadline,
             handler<agree_outcome> done);

 private:
  struct attempt {
    core::election_index which{};
    agreement_change what;
    core::time_point deadline{};
    handler<agree_outcome> done;
    int tries = 0;
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void look(const attempt_ptr& a);
  void change(const attempt_ptr& a, const mirror& now);
  void finish(const attempt_ptr& a, agree_outcome outcome);

  shared_state& shared_;
};

}  // namespace tenure::stores::consul
