#pragma once

#include <memory>

#include "stores/etcd/session.hpp"
#include "stores/store.hpp"

namespace tenure::stores::etcd {

/// Accepts versions that begin anew, for an operator. The transaction compares everything that it
/// relies on, so that no contender and no other operator can come in between.
///
/// Used on the session's executor only.
class agreements {
 public:
  explicit agreements(session& of) : session_(of) {}

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
  void write(const attempt_ptr& a, const mirror& now);
  void written(const attempt_ptr& a, const core::agreement& what, const reply_or_failure& reply);

  session& session_;
};

}  // namespace tenure::stores::etcd
