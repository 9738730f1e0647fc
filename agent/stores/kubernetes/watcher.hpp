#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/lease_group.hpp"
#include "stores/kubernetes/cluster.hpp"
#include "stores/kubernetes/lease_stream.hpp"
#include "stores/kubernetes/mirror.hpp"
#include "stores/watch_budget.hpp"

namespace tenure::stores::kubernetes {

/// Leases that are listed and watched together.
struct scope {
  std::string
      selector;  ///< what the query selects, percent-encoded; empty: all Leases of the namespace
  bool has_first = false;   ///< the Leases with the elections' names
  bool has_others = false;  ///< those with the elections' label
  std::vector<core::election_index> elections{};
};

/// What is watched: each election's first Lease by its name, and by their label all others; or, if
/// there are many elections, all Leases of the namespace. Each is a connection.
std::vector<scope> scopes_of(const std::vector<settings::election>& elections);

/// Keeps the mirrors of all elections up to date: lists the Leases of each scope, then watches from
/// there, on a stream of its own. When that breaks, the watcher starts again by itself.
///
/// A silent stream may be dead, and bookmarks also come from an API server that has lost its etcd:
/// so the watcher lists again when the stream has shown no change for 5/12 of `ttl`. If that list
/// had something new, and the stream does not show it until the next one is due, the stream is
/// opened again. A holder renews more often, so an idle standby asks nothing; a stream that shows
/// no slots, but only members, is looked after every 30 s.
///
/// After a break, holders may have renewed without being seen, and a restored backup may show the
/// state before that: so each Lease counts anew from the list that follows. That must not happen
/// more often than leases last, or a dead holder would never be followed. So a stream is replaced
/// before it breaks: before the server ends it, and before somebody on the way takes a silent
/// connection for unused. Its successor goes on from where it is. Both are followed until the old
/// one has outlived the beginning of the new one by as long as it takes to notice that a server is
/// gone: then nothing was missed between them, and the Leases count on.
///
/// Used on its loop only. No handler is called after its destruction.
class watcher {
 public:
  struct handlers {
    std::function<void(core::election_index)> changed;  ///< its mirror may show something new
    std::function<void(core::election_index)> live;     ///< its mirror is followed again
    /// An attempt to list or watch has failed, and why: the mirrors of these are not followed. None
    /// of them: it was about members only.
    std::function<void(const std::vector<core::election_index>&, const call_failure&)> broken;
    std::function<void()>
        heard;  ///< the mirrors show what Kubernetes holds as of now; may be empty
  };

  watcher(base::event_loop& on, cluster& through, std::vector<mirror>& mirrors, std::string path,
          std::vector<scope> scopes, core::duration ttl, handlers tell);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Connects now. Call once.
  void start();

  /// Ends everything; no handler is called afterwards.
  void close();

  /// True while every change of who holds is on its way to the mirror.
  [[nodiscard]] bool live(core::election_index which) const;
  /// The same of every change of this part.
  [[nodiscard]] bool live(core::election_index which, part its) const;
  /// The same of everything.
  [[nodiscard]] bool all_live() const;

 private:
  struct watched {
    explicit watched(base::event_loop& on, scope which)
        : what(std::move(which)), next_check(on), replacement(on), retry(on) {}

    scope what;
    bool live = false;
    bool heard = false;         ///< since the last `handlers::heard`
    bool owes = false;          ///< a list had something that no stream has shown
    std::uint64_t version = 0;  ///< up to which everything was shown
    std::uint64_t generation = 0;
    std::uint32_t failures = 0;
    core::time_point live_since{};
    core::time_point replace_at{};    ///< the stream is old then
    core::time_point replace_from{};  ///< never before
    core::time_point silent_since{};
    std::unique_ptr<lease_stream> stream;
    std::unique_ptr<lease_stream> successor;  ///< null: the stream is not being replaced
    base::timer next_check;
    base::timer replacement;  ///< when it begins, or when it ends
    base::timer retry;        ///< the next attempt to connect
  };
  using place = std::size_t;

  void connect(place at);
  void drop_streams(place at);
  void list(place at, bool missed, std::move_only_function<void(bool is_new)> then);
  bool show(place at, const lease_list& all, std::int64_t date_ms, bool missed);
  std::unique_ptr<lease_stream> open_stream(place at);
  void confirmed(place at, const lease_stream& which);
  void ended(place at, const lease_stream& which, const call_failure& why);
  void confirmed(place at);
  void take(place at, lease_stream& from, std::span<const watch_event> events, std::size_t bytes);
  bool take(place at, const watch_event& what, std::set<core::election_index>& later);
  void replace_later(place at);
  void replace(place at);
  void successor_confirmed(place at);
  void successor_ended(place at, const call_failure& why);
  void is_new(place at);
  void check_later(place at);
  [[nodiscard]] core::duration check_after(place at) const;
  void check(place at);
  [[nodiscard]] bool has_slots(place at, core::election_index of) const;
  [[nodiscard]] bool has_slots(place at) const;
  [[nodiscard]] bool counts_leases(place at) const;
  bool tell(const std::vector<core::election_index>& whom,
            const std::function<void(core::election_index)>& news, place at);
  void hear(place at);
  void fail(place at, const call_failure& why);
  auto still_here(place at);
  template <class Handler>
  auto current(place at, Handler what);

  base::event_loop& loop_;
  cluster& cluster_;
  std::vector<mirror>& mirrors_;
  std::string path_;
  core::duration ttl_;
  handlers tell_;
  watch_budget taken_;  ///< what streams may send, see `take`
  std::vector<std::unique_ptr<watched>> all_;
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::kubernetes
