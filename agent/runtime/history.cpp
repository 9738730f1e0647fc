#include "runtime/history.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

namespace tenure::runtime {
namespace {

constexpr std::size_t most_terms = 128;
constexpr std::size_t most_terms_in_all = 20'000;
constexpr std::size_t least_terms = 2;

/// The reason of a term whose holder left no release record.
constexpr const char* expired = "expired";

std::string reason_text(core::loss_reason why) {
  return why == core::loss_reason::none ? "" : std::string(core::name(why));
}

std::int64_t whole_ms(core::duration span) {
  return std::chrono::round<std::chrono::milliseconds>(span).count();
}

}  // namespace

std::size_t terms_kept(std::size_t elections) {
  return std::clamp(most_terms_in_all / std::max<std::size_t>(elections, 1), least_terms,
                    most_terms);
}

history::term* history::find(core::version version) {
  const auto found =
      std::ranges::find(all_, version, [](const term& one) { return one.shown.who.version; });
  return found == all_.end() ? nullptr : &*found;
}

void history::add(api::past_term shown) {
  if (all_.size() == with_.most) all_.erase(all_.begin());
  all_.push_back({.shown = std::move(shown)});
}

void history::show() {
  api::term_list out;
  for (const term& one : all_) out.push_back(one.shown);
  shown_ = std::make_shared<const api::term_list>(std::move(out));
}

bool history::observed(const core::observation& seen, const api::instant& at) {
  const bool first = !std::exchange(has_seen_, true);
  bool news = false;
  for (term& one : all_) {
    if (!is_over(one, seen)) continue;
    close(one, at);
    news = true;
  }
  if (first && all_.empty() && seen.last_release && !seen.last_release->holder.empty()) {
    // From before our start.
    add({.who = {.identity = seen.last_release->holder, .version = seen.last_release->version},
         .is_self = false,
         .ended = true,
         .to_unix_ms = seen.last_release->at_unix_ms,
         .reason = reason_text(seen.last_release->why)});
    news = true;
  }
  news = read_record(seen.last_release, at) || news;
  // One observation may have several that began at different times.
  std::vector<core::holder> by_grant = seen.holders;
  std::ranges::sort(by_grant, {}, &core::holder::version);
  for (const core::holder& h : by_grant) {
    if (find(h.version) != nullptr) continue;
    if (!h.ours) follow(at.now, at);
    add({.who = h, .is_self = h.ours, .from_unix_ms = first ? 0 : at.unix_ms});
    news = true;
  }
  note_renewal(seen, first, at.now);
  if (news) show();
  return news;
}

/// True if a term that has not ended is not shown any more. Our own ends with its workload.
bool history::is_over(const term& one, const core::observation& seen) const {
  const core::version version = one.shown.who.version;
  if (one.shown.ended || seen.as_of < version || version == own_) return false;
  return std::ranges::none_of(seen.holders,
                              [&](const core::holder& h) { return h.version == version; });
}

/// Until a record says otherwise, its holder has left none.
void history::close(term& one, const api::instant& at) {
  one.shown.ended = true;
  one.shown.to_unix_ms = at.unix_ms;
  one.shown.reason = expired;
  one.ended_at = at.now;
  if (one.renewed_at == core::never) {
    const bool was_shown = renewed_ == one.shown.who.version && renewed_at_ != core::never;
    one.renewed_at = was_shown ? renewed_at_ : at.now - with_.ttl - with_.expiry_lag;
  }
  one.was_last = std::ranges::all_of(all_, [](const term& each) { return each.shown.ended; });
  if (one.was_last && one.next_at == core::never) vacant_after_ = one.shown.who.version;
  measure(one, at);
}

/// A record may come after the end of its term. True if it says something new.
bool history::read_record(const std::optional<core::release_record>& record,
                          const api::instant& at) {
  term* const of = record ? find(record->version) : nullptr;
  if (of == nullptr || !of->shown.ended || of->ended_at == core::never) return false;
  const std::string reason = reason_text(record->why);
  if (of->left_record && of->shown.reason == reason) return false;
  of->left_record = true;
  of->gave_up = !core::is_loss(record->why);
  of->shown.reason = reason;
  measure(*of, at);
  return true;
}

/// Another member was granted a term.
void history::follow(core::time_point granted_at, const api::instant& at) {
  const bool takes_over = own_ != core::no_version && with_.slots == 1;
  term* const before = find(takes_over ? own_ : vacant_after_);
  if (!takes_over) vacant_after_ = core::no_version;
  if (before == nullptr || before->next_at != core::never) return;
  before->next_at = granted_at;
  if (before->shown.ended) measure(*before, at);
}

/// The store's expiry is that of its oldest grant, and moves with each renewal.
void history::note_renewal(const core::observation& seen, bool is_first, core::time_point now) {
  if (seen.holders.empty()) return;
  const core::version oldest = seen.holders.front().version;
  if (oldest == renewed_ && seen.expires_at == expires_at_) return;
  renewed_ = oldest;
  expires_at_ = seen.expires_at;
  renewed_at_ = now;
  if (expires_at_ == core::never) {
    renewed_at_ = core::never;
  } else if (is_first) {
    renewed_at_ = std::min(now, expires_at_ - with_.ttl);
  }
}

void history::measure(term& one, const api::instant& at) const {
  if (!one.was_last) return;
  const core::time_point from = one.gave_up ? one.ended_at : std::min(one.renewed_at, at.now);
  api::outage out{.from_unix_ms = at.unix_ms - whole_ms(at.now - from), .at_most = !one.gave_up};
  if (one.next_at != core::never) {
    const bool waits = !one.left_record && !one.next_is_ours;
    const core::time_point to = one.next_at + (waits ? with_.lock_delay : core::duration::zero());
    out.lasted_ms = whole_ms(std::max(to - from, core::duration::zero()));
  }
  one.shown.outage_after = out;
}

void history::began(core::version version, bool cleanly, const api::instant& at) {
  own_ = version;
  if (term* const known = find(version)) {
    // Ours from an earlier run, or shown before the answer arrived.
    known->shown.ended = false;
    known->shown.to_unix_ms = 0;
    known->shown.reason.clear();
    known->shown.outage_after.reset();
    known->was_last = false;
  } else {
    add({.who = {.identity = with_.identity, .version = version},
         .is_self = true,
         .from_unix_ms = at.unix_ms});
  }
  if (with_.slots == 1) {
    // The watch has not shown yet that the term before is over.
    for (term& one : all_) {
      if (one.shown.ended || one.shown.who.version == version) continue;
      close(one, at);
      one.was_last = true;
      vacant_after_ = one.shown.who.version;
      measure(one, at);
    }
  }
  term* const before = find(vacant_after_);
  if (before != nullptr && cleanly && !before->left_record && !before->shown.is_self) {
    // Its record is on its way.
    before->gave_up = true;
    before->shown.reason.clear();
    measure(*before, at);
  }
  show();
}

std::optional<api::outage> history::active(const api::instant& at) {
  term* const before = find(std::exchange(vacant_after_, core::no_version));
  if (before == nullptr || !before->was_last || before->next_at != core::never) return std::nullopt;
  before->next_at = at.now;
  before->next_is_ours = true;
  measure(*before, at);
  show();
  return before->shown.outage_after;
}

void history::ending(core::loss_reason why, core::time_point renewed_at) {
  term* const own = find(own_);
  if (own == nullptr) return;
  own->shown.reason = reason_text(why);
  own->renewed_at = renewed_at;
  gives_up_ = !core::is_loss(why);
  show();
}

void history::ended(const api::instant& at) {
  term* const own = find(std::exchange(own_, core::no_version));
  if (own == nullptr) return;
  const std::string why = own->shown.reason;
  close(*own, at);
  own->was_last = own->was_last || with_.slots == 1;
  own->left_record = own->gave_up = gives_up_;
  if (gives_up_) own->shown.reason = why;
  measure(*own, at);
  show();
}

}  // namespace tenure::runtime
