#pragma once

#include <memory>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// `accept_versions` for Kubernetes: an annotation of the election's first Lease.
///
/// Used on its loop only.
class agreements {
 public:
  explicit agreements(shared_state& of) : shared_(of) {}

  void accept_versions(core::election_index which, core::time_point deadline,
                       handler<agree_outcome> done);

 private:
  struct attempt {
    core::election_index which{};
    core::time_point deadline{};
    handler<agree_outcome> done;
    int tries = 0;
    reliance last{};
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void look(const attempt_ptr& a);
  void judge(const attempt_ptr& a);
  void finish(const attempt_ptr& a, agree_outcome outcome);

  shared_state& shared_;
};

}  // namespace tenure::stores::kubernetes
