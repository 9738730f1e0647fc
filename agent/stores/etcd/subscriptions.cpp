#include "stores/etcd/subscriptions.hpp"

#include <algorithm>
#include <utility>

#include "stores/etcd/requests.hpp"

namespace tenure::stores::etcd {
namespace {

/// For reading the state at an opening.
constexpr core::duration look_patience = std::chrono::seconds(5);

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
      all_(mirrors.size()) {}

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
  core::observation now = m.observe();
  now.in_line = in_line_(which);
  if (who.shown == now) return;
  who.shown = now;
  // A copy: the handler may open the watch again.
  const watch_handler seen = who.seen;
  seen(std::move(now));
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
}

}  // namespace tenure::stores::etcd
