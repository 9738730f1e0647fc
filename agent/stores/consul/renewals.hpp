#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <optional>
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
/// A loss is told as soon as it is known, even if other answers are still awaited. Consul's
/// lock-delay leaves a term room only if both answers say so: the session is gone, and its end is
/// what happened to the lock key. It does not protect a key that was released or deleted before,
/// nor a semaphore.
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

  /// Consul says that this session is gone, in answer to anybody's request: a renewal under way
  /// need not wait for its own answer.
  void session_is_gone(const std::string& id);

 private:
  /// What a read has shown of a term that is over.
  struct loss {
    core::loss_reason why = core::loss_reason::revoked;
    bool ended_with_session = false;  ///< if that is gone, its end is what happened to the lock key
  };
  struct turn {
    std::vector<core::renewal_item> items;
    core::time_point deadline{};
    handler<renew_outcome> done;
    renewal so_far;
    std::set<std::string, std::less<>> dead;    ///< sessions that are gone
    std::map<core::election_index, loss> lost;  ///< by what keys show
    std::vector<core::renewal_item> suspects;   ///< whose keys are not as we left them
    std::size_t unanswered = 0;  ///< renewals and the look that have not been answered
    bool over = false;           ///< it has been answered
    std::string why_unanswered = "another term's loss was told before the rest was answered";
    std::optional<base::timer> patience{};  ///< with an answer that may show room
  };
  using turn_ptr = std::shared_ptr<turn>;

  void kept(const turn_ptr& t, const std::string& session, const kept_or_failure& what);
  void look(const turn_ptr& t, std::vector<core::renewal_item> left);
  void looked_at(const turn_ptr& t, const std::vector<core::renewal_item>& some,
                 const std::vector<std::size_t>& item_of, std::vector<core::renewal_item> left,
                 const transaction_reply& what);
  void look_closer(const turn_ptr& t);
  void note_loss(const turn_ptr& t, const core::renewal_item& item, const mirror& now);
  void answered(const turn_ptr& t);
  void tell_losses(const turn_ptr& t);
  void fail(const turn_ptr& t, unknown why);
  void finish(const turn_ptr& t);
  [[nodiscard]] bool ours(const core::renewal_item& item) const;
  [[nodiscard]] bool is_dead(const turn& t, const core::renewal_item& item) const;
  [[nodiscard]] bool was_taken_before(core::election_index which, core::loss_reason seen) const;
  [[nodiscard]] bool may_have_room(const turn& t, const core::renewal_item& item) const;
  [[nodiscard]] std::optional<core::renewal_loss> loss_of(const turn& t,
                                                          const core::renewal_item& item) const;

  shared_state& shared_;
  std::weak_ptr<turn> newest_;
};

}  // namespace tenure::stores::consul
