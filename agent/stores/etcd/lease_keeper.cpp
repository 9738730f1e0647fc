#include "stores/etcd/lease_keeper.hpp"

#include <algorithm>
#include <boost/asio/post.hpp>
#include <utility>

#include "os/boot_time.hpp"
#include "stores/etcd/codec.hpp"
#include "stores/etcd/requests.hpp"

namespace tenure::stores::etcd {
namespace {

/// Much longer than a hand-over, much shorter than a TTL.
constexpr core::duration revoke_after = std::chrono::seconds(1);
constexpr core::duration revoke_patience = std::chrono::seconds(3);
/// Older ones have ended by themselves long ago.
constexpr std::size_t most_given_up = 64;

bool contains(const std::vector<std::int64_t>& all, std::int64_t one) {
  return std::ranges::find(all, one) != all.end();
}

kept_lease as_kept(const reply_header& header, core::time_point sent_at, std::int64_t ttl_seconds) {
  return {.sent_at = sent_at,
          .ttl = std::chrono::seconds(ttl_seconds),
          .revision = header.revision,
          .raft_term = header.raft_term};
}

}  // namespace

lease_keeper::lease_keeper(boost::asio::any_io_executor where, cluster& through,
                           std::int64_t ttl_seconds)
    : executor_(std::move(where)),
      cluster_(through),
      ttl_seconds_(ttl_seconds),
      revoking_(executor_) {}

std::int64_t lease_keeper::ensure(lease_ids& ids, core::time_point deadline) {
  if (present_) return *present_;
  const std::int64_t lease = ids.next();
  present_ = lease;
  leases_[lease];
  cluster_.call(
      grant_path, grant_request(ttl_seconds_, lease), deadline,
      [this, lease, deadline](reply_or_failure what) { granted(lease, deadline, std::move(what)); },
      priority::urgent);
  return lease;
}

void lease_keeper::granted(std::int64_t lease, core::time_point deadline, reply_or_failure what) {
  if (!what && what.error().meaning == error_meaning::lease_exists) {
    // A try of ours that was not answered has made it. A keepalive tells for how long.
    return keep(lease, deadline, [this, lease](kept_or_failure kept) {
      if (kept && kept->has_value()) return settle(lease, **kept);
      settle(lease, std::unexpected(unknown{kept ? "a lease ended at once" : kept.error()}));
    });
  }
  if (!what) return settle(lease, std::unexpected(unknown{std::move(what.error().why)}));
  const auto parsed = parse_grant(what->body);
  if (!parsed || parsed->id != lease) {
    return settle(lease, std::unexpected(unknown{cluster_.present() + ": " +
                                                 (parsed ? "another lease than ours was granted"
                                                         : parsed.error().why)}));
  }
  settle(lease, as_kept(parsed->header, what->sent_at, parsed->ttl_seconds));
}

void lease_keeper::settle(std::int64_t lease, std::expected<kept_lease, unknown> outcome) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return;
  auto waiting = std::exchange(found->second.waiting, {});
  if (outcome) {
    found->second.kept = *outcome;
  } else {
    forget(lease);
  }
  for (auto& done : waiting) done(outcome);
}

bool lease_keeper::confirmed(std::int64_t lease) const {
  const auto found = leases_.find(lease);
  return found != leases_.end() && found->second.kept;
}

void lease_keeper::when_confirmed(std::int64_t lease,
                                  handler<std::expected<kept_lease, unknown>> done) {
  const auto found = leases_.find(lease);
  if (found == leases_.end()) return done(std::unexpected(unknown{"the lease has been given up"}));
  if (found->second.kept) return done(*found->second.kept);
  found->second.waiting.push_back(std::move(done));
}

void lease_keeper::keep(std::int64_t lease, core::time_point deadline,
                        handler<kept_or_failure> done) {
  if (contains(given_up_, lease)) {
    if (!contains(dropped_, lease)) {
      dropped_.push_back(lease);
      revoke_dropped();
    }
    boost::asio::post(executor_, [done = std::move(done)]() mutable {
      done(std::unexpected("a lease of ours from before is being revoked, and must be gone first"));
    });
    return;
  }
  std::erase(dropped_, lease);
  cluster_.call(
      keep_alive_path, keep_alive_request(lease), deadline,
      [this, lease, done = std::move(done)](reply_or_failure what) mutable {
        if (!what) {
          if (what.error().meaning != error_meaning::lease_gone) {
            return done(std::unexpected(std::move(what.error().why)));
          }
          forget(lease);
          return done(std::optional<kept_lease>());
        }
        const auto parsed = parse_keep_alive(what->body);
        if (!parsed || parsed->id != lease) {
          return done(std::unexpected(
              cluster_.present() + ": " +
              (parsed ? "another lease than ours was renewed" : parsed.error().why)));
        }
        if (parsed->ttl_seconds == 0) {
          forget(lease);
          return done(std::optional<kept_lease>());
        }
        const kept_lease kept = as_kept(parsed->header, what->sent_at, parsed->ttl_seconds);
        leases_[lease].kept = kept;
        done(std::optional(kept));
      },
      priority::urgent);
}

void lease_keeper::forget(std::int64_t lease) {
  leases_.erase(lease);
  if (present_ == lease) present_.reset();
}

void lease_keeper::drop_unless(const std::function<bool(std::int64_t)>& in_use) {
  bool dropped = false;
  for (auto one = leases_.begin(); one != leases_.end();) {
    if (in_use(one->first)) {
      ++one;
      continue;
    }
    dropped_.push_back(one->first);
    dropped = true;
    if (present_ == one->first) present_.reset();
    one = leases_.erase(one);
  }
  if (dropped) revoke_dropped();
}

void lease_keeper::revoke_dropped() {
  revoking_.expires_after(revoke_after);
  revoking_.async_wait([this](boost::system::error_code error) {
    if (error) return;
    for (const std::int64_t lease : std::exchange(dropped_, {})) revoke(lease);
  });
}

/// Should it fail, the lease ends by itself.
void lease_keeper::revoke(std::int64_t lease) {
  std::erase(given_up_, lease);
  if (given_up_.size() == most_given_up) given_up_.erase(given_up_.begin());
  given_up_.push_back(lease);
  cluster_.call(revoke_path, revoke_request(lease), os::boot_now() + revoke_patience,
                [this, lease](const reply_or_failure& what) {
                  const bool gone = what || what.error().meaning == error_meaning::lease_gone;
                  if (gone) std::erase(given_up_, lease);
                });
}

void lease_keeper::close() {
  revoking_.cancel();
  dropped_.clear();
}

}  // namespace tenure::stores::etcd
