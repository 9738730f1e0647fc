#include "stores/namesakes.hpp"

#include <algorithm>
#include <utility>

namespace tenure::stores {

void namesakes::see(core::election_index which, const std::vector<namesake>& shown, bool is_listed,
                    bool missed) {
  std::vector<entry>& known = all_[core::place(which)];
  if (shown.empty() && known.empty()) return;
  const std::vector<entry> before = std::exchange(known, {});
  bool is_asked = false;
  for (const namesake& one : shown) {
    const auto was = std::ranges::find(before, one.key, [](const entry& e) { return e.shown.key; });
    entry now = was == before.end() ? entry{.lives = !missed} : *was;
    // What it says of itself may come after its name, or be written anew after somebody deleted it.
    const bool has_answered =
        was != before.end() && one.answers && *one.answers != was->shown.answers.value_or(0);
    is_asked = is_asked || was == before.end() || (has_answered && one.is_later);
    now.shown = one;
    now.lives = now.lives || has_answered;
    if (now.doubted_until == core::never && is_listed && one.answers) {
      now.doubted_until = loop_.now() + namesake_doubt;
    }
    if (now.lives) over_.erase(one.key);
    known.push_back(std::move(now));
  }
  for (const entry& gone : before) {
    const auto is_it = [&](const namesake& one) { return one.key == gone.shown.key; };
    if (std::ranges::none_of(shown, is_it)) over_.erase(gone.shown.key);
  }
  if (is_asked) tell_.answer(which);
  look();
}

/// Judges those whose time to answer is over, and sets the timer for the next one.
void namesakes::look() {
  const core::time_point now = loop_.now();
  core::time_point next = core::never;
  std::vector<core::election_index> news;
  for (std::uint32_t i = 0; i < all_.size(); ++i) {
    for (const entry& one : all_[i]) {
      if (one.lives || over_.contains(one.shown.key)) continue;
      if (now < one.doubted_until) {
        next = std::min(next, one.doubted_until);
      } else {
        over_.insert(one.shown.key);
        news.push_back(core::election_index{i});
      }
    }
  }
  timer_.at(next, [this] { look(); });
  for (const core::election_index which : news) {
    loop_.post([this, which, alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) tell_.changed(which);
    });
  }
}

}  // namespace tenure::stores
