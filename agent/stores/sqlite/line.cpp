#include "stores/sqlite/line.hpp"

#include <utility>

namespace tenure::stores::sqlite {

void line::want(core::election_index which, bool stands) {
  if (stands == wanted_.contains(which)) return;
  if (stands) {
    wanted_.insert(which);
  } else {
    wanted_.erase(which);
  }
  changed_.insert(which);
  write();
}

void line::saw(core::election_index which, place_state is) {
  const place_state wrong = wanted_.contains(which) ? place_state::free : place_state::ours;
  if (is != wrong || is_busy(which) || has_failed_) return;
  changed_.insert(which);
  write();
}

void line::write() {
  if (!alive_ || !busy_.empty() || changed_.empty()) return;
  busy_ = std::exchange(changed_, {});
  request what;
  for (const core::election_index one : busy_) {
    (wanted_.contains(one) ? what.stand : what.leave).push_back(one);
  }
  write_(what, [this, alive = std::weak_ptr(alive_)](bool worked) {
    if (alive.expired()) return;
    has_failed_ = !worked;
    busy_.clear();
    write();
  });
}

}  // namespace tenure::stores::sqlite
