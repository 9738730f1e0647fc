#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/event_loop.hpp"
#include "core/lease_group.hpp"
#include "core/token_bucket.hpp"
#include "stores/consul/cluster.hpp"
#include "stores/consul/mirror.hpp"
#include "stores/consul/requests.hpp"

namespace tenure::stores::consul {

/// Keeps the mirrors of all elections up to date: reads each folder of elections, then asks Consul
/// to answer at the next change (a blocking query), again and again. When that fails, the watcher
/// starts again by itself.
///
/// Consul answers without a change, too: after `check_every`, which shows that the watch is served;
/// and at once when it was restored from a backup, with what was there before. So an answer without
/// a change that comes early is followed by a read. If such answers follow each other, the next
/// query waits, so that the server is not kept busy.
///
/// What is shown without keys that were there may be a state in which they are gone, or all that
/// the token may read by now: the watcher makes sure before it shows that to anybody.
///
/// Used on its loop only. No handler is called after its destruction.
class watcher {
 public:
  struct handlers {
    std::function<void(core::election_index)> changed;  ///< its mirror may show something new
    std::function<void(core::election_index)> live;     ///< its mirror is followed again
    /// An attempt to read or follow these has failed, and why.
    std::function<void(const std::vector<core::election_index>&, const call_failure&)> broken;
    std::function<void()> heard;  ///< the mirrors show what Consul holds as of now; may be empty
  };

  watcher(base::event_loop& on, cluster& through, std::vector<mirror>& mirrors,
          std::vector<folder> folders, core::duration check_every, handlers tell);
  ~watcher();
  watcher(const watcher&) = delete;
  watcher& operator=(const watcher&) = delete;

  /// Connects now. Call once.
  void start();

  /// Ends everything; no handler is called afterwards.
  void close();

  /// True while every change is on its way to the mirror.
  [[nodiscard]] bool live(core::election_index which) const { return of(which).live; }

  /// Brings the mirror to the present state, or to a later one, and then calls `done`; never, if
  /// that fails: then the watch is broken. Precondition: `live(which)`.
  void look(core::election_index which, std::move_only_function<void()> done);

 private:
  struct watched {
    folder what;
    bool live = false;
    bool looks = false;       ///< a look is under way
    bool heard = false;       ///< since the last `handlers::heard`
    std::uint64_t index = 0;  ///< the index of the last answer
    std::uint64_t generation = 0;
    std::uint32_t failures = 0;
    std::uint32_t idle = 0;  ///< answers in a row that came at once without a change
    core::time_point live_since{};
    core::time_point asked_at{};
    std::uint64_t asked_index = 0;
    std::vector<std::move_only_function<void()>> wait_for_look;  ///< for the next one
    std::unique_ptr<base::timer> next;
  };
  using place = std::size_t;

  void connect(place at);
  void ask(place at);
  void ask_after(place at, core::duration pause);
  void answered(place at, const reply_or_failure& what);
  void begin_look(place at);
  void connected(place at, const reply& what, std::span<const key_value> keys);
  void looked(place at, std::uint64_t known, std::uint64_t index, std::span<const key_value> keys,
              std::vector<std::move_only_function<void()>> waiting);
  void make_sure(place at, const reply& what, std::vector<key_value> keys,
                 std::move_only_function<void(std::span<const key_value>)> then);
  void show(place at, std::uint64_t index, std::span<const key_value> keys, bool anew);
  bool tell(place at, const std::function<void(core::election_index)>& news);
  void hear(place at);
  void fail(place at, call_failure what);
  auto still_here(place at);
  template <class Handler>
  auto current(place at, Handler what);
  [[nodiscard]] const watched& of(core::election_index which) const {
    return all_[place_of_[core::place(which)]];
  }

  base::event_loop& loop_;
  cluster& cluster_;
  std::vector<mirror>& mirrors_;
  core::duration check_every_;
  handlers tell_;
  core::token_bucket taken_;  ///< what answers may bring, see `answered`
  std::vector<watched> all_;
  std::vector<place> place_of_;  ///< per election
  std::shared_ptr<const bool> alive_ = std::make_shared<const bool>(true);
};

}  // namespace tenure::stores::consul
