#include "stores/sqlite/watch_list.hpp"

#include <utility>

namespace tenure::stores::sqlite {

void watch_list::add(core::election_index which, watch_handler seen) {
  watches_[core::place(which)] = {.seen = std::move(seen), .shown = {}, .from_look = look_ + 1};
}

std::vector<core::election_index> watch_list::begin_look() {
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

bool watch_list::concerned(core::election_index which) const {
  return look_ >= watches_[core::place(which)].from_look;
}

bool watch_list::end_look() {
  looking_ = false;
  return std::exchange(again_, false);
}

void watch_list::show(core::election_index which, const core::observation& seen) {
  entry& watch = watches_[core::place(which)];
  if (!watch.seen || watch.shown == seen) return;
  watch.shown = seen;
  const watch_handler tell = watch.seen;  // it may open the watch anew, or close the store
  tell(seen);
}

void watch_list::fail(core::election_index which, const unknown& why) {
  entry& watch = watches_[core::place(which)];
  if (!watch.seen) return;
  const watch_handler tell = std::exchange(watch.seen, nullptr);
  tell(why);
}

}  // namespace tenure::stores::sqlite
