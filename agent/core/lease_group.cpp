#include "core/lease_group.hpp"

#include <algorithm>

#include "core/backoff.hpp"
#include "core/check.hpp"
#include "core/sometimes.hpp"

namespace tenure::core {
namespace {

/// Pause after a failed renewal. Short, because the budget is small and the store may be back at
/// once.
constexpr duration first_renewal_pause = std::chrono::milliseconds(20);

}  // namespace

election_index lease_group::add(election_settings settings) {
  TENURE_CHECK(settings.when.ttl == when_.ttl && settings.when.renew == when_.renew);
  elections_.emplace_back(std::move(settings));
  wakes_.push_back(never);
  return election_index{static_cast<std::uint32_t>(elections_.size() - 1)};
}

void lease_group::step(const moment& at, election_index which, const election_event& what,
                       group_effects& out) {
  const time_point before = wakes_[place(which)];
  apply(at, which, what, out);
  const time_point after = wakes_[place(which)];
  if (after <= first_wake_) {
    first_wake_ = after;
  } else if (before == first_wake_) {
    find_first_wake();
  }
  if (!std::holds_alternative<event::slept>(what)) settle(at, out);
}

void lease_group::wake(const moment& at, group_effects& out) {
  if (first_wake_ <= at.now) {
    for (std::size_t i = 0; i < elections_.size(); ++i) {
      if (wakes_[i] <= at.now) {
        // Their retries must not all fall on one instant.
        const moment own{.now = at.now, .entropy = at.entropy ^ (i * 0x9e37'79b9'7f4a'7c15)};
        apply(own, election_index{static_cast<std::uint32_t>(i)}, event::woke{}, out);
      }
    }
    find_first_wake();
  }
  settle(at, out);
}

void lease_group::apply(const moment& at, election_index which, const election_event& what,
                        group_effects& out) {
  election& one = elections_[place(which)];
  for (const election_command& c : one.step(at, what)) out.commands.push_back({which, c});
  wakes_[place(which)] = one.next_wake();
  if (std::holds_alternative<event::granted>(what) && one.wants_renewal()) {
    due_ = std::min(due_, one.view().lease->sent_at + when_.renew);
  }
}

/// Starts, times out and repeats renewals.
void lease_group::settle(const moment& at, group_effects& out) {
  if (!batch_.empty()) {
    if (at.now < deadline_) return;
    renewal_failed(at);
  }
  if (at.now >= due_) return begin_renewal(at, false, out);
  if (at.now < unanswered_due_) return;
  unanswered_due_ = never;
  if (due_ - at.now >= min_try_timeout) begin_renewal(at, true, out);
}

void lease_group::begin_renewal(const moment& at, bool of_unanswered, group_effects& out) {
  for (std::size_t i = 0; i < elections_.size(); ++i) {
    const election_index which{static_cast<std::uint32_t>(i)};
    if (of_unanswered && !std::ranges::binary_search(unanswered_, which)) continue;
    if (elections_[i].wants_renewal()) {
      batch_.push_back({which, elections_[i].view().lease->version});
    }
  }
  (of_unanswered ? unanswered_due_ : due_) = never;
  if (batch_.empty()) return;
  batch_of_unanswered_ = of_unanswered;
  number_ = attempt{static_cast<std::uint64_t>(number_) + 1};
  deadline_ = at.now + try_time(at.now);
  if (of_unanswered) deadline_ = std::min(deadline_, due_);
  out.renew = command::renew{.number = number_, .deadline = deadline_};
}

/// The first try leaves room for a second one before the earliest stop_at, even if the store
/// granted a shorter ttl than was asked for. A term that the store does not answer for has an
/// earlier one, which is not that of the others.
duration lease_group::try_time(time_point now) const {
  time_point stop_at = never;
  time_point stop_unanswered_at = never;
  for (const renewal_item& item : batch_) {
    const bool is_answered = !std::ranges::binary_search(unanswered_, item.which);
    time_point& earliest = is_answered ? stop_at : stop_unanswered_at;
    earliest = std::min(earliest, elections_[place(item.which)].view().lease->stop_at);
  }
  if (stop_at == never) stop_at = stop_unanswered_at;
  const std::uint32_t failures = batch_of_unanswered_ ? unanswered_tries_ : failures_;
  const duration left = failures == 0 ? (stop_at - now) / tries_in_budget : stop_at - now;
  return std::clamp(left, min_try_timeout, std::max(min_try_timeout, when_.try_timeout()));
}

void lease_group::renewed(const moment& at, attempt number, const renewal_answer& said,
                          group_effects& out) {
  if (batch_.empty() || number != number_) return;
  if (!batch_of_unanswered_) failures_ = 0;
  due_ = std::min(due_, said.sent_at + when_.renew);
  const std::vector<renewal_item> asked = std::move(batch_);
  batch_.clear();
  std::vector<renewal_loss> losses(said.lost.begin(), said.lost.end());
  std::ranges::sort(losses, {}, &renewal_loss::which);
  std::vector<election_index> doubts(said.unanswered.begin(), said.unanswered.end());
  std::ranges::sort(doubts);
  unanswered_.clear();
  for (const renewal_item& item : asked) {
    if (std::ranges::binary_search(doubts, item.which)) {
      unanswered_.push_back(item.which);
      continue;
    }
    const auto loss = std::ranges::lower_bound(losses, item.which, {}, &renewal_loss::which);
    if (loss != losses.end() && loss->which == item.which) {
      apply(at, item.which,
            event::lost{.version = item.version, .why = loss->why, .room = loss->room}, out);
    } else {
      apply(at, item.which,
            event::renewed{.version = item.version, .sent_at = said.sent_at, .ttl = said.ttl}, out);
    }
  }
  try_unanswered_again(at);
  // What has ended these may have ended terms, too, that were granted since the renewal was sent.
  if (!losses.empty() && holds_more_than(asked)) {
    TENURE_SOMETIMES(loss_beside_a_newer_term);
    due_ = at.now;
  }
  find_first_wake();
  settle(at, out);
}

void lease_group::renewal_unknown(const moment& at, attempt number, group_effects& out) {
  if (batch_.empty() || number != number_) return;
  renewal_failed(at);
  settle(at, out);
}

bool lease_group::holds_more_than(std::span<const renewal_item> asked) const {
  for (std::size_t i = 0; i < elections_.size(); ++i) {
    const election& one = elections_[i];
    if (!one.wants_renewal()) continue;
    const election_index which{static_cast<std::uint32_t>(i)};
    const auto item = std::ranges::lower_bound(asked, which, {}, &renewal_item::which);
    const bool was_asked = item != asked.end() && item->which == which;
    if (!was_asked || item->version != one.view().lease->version) return true;
  }
  return false;
}

/// Unknown is not lost: try again until the elections themselves give up at stop_at.
void lease_group::renewal_failed(const moment& at) {
  batch_.clear();
  if (batch_of_unanswered_) {
    TENURE_SOMETIMES(renewal_of_the_unanswered_failed);
    return try_unanswered_again(at);
  }
  unanswered_.clear();
  unanswered_due_ = never;
  ++failures_;
  due_ = std::min(due_, at.now + pause_after(failures_, at.entropy));
}

/// The next renewal of all includes them; if it comes first, nothing is to be done.
void lease_group::try_unanswered_again(const moment& at) {
  unanswered_tries_ = unanswered_.empty() ? 0 : unanswered_tries_ + 1;
  unanswered_due_ = never;
  if (unanswered_.empty()) return;
  const time_point again = at.now + pause_after(unanswered_tries_, at.entropy);
  if (due_ - again >= min_try_timeout) unanswered_due_ = again;
}

duration lease_group::pause_after(std::uint32_t failures, std::uint64_t entropy) const {
  const backoff pauses{.first = first_renewal_pause,
                       .most = std::max(first_renewal_pause, when_.try_timeout())};
  return pauses.after(failures, entropy);
}

void lease_group::find_first_wake() {
  first_wake_ = wakes_.empty() ? never : *std::ranges::min_element(wakes_);
}

time_point lease_group::next_wake() const {
  return std::min(first_wake_, batch_.empty() ? std::min(due_, unanswered_due_) : deadline_);
}

}  // namespace tenure::core
