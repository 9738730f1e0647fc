#include "stores/consul/session_keeper.hpp"

#include <algorithm>
#include <utility>

#include "stores/consul/requests.hpp"

namespace tenure::stores::consul {
namespace {

/// A session renewed less than this part of its TTL ago need not be renewed for a campaign:
/// thousands of campaigns then cost one request.
constexpr int fresh_part = 6;
/// How often a session that is kept ready is looked after in its TTL.
constexpr int looks_at_ready = 4;
constexpr core::duration ready_patience = std::chrono::seconds(5);

}  // namespace

session_keeper::session_keeper(base::event_loop& on, cluster& through, session_wish what,
                               core::duration ttl, std::set<std::string, std::less<>>& ours)
    : loop_(on),
      cluster_(through),
      wish_(std::move(what)),
      ttl_(ttl),
      ours_(ours),
      obtained_(on, [this](core::time_point deadline) { ask(deadline); }),
      ready_(on) {}

void session_keeper::obtain(core::time_point deadline, session_handler done) {
  const bool is_recent = present_ && loop_.now() - present_->sent_at < present_->ttl / fresh_part;
  if (is_recent && is_fresh(present_->id)) return done(*present_);
  obtained_.join(deadline, std::move(done));
}

void session_keeper::ask(core::time_point deadline) {
  if (present_ && !is_fresh(present_->id)) present_.reset();
  if (!present_) return make(deadline);
  keep(present_->id, deadline, [this, deadline](const kept_or_failure& what) {
    if (!what) return obtained_.answer(std::unexpected(unknown{what.error()}));
    what->has_value() ? obtained_.answer(**what) : make(deadline);
  });
}

bool session_keeper::is_fresh(std::string_view id) const {
  if (!wish_.ttl) return made_.contains(id) || endless_.contains(id);
  return present_ && present_->id == id && loop_.now() - present_->sent_at < present_->ttl;
}

void session_keeper::keep_ready() {
  if (!wish_.ttl) return;
  ready_.after(ttl_ / looks_at_ready, [this] { keep_ready(); });
  const core::time_point now = loop_.now();
  // A renewal of terms keeps it ready, too.
  if (present_ && now - present_->sent_at < present_->ttl / 2 - present_->ttl / fresh_part) return;
  obtain(now + ready_patience, [](const auto&) {});
}

void session_keeper::make(core::time_point deadline) {
  cluster_.call(
      create_session_request(wish_), deadline,
      [this](const reply_or_failure& what) {
        if (!what) return obtained_.answer(std::unexpected(unknown{what.error().why}));
        const auto id = session_in(*what);
        if (!id) {
          return obtained_.answer(
              std::unexpected(unknown{cluster_.present() + ": " + id.error().why}));
        }
        ours_.insert(*id);
        made_.insert(*id);
        present_ = {.id = *id, .sent_at = what->sent_at, .ttl = ttl_};
        obtained_.answer(*present_);
      },
      priority::urgent);
}

void session_keeper::keep(const std::string& id, core::time_point deadline,
                          handler<kept_or_failure> done) {
  const auto before = present_ && present_->id == id ? present_ : std::nullopt;
  cluster_.call(
      renew_session_request(id), deadline,
      [this, id, before, done = std::move(done)](const reply_or_failure& what) mutable {
        if (!what) return done(std::unexpected(what.error().why));
        if (says_gone(*what, id)) {
          forget(id);
          if (on_gone_) on_gone_(id);
          return done(std::optional<kept_session>());
        }
        if (what->status != 200) {
          return done(std::unexpected(cluster_.present() + " does not renew sessions: is it "
                                                           "the HTTP address of Consul?"));
        }
        const auto ttl = parse_renewal(what->body, id);
        if (!ttl) return done(std::unexpected(cluster_.present() + ": " + ttl.error().why));
        // It may have been sent again, to another agent.
        if (wish_.ttl && (!before || what->sent_at - before->sent_at >= before->ttl)) {
          return done(std::unexpected("the session was renewed through " + cluster_.present() +
                                      ", and too late to rely on that"));
        }
        if (!*ttl) endless_.insert(id);
        // One that an earlier run of this agent has made may last longer than is asked for now.
        const kept_session kept{
            .id = id, .sent_at = what->sent_at, .ttl = std::min(ttl_, ttl->value_or(ttl_))};
        const bool is_as_wished = wish_.ttl || is_fresh(id);
        // If it was ours when this was sent and is not now, it was given away.
        const bool is_ours = present_ ? present_->id == id : !before;
        if (is_as_wished && is_ours) present_ = kept;
        done(std::optional(kept));
      },
      priority::urgent);
}

void session_keeper::take(const kept_session& what) {
  made_.insert(what.id);
  present_ = what;
}

void session_keeper::forget(std::string_view id) {
  if (present_ && present_->id == id) present_.reset();
  for (auto* all : {&ours_, &made_, &endless_}) {
    if (const auto known = all->find(id); known != all->end()) all->erase(known);
  }
}

void session_keeper::end(core::time_point deadline, std::move_only_function<void()> done) {
  ready_.cancel();
  if (!present_) {
    loop_.post(std::move(done));
    return;
  }
  cluster_.call(destroy_session_request(std::exchange(present_, {})->id), deadline,
                [done = std::move(done)](const reply_or_failure&) mutable { done(); });
}

}  // namespace tenure::stores::consul
