#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "stores/etcd/session.hpp"

namespace tenure::stores::etcd {

/// `acquire` for etcd.
///
/// An agent writes a contender's key only when that would hold at once, so a standby needs no lease
/// and sends nothing. A campaign obtains the lease first, then writes the key. Only some of many
/// campaigns are under way at a time; the others wait their turn.
///
/// Used on the session's loop only.
class campaigns {
 public:
  explicit campaigns(session& of)
      : session_(of), first_begin_by_(of.loop), unconfirmed_(of.with.elections.size()) {}

  void acquire(core::election_index which, core::time_point deadline,
               handler<acquire_outcome> done);

  /// The mirror of this election has changed.
  void changed(core::election_index which);

  void close();

 private:
  struct attempt {
    core::election_index which{};
    core::time_point deadline{};
    core::time_point begin_by{};  ///< half of the time is for waiting its turn, half for etcd
    handler<acquire_outcome> done;
    int tries = 0;
  };
  using attempt_ptr = std::shared_ptr<attempt>;

  /// A grant that waits for its own event, which proves that the watch missed nothing before it.
  struct unconfirmed_grant {
    grant what;
    handler<acquire_outcome> done;
    std::unique_ptr<base::timer> timer;
  };

  void begin(const attempt_ptr& a);
  void begin_next();
  void expire_waiting();
  void look_first(const attempt_ptr& a);
  void confirm(const attempt_ptr& a, const contender& own);
  void drop(const attempt_ptr& a, const contender& own);
  [[nodiscard]] bool is_doubtful(const attempt_ptr& a, const contender& own) const;
  void judge(const attempt_ptr& a, const looked& now);
  void campaign(const attempt_ptr& a, basis on);
  void ask_for_key(const attempt_ptr& a, const kept_lease& lease, const basis& on);
  void campaigned(const attempt_ptr& a, const kept_lease& lease, const basis& on,
                  const reply_or_failure& what);
  void adopt(const attempt_ptr& a, const contender& own, const looked& now);
  void take_up(const attempt_ptr& a, const contender& own, bool by_word, const kept_lease& kept);
  void won(const attempt_ptr& a, const contender& own, const kept_lease& kept);
  void own_event_seen(core::election_index which);
  void fail(const attempt_ptr& a, std::string why);
  void finish(const attempt_ptr& a, acquire_outcome outcome);
  void ended();

  session& session_;
  std::size_t under_way_ = 0;
  std::deque<attempt_ptr> waiting_;  ///< not begun yet, in order of arrival
  base::timer first_begin_by_;
  std::vector<std::optional<unconfirmed_grant>> unconfirmed_;
};

}  // namespace tenure::stores::etcd
