#pragma once

#include <memory>

#include "stores/consul/shared_state.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// Accepts versions that begin anew, for an operator.
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
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  void look(const attempt_ptr& a);
  void change(const attempt_ptr& a, const mirror& now);
  void finish(const attempt_ptr& a, agree_outcome outcome);

  shared_state& shared_;
};

}  // namespace tenure::stores::consul
