#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "stores/etcd/session.hpp"

namespace tenure::stores::etcd {

/// `renew` for etcd: one keepalive for all terms, which share a lease, and at the same time a look
/// at their keys.
///
/// A keepalive says nothing about keys, and the revision in its answer is that of the answering
/// server, which may lag for as long as its disk does while the leader renews. So a renewal counts
/// only if a quorum has shown our keys since it was sent, and if the keepalive was not answered in
/// an earlier raft term than the quorum has shown (`session::believe`). The look is one of these:
///
/// - Up to `most_operations` terms: one linearizable read of their keys.
/// - More terms: a linearizable read of one key, which tells how far the quorum is; the watch must
///   reach that revision, and says so when asked for its progress. That is a constant number of
///   requests for any number of terms. It needs an etcd whose progress answers keep their order
///   among the events (`progress_keeps_order`).
/// - If the watch moves to another endpoint meanwhile, or does not answer in half of the time, and
///   also the next time after that: reads of `most_operations` keys each.
///
/// A loss is etcd's own word, so it needs no second witness: it is told as soon as either shows it,
/// even if the other fails.
///
/// Used on the session's loop only.
class renewals {
 public:
  explicit renewals(session& of) : session_(of) {}

  void renew(std::vector<core::renewal_item> items, core::time_point deadline,
             handler<renew_outcome> done);

 private:
  struct turn {
    std::vector<core::renewal_item> items;
    core::time_point deadline{};
    handler<renew_outcome> done;
    renewal so_far;
    std::vector<kept_lease> kept;                            ///< leases that were renewed
    std::set<std::int64_t> dead;                             ///< leases that are gone
    std::map<core::election_index, core::loss_reason> lost;  ///< by what keys show
    quorum_view by;                         ///< the one with the latest raft term among its reads
    std::size_t unanswered = 0;             ///< keepalives and the look that have not been answered
    std::unique_ptr<base::timer> patience;  ///< with the watch's answer
    bool over = false;                      ///< it has been answered
  };
  using turn_ptr = std::shared_ptr<turn>;

  void kept(const turn_ptr& t, std::int64_t lease, const kept_or_failure& what);
  void look(const turn_ptr& t);
  void read_keys(const turn_ptr& t, std::size_t first);
  void follow_watch(const turn_ptr& t, const core::renewal_item& any);
  void watch_got_there(const turn_ptr& t);
  void read(const turn_ptr& t, const std::vector<core::renewal_item>& some,
            std::move_only_function<void(const reads&)> then);
  void answered(const turn_ptr& t);
  void tell_losses(const turn_ptr& t);
  void fail(const turn_ptr& t, unknown why);
  void finish(const turn_ptr& t, std::optional<std::string> why_unanswered);
  [[nodiscard]] bool ours(const core::renewal_item& item) const;
  [[nodiscard]] core::loss_reason why_gone(core::election_index which) const;
  [[nodiscard]] std::optional<core::loss_reason> loss_of(const turn& t,
                                                         const core::renewal_item& item) const;

  session& session_;
  bool watch_is_asked_ = false;  ///< asked for its progress, and has not answered
};

}  // namespace tenure::stores::etcd
