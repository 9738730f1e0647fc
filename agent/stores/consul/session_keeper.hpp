#pragma once

#include <expected>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/event_loop.hpp"
#include "core/clock.hpp"
#include "stores/consul/cluster.hpp"
#include "stores/consul/codec.hpp"
#include "stores/joined_request.hpp"
#include "stores/store.hpp"

namespace tenure::stores::consul {

/// A session as its last acknowledged creation or renewal left it.
struct kept_session {
  std::string id;
  core::time_point sent_at{};  ///< when that request left
  core::duration ttl{};        ///< as granted, and no more than that of the settings
};

/// Nothing: Consul says that the session is gone. An error: unknown, and why.
using kept_or_failure = std::expected<std::optional<kept_session>, std::string>;

/// A session of ours: one for all elections that are held, made for the first campaign. Another
/// keeper has the one of our places in line.
///
/// A session that no term uses is not renewed unless it is kept ready, and ends by itself within
/// twice its TTL; until then the next campaign may use it. Only `end` destroys one.
///
/// Used on its loop only. Handlers are called through `cluster::call`, never from within the call.
class session_keeper {
 public:
  using session_handler = handler<std::expected<kept_session, unknown>>;

  /// `ttl`: what counts for a session that has none. `ours`: gets the sessions that are made here,
  /// and must outlive it.
  session_keeper(base::event_loop& on, cluster& through, session_wish what, core::duration ttl,
                 std::set<std::string, std::less<>>& ours);

  /// Obtains a session for a campaign that was made or renewed just now. Callers that ask while
  /// one is under way share it, each until its own deadline. One that may not be relied on is left
  /// to end by itself.
  void obtain(core::time_point deadline, session_handler done);

  /// Makes a session now and renews it every half of its TTL, so that a campaign has to write its
  /// lock alone. Until `end` or `close`. Does nothing if sessions have no TTL: one that is left by
  /// an agent that dies would stay for ever.
  void keep_ready();

  /// Renews a session by one request. Also an error if the request was sent when the session was no
  /// longer fresh.
  void keep(const std::string& id, core::time_point deadline, handler<kept_or_failure> done);

  /// True if a renewal of this session can be relied on: it was made or renewed less than its TTL
  /// ago, by our own count, or it is known to have none, as the settings want it. A leader that was
  /// replaced while it stood still answers a renewal that waits for it; the present one may then be
  /// about to end a session that nobody has renewed since (decision 33).
  [[nodiscard]] bool is_fresh(std::string_view id) const;

  /// How long Consul grants what this session has locked to nobody after its end, as far as we
  /// know: that of an earlier run may have been made with other settings.
  [[nodiscard]] core::duration lock_delay_of(std::string_view id) const {
    return made_.contains(id) ? wish_.lock_delay : core::duration::zero();
  }

  /// Called when Consul has said of a session that it is gone, before the handler of that renewal.
  void on_gone(std::function<void(const std::string& id)> what) { on_gone_ = std::move(what); }

  /// The present session is another keeper's from now on; the next call of `obtain` makes one.
  void give_away() { present_.reset(); }
  /// The same, if it is this one.
  void give_away(std::string_view id) {
    if (present_ && present_->id == id) present_.reset();
  }

  /// A session that another keeper has given away is the present one from now on. Precondition: no
  /// term uses the one before, which ends by itself.
  void take(const kept_session& what);

  /// Call when the session is gone: the next campaign gets another one.
  void forget(std::string_view id);

  /// Destroys the session, which holds nothing any more, by the deadline or not at all. `done` is
  /// called in any case.
  void end(core::time_point deadline, std::move_only_function<void()> done);

  void close() {
    ready_.cancel();
    obtained_.close();
  }

 private:
  void ask(core::time_point deadline);
  void make(core::time_point deadline);

  base::event_loop& loop_;
  cluster& cluster_;
  session_wish wish_;
  core::duration ttl_;
  std::set<std::string, std::less<>>& ours_;
  std::optional<kept_session> present_;
  std::set<std::string, std::less<>> made_;     ///< here, and not known to be gone
  std::set<std::string, std::less<>> endless_;  ///< have no TTL by Consul's word
  joined_request<kept_session> obtained_;
  base::timer ready_;
  std::function<void(const std::string& id)> on_gone_;
};

}  // namespace tenure::stores::consul
