#pragma once

#include <cstddef>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "stores/consul/shared_state.hpp"

namespace tenure::stores::consul {

/// `renew` for Consul: one renewal of the session for all terms, and at the same time a consistent
/// look at their keys.
///
/// A renewal says nothing about keys, which an operator can release or delete; so it counts only if
/// a transaction has shown, since it was sent, that each key is as we left it. If somebody else has
/// written a key, its election is read: an operator may have changed the number of slots.
///
/// Consul's leader answers a renewal without asking the others. A replaced leader may confirm a
/// renewal that its successor never learns of; decision 33 says why no lease outlives its session
/// even then.
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
    std::set<std::string, std::less<>> dead;   ///< sessions that are gone
    std::vector<core::renewal_item> suspects;  ///< whose keys are not as we left them
    std::size_t unanswered = 0;  ///< renewals and the look that have not been answered
    bool over = false;           ///< it has failed
  };
  using turn_ptr = std::shared_ptr<turn>;

  void kept(const turn_ptr& t, const std::string& session, const kept_or_failure& what);
  void look(const turn_ptr& t, std::vector<core::renewal_item> left);
  void looked_at(const turn_ptr& t, const std::vector<core::renewal_item>& some,
                 const std::vector<std::size_t>& item_of, std::vector<core::renewal_item> left,
                 const transaction_reply& what);
  void look_closer(const turn_ptr& t);
  void lose(const turn_ptr& t, const core::renewal_item& item, const mirror& now);
  void answered(const turn_ptr& t);
  void fail(const turn_ptr& t, unknown why);
  [[nodiscard]] bool ours(const core::renewal_item& item) const;

  shared_state& shared_;
};

}  // namespace tenure::stores::consul
