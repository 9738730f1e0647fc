#include "stores/consul/subscriptions.hpp"

#include <utility>

namespace tenure::stores::consul {

void subscriptions::add(core::election_index which, watch_handler seen) {
  of(which) = {.seen = std::move(seen), .opened = ++openings_, .waits = true, .shown = {}};
  // Otherwise it is shown as soon as the mirror has been read.
  if (!shared_.watches.live(which)) return;
  shared_.watches.look(which, [this, which, opened = openings_] {
    if (of(which).opened == opened) live(which);
  });
}

void subscriptions::live(core::election_index which) {
  of(which).waits = false;
  changed(which);
}

void subscriptions::changed(core::election_index which) {
  subscriber& who = of(which);
  if (!who.seen || who.waits) return;
  core::observation now = shared_.seen(which).observe();
  now.in_line = line_.may_stand(which);
  if (who.shown == now) return;
  who.shown = now;
  // A copy: the handler may open the watch again.
  const watch_handler seen = who.seen;
  seen(std::move(now));
}

void subscriptions::broken(const std::vector<core::election_index>& which, const std::string& why) {
  const std::weak_ptr alive = alive_;
  for (const core::election_index one : which) {
    const subscriber ended = std::exchange(of(one), {});
    if (ended.seen) ended.seen(unknown{why});
    if (alive.expired()) return;
  }
}

}  // namespace tenure::stores::consul
