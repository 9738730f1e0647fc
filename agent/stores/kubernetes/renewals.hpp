#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "stores/kubernetes/shared_state.hpp"

namespace tenure::stores::kubernetes {

/// `renew` for Kubernetes: one write for each term. It relies on all that its Lease says; so a
/// renewal that succeeds shows that nobody else has held since the last one. A Lease that somebody
/// has written is read: only what is still our term is renewed.
///
/// A term whose write fails is unanswered, and the others are renewed. A loss is told at once, even
/// if others have no answer yet.
///
/// A Lease that lasts longer than our ttl is shortened by the second renewal of a term, see
/// `held_term::is_renewed`.
///
/// Used on its loop only.
class renewals {
 public:
  explicit renewals(shared_state& of) : shared_(of) {}

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done);

 private:
  struct turn {
    std::vector<core::renewal_item> items;
    core::time_point deadline{};
    handler<renew_outcome> done;
    renewal so_far;
    std::size_t under_way = 0;  ///< terms whose outcome has not come yet
    std::vector<core::renewal_item> renewed{};
    std::map<std::size_t, reliance> last{};  ///< by election
    bool over = false;                       ///< it has been answered
    std::optional<base::timer> patience{};   ///< a loss waits so long for the answers of others
  };
  using turn_ptr = std::shared_ptr<turn>;

  void renew_one(const turn_ptr& t, const core::renewal_item& item, int tries);
  void look(const turn_ptr& t, const core::renewal_item& item, int tries);
  void lose(const turn_ptr& t, const core::renewal_item& item);
  void fail(const turn_ptr& t, const core::renewal_item& item, std::string why);
  void ended(const turn_ptr& t);
  void finish(const turn_ptr& t);
  [[nodiscard]] const lease_object* own_lease(const core::renewal_item& item);

  shared_state& shared_;
};

}  // namespace tenure::stores::kubernetes
