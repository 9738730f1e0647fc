#include "stores/etcd/subscriptions.hpp"

#include <algorithm>
#include <utility>

#include "stores/etcd/requests.hpp"

namespace tenure::stores::etcd {
namespace {

/// For reading the state at an opening.
constexpr core::duration look_patience = std::chrono::seconds(5);

/// With more members than these, changes of the list wait, for so long per member.
constexpr std::size_t few_members = 100;
constexpr core::duration wait_per_member = std::chrono::milliseconds(2);

}  // namespace

subscriptions::subscriptions(base::event_loop& on, cluster& through,
                             const std::vector<mirror>& mirrors,
                             const std::vector<key_range>& ranges, watcher& connection,
                             std::function<bool(core::election_index)> in_line)
    : loop_(on),
      cluster_(through),
      mirrors_(mirrors),
      ranges_(ranges),
      watcher_(connection),
      in_line_(std::move(in_line)),
      all_(mirrors.size()),
      late_timer_(on) {}

void subscriptions::add(core::election_index which, watch_handler seen) {
  subscribers& who = of(which);
  who = {.seen = std::move(seen), .opened = ++openings_, .waits = true, .shown = {}, .present = {}};
  // Otherwise the watcher shows it as soon as it has read the mirrors.
  if (!watcher_.live()) return;
  to_look_.push_back({.which = which, .number = who.opened});
  if (to_look_.size() > 1) return;
  loop_.post([this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) look();
  });
}

void subscriptions::look() {
  const std::vector<opening> all = std::exchange(to_look_, {});
  for (std::size_t first = 0; first < all.size(); first += most_operations) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(first);
    const std::size_t count = std::min(all.size() - first, most_operations);
    look_at({from, from + static_cast<std::ptrdiff_t>(count)});
  }
}

void subscriptions::look_at(std::vector<opening> some) {
  std::vector<key_range> ranges;
  for (const opening& one : some) ranges.push_back(ranges_[core::place(one.which)]);
  cluster_.call(
      transaction_path, transaction_request(read_transaction(ranges)), loop_.now() + look_patience,
      [this, some = std::move(some), alive = std::weak_ptr(alive_)](const reply_or_failure& what) {
        if (alive.expired()) return;
        auto read =
            what ? reads_in(what->body, some.size()) : std::unexpected(malformed{what.error().why});
        // Reading all mirrors again shows the state as well.
        if (!read) return watcher_.connect();
        for (std::size_t i = 0; i < some.size(); ++i) {
          subscribers& who = of(some[i].which);
          if (!who.waits || who.opened != some[i].number) continue;
          who.present.emplace(read->header.revision, std::move(read->values[i]));
          changed(some[i].which);
          if (alive.expired()) return;
        }
      });
}

void subscriptions::changed(core::election_index which) {
  subscribers& who = of(which);
  if (!who.seen || !watcher_.live()) return;
  const mirror& m = mirrors_[core::place(which)];
  if (who.waits) {
    if (!who.present) return;
    const auto& [revision, values] = *who.present;
    if (m.revision() <= revision && !m.shows(values)) return;
    who.waits = false;
    who.present.reset();
  }
  if (!may_wait(which)) return show(which);
  if (late_.empty()) {
    late_timer_.after(wait_per_member * m.member_count(), [this] { show_late_ones(); });
  }
  late_.insert(which);
}

core::observation subscriptions::observe(core::election_index which) const {
  core::observation out = mirrors_[core::place(which)].observe();
  out.in_line = in_line_(which);
  return out;
}

/// True if nothing can be new but members, and these are many.
bool subscriptions::may_wait(core::election_index which) const {
  const mirror& m = mirrors_[core::place(which)];
  const subscribers& who = all_[core::place(which)];
  return m.member_count() > few_members && who.shown && who.shown_changes == m.changes() &&
         who.shown->in_line == in_line_(which);
}

void subscriptions::show(core::election_index which) {
  subscribers& who = of(which);
  core::observation now = observe(which);
  who.shown_changes = mirrors_[core::place(which)].changes();
  if (who.shown == now) return;
  who.shown = now;
  // A copy: the handler may open the watch again.
  const watch_handler seen = who.seen;
  seen(std::move(now));
}

void subscriptions::show_late_ones() {
  const std::weak_ptr alive = alive_;
  for (const core::election_index which : std::exchange(late_, {})) {
    if (of(which).shown && watcher_.live()) show(which);
    if (alive.expired()) return;
  }
}

void subscriptions::all_changed() {
  const std::weak_ptr alive = alive_;
  for (std::uint32_t i = 0; i < all_.size() && !alive.expired(); ++i) {
    all_[i].waits = false;
    all_[i].present.reset();
    changed(core::election_index{i});
  }
}

void subscriptions::broken(const std::string& why) {
  const std::weak_ptr alive = alive_;
  for (std::uint32_t i = 0; i < all_.size() && !alive.expired(); ++i) {
    const subscribers ended = std::exchange(all_[i], {});
    if (ended.seen) ended.seen(unknown{why});
  }
}

void subscriptions::close() {
  alive_.reset();
  late_timer_.cancel();
}

}  // namespace tenure::stores::etcd
