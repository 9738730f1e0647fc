#pragma once

#include <memory>

#include "stores/consul/shared_state.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// Changes an election's agreement for an operator.
///
/// The lock key says how many may hold: a lock means one, a semaphore has a limit. A change between
/// these two moves the holder's term in one transaction: its session holds without a gap, and its
/// key says which version the term has.
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
