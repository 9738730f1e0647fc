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

void keep_lease(cluster& through, std::int64_t lease, core::time_point deadline,
                handler<kept_or_failure> done) {
  through.call(
      keep_alive_path, keep_alive_request(lease), deadline,
      [&through, lease, done = std::move(done)](reply_or_failure what) mutable {
        if (!what && what.error().meaning != error_meaning::lease_gone) {
          return done(std::unexpected(std::move(what.error().why)));
        }
        const parsed<keep_alive_reply> reply =
            what ? parse_keep_alive(what->body) : keep_alive_reply{.header = {}, .id = lease};
        if (!reply || reply->id != lease) {
          return done(
              std::unexpected(through.present() + ": " +
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

void make_lease(cluster& through, std::int64_t lease, core::duration ttl, core::time_point deadline,
                handler<std::expected<kept_lease, unknown>> done, priority as) {
  through.call(
      grant_path, grant_request(whole_seconds(ttl), lease), deadline,
      [&through, lease, deadline, done = std::move(done)](const reply_or_failure& what) mutable {
        if (!what && what.error().meaning == error_meaning::lease_exists) {
          return keep_lease(
              through, lease, deadline,
              [done = std::move(done)](const kept_or_failure& kept) mutable {
                if (kept && kept->has_value()) return done(**kept);
                done(std::unexpected(unknown{kept ? "a lease ended at once" : kept.error()}));
              });
        }
        if (!what) return done(std::unexpected(unknown{what.error().why}));
        const auto made = parse_grant(what->body);
        if (!made || made->id != lease) {
          return done(std::unexpected(
              unknown{through.present() + ": " +
                      (made ? "another lease than ours was granted" : made.error().why)}));
        }
        done(kept_lease{
            .id = lease, .sent_at = what->sent_at, .ttl = std::chrono::seconds(made->ttl_seconds)});
      },
      as);
}

lease_keeper::lease_keeper(base::event_loop& on, cluster& through, lease_ids& ids,
                           core::duration ttl)
    : loop_(on),
      cluster_(through),
      ids_(ids),
      ttl_(ttl),
      obtained_(on, [this](core::time_point deadline) { ask(deadline); }) {}

void lease_keeper::obtain(core::time_point deadline, lease_handler done) {
  const core::time_point now = loop_.now();
  if (present_ && !doubted_ && now - present_->sent_at < present_->ttl / fresh_part) {
    return done(*present_);
  }
  obtained_.join(deadline, std::move(done));
}

void lease_keeper::ask(core::time_point deadline) {
  if (!present_ || loop_.now() - present_->sent_at >= present_->ttl) return make(deadline);
  keep(present_->id, deadline, [this, deadline](const kept_or_failure& what) {
    if (!what) return obtained_.answer(std::unexpected(unknown{what.error()}));
    what->has_value() ? obtained_.answer(**what) : make(deadline);
  });
}

void lease_keeper::make(core::time_point deadline) {
  make_lease(
      cluster_, ids_.next(), ttl_, deadline,
      [this](const std::expected<kept_lease, unknown>& made) {
        if (made) {
          present_ = *made;
          doubted_ = false;
        }
        obtained_.answer(made);
      },
      priority::urgent);
}

void lease_keeper::keep(std::int64_t lease, core::time_point deadline,
                        handler<kept_or_failure> done) {
  keep_lease(cluster_, lease, deadline,
             [this, lease, done = std::move(done)](kept_or_failure what) mutable {
               if (what && !*what) forget(lease);
               // A lease left by an earlier run of this agent serves as well.
               if (what && *what && (!present_ || present_->id == lease)) {
                 present_ = **what;
                 doubted_ = false;
               }
               done(std::move(what));
             });
}

void lease_keeper::doubt(std::int64_t lease) {
  if (present_ && present_->id == lease) doubted_ = true;
}

void lease_keeper::forget(std::int64_t lease) {
  if (present_ && present_->id == lease) present_.reset();
}

}  // namespace tenure::stores::etcd
