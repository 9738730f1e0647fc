#include "runtime/history.hpp"

#include <algorithm>
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

}  // namespace

std::size_t terms_kept(std::size_t elections) {
  return std::clamp(most_terms_in_all / std::max<std::size_t>(elections, 1), least_terms,
                    most_terms);
}

api::past_term* history::find(core::version version) {
  const auto found =
      std::ranges::find(all_, version, [](const api::past_term& one) { return one.who.version; });
  return found == all_.end() ? nullptr : &*found;
}

void history::add(api::past_term one) {
  all_.push_back(std::move(one));
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
  if (seen.last_release && all_.empty() && !seen.last_release->holder.empty()) {
    // From before our start.
    add({.who = {.identity = seen.last_release->holder, .version = seen.last_release->version},
         .is_self = false,
         .ended = true,
         .to_unix_ms = seen.last_release->at_unix_ms,
         .reason = reason_text(seen.last_release->why)});
    news = true;
  }
  // One observation may have several that began at different times.
  std::vector<core::holder> by_grant = seen.holders;
  std::ranges::sort(by_grant, {}, &core::holder::version);
  for (const core::holder& h : by_grant) {
    if (find(h.version) != nullptr) continue;
    add({.who = h, .is_self = h.ours, .from_unix_ms = first ? 0 : unix_ms});
    news = true;
  }
  if (news) show();
  return news;
}

/// True if the term has ended by now.
bool history::close(api::past_term& one, const core::observation& seen, std::int64_t unix_ms) {
  const bool holds = std::ranges::any_of(
      seen.holders, [&](const auto& h) { return h.version == one.who.version; });
  if (holds || seen.as_of < one.who.version || one.who.version == own_) return false;
  one.ended = true;
  one.to_unix_ms = unix_ms;
  const bool said = seen.last_release && seen.last_release->version == one.who.version;
  if (said && seen.last_release->why != core::loss_reason::none) {
    one.reason = reason_text(seen.last_release->why);
  } else if (one.reason.empty() && !said) {
    one.reason = expired;
  }
  return true;
}

void history::began(core::version version, std::int64_t unix_ms) {
  own_ = version;
  if (api::past_term* known = find(version)) {
    // Ours from an earlier run, or shown before the answer arrived.
    known->ended = false;
    known->to_unix_ms = 0;
    known->reason.clear();
  } else {
    add({.who = {.identity = identity_, .version = version},
         .is_self = true,
         .from_unix_ms = unix_ms});
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
