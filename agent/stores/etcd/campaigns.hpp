#pragma once

#include <boost/asio/steady_timer.hpp>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/etcd/session.hpp"

namespace tenure::stores::etcd {

/// `acquire`, as it goes with etcd.
///
/// A contender's key is written only where it holds at once, so that whoever waits needs no lease
/// and sends nothing. Lease and key are asked for at the same time, the lease a moment before.
/// Of many campaigns some are under way, and the others wait in turn.
///
/// Used on the session's executor only.
class campaigns {
 public:
  explicit campaigns(session& of)
      : session_(of), first_begin_by_(of.executor), unsighted_(of.with.elections.size()) {}

  void acquire(core::election_index which, core::time_point deadline,
               handler<acquire_outcome> done);

  /// The mirror of an election has changed.
  void changed(core::election_index which);

  void close();

 private:
  struct attempt {
    core::election_index which{};
    core::time_point deadline{};
    core::time_point begin_by{};  ///< half of its time is for waiting its turn, half for etcd
    handler<acquire_outcome> done;
    int tries = 0;
    bool lease_was_confirmed = false;  ///< when the last try was sent
    std::optional<boost::asio::steady_timer> head_start{};
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  /// A grant that waits for its own event, which proves that nothing before it was missed.
  struct unsighted {
    grant what;
    handler<acquire_outcome> done;
    std::unique_ptr<boost::asio::steady_timer> timer;
  };

  void begin(const attempt_ptr& a);
  void begin_next();
  void expire_waiting();
  void look_first(const attempt_ptr& a);
  void judge(const attempt_ptr& a, const mirror& now);
  /// `newest`: the largest create_revision that was seen there; nobody may have come since.
  void campaign(const attempt_ptr& a, std::uint64_t newest);
  void ask_for_key(const attempt_ptr& a, std::int64_t lease, std::uint64_t newest);
  void campaigned(const attempt_ptr& a, std::int64_t lease, std::uint64_t newest,
                  const reply_or_failure& what);
  void without_lease(const attempt_ptr& a, std::int64_t lease, std::uint64_t newest);
  void adopt(const attempt_ptr& a, const contender& own);
  void won(const attempt_ptr& a, const contender& own, const kept_lease& kept);
  void sighted(core::election_index which);
  void fail(const attempt_ptr& a, std::string why);
  void finish(const attempt_ptr& a, acquire_outcome outcome);
  void ended();

  session& session_;
  std::deque<attempt_ptr> waiting_;  ///< not begun; in the order in which they came
  boost::asio::steady_timer first_begin_by_;
  std::vector<std::optional<unsighted>> unsighted_;
};

}  // namespace tenure::stores::etcd
