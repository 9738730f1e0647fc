#include "runtime/history.hpp"

#include <algorithm>
#include <utility>

namespace tenure::runtime {
namespace {

constexpr std::size_t most_terms = 128;
constexpr std::size_t most_terms_in_all = 20'000;
constexpr std::size_t least_terms = 2;

/// Of a term whose holder did not say farewell.
constexpr const char* expired = "expired";

std::string reason_text(core::loss_reason why) {
  return why == core::loss_reason::none ? "" : std::string(core::name(why));
}

}  // namespace

std::size_t terms_kept(std::size_t elections) {
  return std::clamp(most_terms_in_all / std::max<std::size_t>(elections, 1), least_terms,
                    most_terms);
}

api::past_term* history::find(core::version term) {
  const auto found =
      std::ranges::find(all_, term, [](const api::past_term& one) { return one.who.term; });
  return found == all_.end() ? nullptr : &*found;
}

void history::add(api::past_term one) {
  const auto behind = std::ranges::upper_bound(
      all_, one.who.term, {}, [](const api::past_term& known) { return known.who.term; });
  all_.insert(behind, std::move(one));
  if (all_.size() > most_) all_.erase(all_.begin());
}

void history::show() {
  shown_ = std::make_shared<const api::term_list>(all_);
}

bool history::observed(const core::observation& seen, std::int64_t unix_ms) {
  bool news = false;
  const bool first = !std::exchange(has_seen_, true);
  for (api::past_term& one : all_) {
    if (!one.ended) news = close(one, seen, unix_ms) || news;
  }
  if (seen.parting && all_.empty() && !seen.parting->holder.empty()) {
    // Of before our time.
    add({.who = {.identity = seen.parting->holder, .term = seen.parting->term},
         .is_self = false,
         .ended = true,
         .to_unix_ms = seen.parting->at_unix_ms,
         .reason = reason_text(seen.parting->why)});
    news = true;
  }
  for (const core::holder& h : seen.holders) {
    if (find(h.term) != nullptr) continue;
    add({.who = h, .is_self = h.ours, .from_unix_ms = first ? 0 : unix_ms});
    news = true;
  }
  if (news) show();
  return news;
}

/// True if it has ended by now.
bool history::close(api::past_term& one, const core::observation& seen, std::int64_t unix_ms) {
  const bool holds =
      std::ranges::any_of(seen.holders, [&](const auto& h) { return h.term == one.who.term; });
  if (holds || seen.as_of < one.who.term || one.who.term == own_) return false;
  one.ended = true;
  one.to_unix_ms = unix_ms;
  const bool said = seen.parting && seen.parting->term == one.who.term;
  if (said && seen.parting->why != core::loss_reason::none) {
    one.reason = reason_text(seen.parting->why);
  } else if (one.reason.empty() && !said) {
    one.reason = expired;
  }
  return true;
}

void history::began(core::version term, std::int64_t unix_ms) {
  own_ = term;
  if (api::past_term* known = find(term)) {
    // Ours from an earlier life, or seen before the answer was here.
    known->ended = false;
    known->to_unix_ms = 0;
    known->reason.clear();
  } else {
    add({.who = {.identity = identity_, .term = term}, .is_self = true, .from_unix_ms = unix_ms});
  }
  show();
}

void history::ending(core::loss_reason why) {
  if (api::past_term* own = find(own_)) {
    own->reason = reason_text(why);
    show();
  }
}

void history::ended(std::int64_t unix_ms) {
  if (api::past_term* own = find(std::exchange(own_, core::no_version))) {
    own->ended = true;
    own->to_unix_ms = unix_ms;
    show();
  }
}

}  // namespace tenure::runtime
