#include "stores/sqlite/subscriptions.hpp"

#include <utility>

namespace tenure::stores::sqlite {

void subscriptions::add(core::election_index which, watch_handler seen) {
  watches_[core::place(which)] = {.seen = std::move(seen), .shown = {}, .from_look = look_ + 1};
}

std::vector<core::election_index> subscriptions::begin_look() {
  std::vector<core::election_index> watched;
  if (looking_) {
    again_ = true;
    return watched;
  }
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    if (watches_[i].seen) watched.push_back(core::election_index{static_cast<std::uint32_t>(i)});
  }
  if (watched.empty()) return watched;
  looking_ = true;
  ++look_;
  return watched;
}

bool subscriptions::concerned(core::election_index which) const {
  return look_ >= watches_[core::place(which)].from_look;
}

bool subscriptions::end_look() {
  looking_ = false;
  return std::exchange(again_, false);
}

void subscriptions::show(core::election_index which, const core::observation& seen) {
  entry& watch = watches_[core::place(which)];
  if (!watch.seen || watch.shown == seen) return;
  watch.shown = seen;
  const watch_handler tell = watch.seen;  // it may open the watch anew, or close the store
  tell(seen);
}

void subscriptions::fail(core::election_index which, const unknown& why) {
  entry& watch = watches_[core::place(which)];
  if (!watch.seen) return;
  const watch_handler tell = std::exchange(watch.seen, nullptr);
  tell(why);
}

}  // namespace tenure::stores::sqlite
