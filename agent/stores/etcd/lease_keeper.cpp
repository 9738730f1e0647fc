#include "stores/etcd/lease_keeper.hpp"

#include <utility>

#include "stores/etcd/codec.hpp"
#include "stores/etcd/requests.hpp"

namespace tenure::stores::etcd {
namespace {

/// A lease renewed less than this part of its TTL ago need not be renewed for a campaign: thousands
/// of campaigns then cost one request.
constexpr int fresh_part = 6;

std::int64_t whole_seconds(core::duration ttl) {
  return std::chrono::ceil<std::chrono::seconds>(ttl).count();
}

}  // namespace

lease_keeper::lease_keeper(base::event_loop& on, cluster& through, lease_ids& ids,
                           core::duration ttl)
    : loop_(on), cluster_(through), ids_(ids), ttl_(ttl) {}

void lease_keeper::obtain(core::time_point deadline, lease_handler done) {
  const core::time_point now = loop_.now();
  if (present_ && !doubted_ && now - present_->sent_at < present_->ttl / fresh_part) {
    return done(*present_);
  }
  waiting_.push_back(std::move(done));
  if (waiting_.size() > 1) return;
  if (!present_ || now - present_->sent_at >= present_->ttl) return make(deadline);
  keep(present_->id, deadline, [this, deadline](const kept_or_failure& what) {
    if (!what) return answer(std::unexpected(unknown{what.error()}));
    what->has_value() ? answer(**what) : make(deadline);
  });
}

void lease_keeper::make(core::time_point deadline) {
  const std::int64_t lease = ids_.next();
  cluster_.call(
      grant_path, grant_request(whole_seconds(ttl_), lease), deadline,
      [this, lease, deadline](reply_or_failure what) { made(lease, deadline, std::move(what)); },
      priority::urgent);
}

void lease_keeper::made(std::int64_t lease, core::time_point deadline, reply_or_failure what) {
  if (!what && what.error().meaning == error_meaning::lease_exists) {
    // An earlier try of ours, whose reply was lost, made the lease. A keepalive tells its TTL.
    return keep(lease, deadline, [this](const kept_or_failure& kept) {
      if (kept && kept->has_value()) return answer(**kept);
      answer(std::unexpected(unknown{kept ? "a lease ended at once" : kept.error()}));
    });
  }
  if (!what) return answer(std::unexpected(unknown{std::move(what.error().why)}));
  const auto parsed = parse_grant(what->body);
  if (!parsed || parsed->id != lease) {
    return answer(std::unexpected(
        unknown{cluster_.present() + ": " +
                (parsed ? "another lease than ours was granted" : parsed.error().why)}));
  }
  present_ = {
      .id = lease, .sent_at = what->sent_at, .ttl = std::chrono::seconds(parsed->ttl_seconds)};
  doubted_ = false;
  answer(*present_);
}

void lease_keeper::answer(const std::expected<kept_lease, unknown>& outcome) {
  for (lease_handler& done : std::exchange(waiting_, {})) done(outcome);
}

void lease_keeper::keep(std::int64_t lease, core::time_point deadline,
                        handler<kept_or_failure> done) {
  prolong(lease, deadline, [this, lease, done = std::move(done)](kept_or_failure what) mutable {
    if (what && !*what) forget(lease);
    // A lease left by an earlier run of this agent serves as well.
    if (what && *what && (!present_ || present_->id == lease)) {
      present_ = **what;
      doubted_ = false;
    }
    done(std::move(what));
  });
}

void lease_keeper::prolong(std::int64_t lease, core::time_point deadline,
                           handler<kept_or_failure> done) {
  cluster_.call(
      keep_alive_path, keep_alive_request(lease), deadline,
      [this, lease, done = std::move(done)](reply_or_failure what) mutable {
        if (!what && what.error().meaning != error_meaning::lease_gone) {
          return done(std::unexpected(std::move(what.error().why)));
        }
        const parsed<keep_alive_reply> reply =
            what ? parse_keep_alive(what->body) : keep_alive_reply{.header = {}, .id = lease};
        if (!reply || reply->id != lease) {
          return done(
              std::unexpected(cluster_.present() + ": " +
                              (reply ? "another lease than ours was renewed" : reply.error().why)));
        }
        if (reply->ttl_seconds == 0) return done(std::optional<kept_lease>());
        done(std::optional(kept_lease{.id = lease,
                                      .sent_at = what->sent_at,
                                      .ttl = std::chrono::seconds(reply->ttl_seconds),
                                      .raft_term = reply->header.raft_term}));
      },
      priority::urgent);
}

void lease_keeper::doubt(std::int64_t lease) {
  if (present_ && present_->id == lease) doubted_ = true;
}

void lease_keeper::forget(std::int64_t lease) {
  if (present_ && present_->id == lease) present_.reset();
}

}  // namespace tenure::stores::etcd
