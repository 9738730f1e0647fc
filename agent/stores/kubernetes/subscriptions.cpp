#include "stores/kubernetes/subscriptions.hpp"

#include <utility>

namespace tenure::stores::kubernetes {
namespace {

/// For the read that shows the state at the opening of a watch.
constexpr core::duration look_patience = std::chrono::seconds(5);

}  // namespace

subscriptions::subscriptions(shared_state& of) : shared_(of) {
  for (std::size_t i = 0; i < of.with.elections.size(); ++i) {
    timers_.push_back(std::make_unique<base::timer>(of.loop));
  }
  all_.resize(timers_.size());
}

void subscriptions::add(core::election_index which, watch_handler seen) {
  of(which) = {
      .seen = std::move(seen), .opened = ++openings_, .waits = true, .shown = {}, .trouble = {}};
  // Otherwise it is shown as soon as the mirror has been read.
  if (!shared_.watches.live(which)) return;
  shared_.read(which, shared_.loop.now() + look_patience,
               [this, which, opened = openings_](const std::expected<void, unknown>& read) {
                 if (of(which).opened != opened) return;
                 read ? live(which) : broken({which}, read.error().why);
               });
}

void subscriptions::live(core::election_index which) {
  of(which).waits = false;
  changed(which);
}

void subscriptions::changed(core::election_index which) {
  subscriber& who = of(which);
  if (!who.seen || who.waits) return;
  const core::time_point now = shared_.loop.now();
  const mirror& m = shared_.seen(which);
  // Members and orders that nobody renews disappear in silence.
  timers_[core::place(which)]->at(m.next_change(now), [this, which] { changed(which); });
  core::observation shown = m.observe(now);
  // What is shown may be the same without the trouble for which a campaign was refused.
  std::string trouble = m.trouble();
  if (who.shown == shown && who.trouble == trouble) return;
  who.shown = shown;
  who.trouble = std::move(trouble);
  shared_.note_shown(which, shown);
  // A copy: the handler may open the watch again.
  const watch_handler seen = who.seen;
  seen(std::move(shown));
}

void subscriptions::broken(const std::vector<core::election_index>& which, const std::string& why) {
  const std::weak_ptr alive = alive_;
  for (const core::election_index one : which) {
    const subscriber ended = std::exchange(of(one), {});
    timers_[core::place(one)]->cancel();
    if (ended.seen) ended.seen(unknown{why});
    if (alive.expired()) return;
  }
}

void subscriptions::close() {
  alive_.reset();
  for (const auto& one : timers_) one->cancel();
}

}  // namespace tenure::stores::kubernetes
