#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/vocabulary.hpp"
#include "store_witness.hpp"
#include "stores/store.hpp"
#include "world.hpp"

namespace tenure::shell {

/// What must never happen. Each is a sentence of docs/safety.md, as far as a store's client can
/// break it.
enum class rule : std::uint8_t {
  none,
  guard,                    ///< one of `guard_rule`, in one of the pods
  too_many_running,         ///< more workloads run than there are slots, and nobody took a key away
  outlives_lease,           ///< the store may grant to the next one, and the workload is not dead
  started_without_lease,    ///< no grant to this member, or one that was over
  started_too_early,        ///< the previous holder has not released, and lock_delay is not over
  version_not_larger,       ///< a workload starts under no larger version than one before
  believed_what_is_not,     ///< a grant of a key that was never written, or is another's
  believed_what_was_gone,   ///< the key was gone before the request was sent
  believed_beyond_promise,  ///< the leader has not promised to keep the lease for so long
  clean_without_release,    ///< "the previous holder has released": it has not
  takes_two_slots,          ///< one agent has two keys of one election
  slot_twice,               ///< two workloads run in slots of the same number
  version_below_seen,       ///< a term of no larger version than its member had seen, and nobody
                            ///< accepted that
  silent_about_versions,    ///< versions have moved back, and the log does not say what to do
  secret_in_log,            ///< a token or a password
  granted_while_held,       ///< a grant of an election that another term held then
  released_in_use,          ///< a key is given up while its workload runs, or its agent acts by it
  shows_what_is_not,        ///< a watch that works shows other holders than there are
  campaigns_while_paused,   ///< it was paused, and not resumed
  campaigns_while_aside,    ///< it has resigned, and stands aside for a while
  campaigns_while_unhealthy,
  ignores_its_loss,  ///< it has heard that its session is gone, and goes on in a term that is over
  grace_without_delay,  ///< it was told that its term is over, and gives its workload more time
                        ///< than the store lets pass before it grants that to others
  no_holder,  ///< all is well again, and nobody is active
  busy_loop,
};

const char* name(rule r);

/// Compares what members do with what is true. The first broken rule is kept.
class judge final : public store_witness {
 public:
  /// `traced`: what happens is printed.
  judge(world& in, bool traced) : world_(in), traced_(traced) {}

  /// Of every election. `lock_delay`: as the slowest clock measures it.
  void begin(std::size_t slots, core::duration lock_delay, bool has_guards) {
    slots_ = slots;
    lock_delay_ = lock_delay;
    has_guards_ = has_guards;
  }

  // What is true of the store.
  void created(const std::string& key, std::uint64_t revision, std::int64_t lease,
               const std::string& value) override;
  void moved(std::uint64_t version, const std::string& to, std::int64_t lease) override;
  void erased(const std::string& key, std::uint64_t create_revision, erased_by how) override;
  void delayed(const std::string& key, world_time until) override {
    delays_[key] = {.since = world_.now, .until = until};
  }
  void restored(const std::vector<restored_key>& there, std::uint64_t revision) override;
  void leases_begin_anew() override;

  // What members do. `which`: their election.
  /// A grant or a renewal is believed, for `ttl` from `sent_at`.
  void believes(std::size_t pod, const std::string& which, std::uint64_t version,
                world_time sent_at, core::duration ttl,
                const std::function<world_time(std::int64_t lease)>& promised);
  /// A grant is believed; before what else is said of this term. `key`: where the store has it;
  /// empty: by its version alone. `sent_at`: of the grant.
  void granted(std::size_t pod, const std::string& which, std::uint64_t version,
               const std::string& key, world_time sent_at, std::uint32_t slot);
  /// It enters this term, and has not begun to give it up.
  void enters(std::size_t pod, const std::string& which, std::uint64_t version);
  /// What its watch shows.
  void shown(std::size_t pod, const std::string& which, const core::observation& what);
  void believes_clean(std::size_t pod, const std::string& which, std::uint64_t version);
  /// It gives up its term, and says that all that ran under it is dead, and that it need not be
  /// waited for.
  void says_clean(std::size_t pod, const std::string& which, std::uint64_t version) {
    if (term* const one = of(pod, which, version)) one->clean = true;
  }
  /// Asked when a term is released: whether the agent of this pod, whose term it is, has not begun
  /// to give it up.
  std::function<bool(std::size_t pod, std::uint64_t version)> is_in;
  /// A workload acts under this version. One that asks its agent may do so several times in a term.
  /// `late`: who starts it stood still after that was decided, until the deadline was over.
  void starts(std::size_t pod, const std::string& which, std::uint64_t version, bool late = false);
  void ends(std::size_t pod, const std::string& which, std::uint64_t version);
  /// All that acts in this pod, or for this client.
  void all_end(std::size_t pod);
  /// Asked about a workload that lives too long. False if nobody could have ended it: there
  /// docs/safety.md leaves protection to the version.
  std::function<bool(std::size_t pod, std::uint64_t version)> lives_by_mistake;
  /// Another client of the store acts as the holder by this key. `client`: no pod has this number.
  void foreign_starts(std::size_t client, const std::string& which, const std::string& key);

  // How terms end.
  /// The store tells its member that this term is over; before the member hears of it.
  void told_over(std::size_t pod, const std::string& which, std::uint64_t version) {
    if (term* const one = of(pod, which, version)) one->told = true;
  }
  /// An agent has its workload of this version killed by then. What it does without having been
  /// told that its term is over is no matter of this: it may have lost it to somebody who took it
  /// away.
  void stops(std::size_t pod, const std::string& which, std::uint64_t version, world_time kill_by);
  [[nodiscard]] bool is_over(std::size_t pod, const std::string& which, std::uint64_t version) {
    const term* const one = of(pod, which, version);
    return one != nullptr && one->erased_at <= world_.now;
  }

  // Orders that members have accepted.
  /// It may hear last that its own answer counts, but in the time that an order has.
  void paused(std::size_t pod, const std::string& which) {
    standing_aside& one = aside_[{pod, which}];
    // An order to resume that was given before may still come, and counts then.
    if (world_.now < one.resumed_until) return;
    one.paused_from = world_.now + stores::order_stays;
  }
  /// It may hear of that as late as an order can be.
  void resumes(std::size_t pod, const std::string& which) {
    standing_aside& one = aside_[{pod, which}];
    one = {.resumed_until = world_.now + stores::order_stays, .heir_until = one.heir_until};
  }
  void stands_aside(std::size_t pod, const std::string& which, world_time until) {
    aside_[{pod, which}].until = until;
  }
  /// It is to hold next, and need not stand aside when it hears of that: at the end of a drain.
  void is_heir(std::size_t pod, const std::string& which, world_time until) {
    aside_[{pod, which}].heir_until = until;
  }
  /// Its new agent does not know of orders, and knows only the versions that its guard keeps.
  void begins_anew(std::size_t pod);
  /// Its guard is replaced by one that knows nothing yet.
  void guard_begins(std::size_t pod);
  /// It asks for a lease. `ill`: its health is checked, and it must have been found ill.
  void campaigns(std::size_t pod, const std::string& which, bool ill);

  void broke(rule what, const std::string& details);
  /// A rule of another judge; `name` is its name.
  void broke_guard_rule(const std::string& name, const std::string& details);
  [[nodiscard]] rule broken() const { return broken_; }
  /// Empty: none.
  [[nodiscard]] const std::string& broken_name() const { return broken_name_; }
  [[nodiscard]] const std::string& details() const { return details_; }
  /// When a key of this election was last created or deleted.
  [[nodiscard]] world_time changed_at(const std::string& which) const;
  [[nodiscard]] std::size_t running(const std::string& which) const;
  [[nodiscard]] std::uint64_t terms_entered() const { return entered_; }

 private:
  struct term {
    std::string which;
    std::string key;
    std::string owner;
    std::optional<std::size_t> granted_to{};
    std::uint64_t version = 0;
    std::int64_t lease = 0;
    std::uint32_t slot = 0;
    std::uint64_t number = 0;  ///< in the order in which they came to the store
    world_time created_at{};
    world_time placed_at{};  ///< when it took its place among those that are there
    world_time erased_at = sim::world_never;
    erased_by how{};
    world_time started_at{};     ///< its workload, last
    bool alive = false;          ///< its workload
    bool clean = false;          ///< its agent said so
    bool came_clean = false;     ///< who held before it had been left clean when it came
    bool is_back = false;        ///< a restore has brought it back after its end
    bool told = false;           ///< its member was told that it is over
    world_time delayed_until{};  ///< after its end, the store grants it to nobody before
  };
  struct running_one {
    std::size_t pod;
    term* of;
    bool foreign = false;
  };

  struct standing_aside {
    world_time paused_from = sim::world_never;
    world_time until{};
    world_time resumed_until{};
    world_time heir_until{};
  };
  /// What an agent knows of versions.
  struct seen_versions {
    std::uint64_t present = 0;         ///< of the term that it was in last
    std::uint64_t granted = 0;         ///< the largest of its own
    std::uint64_t known_to_guard = 0;  ///< the largest since its guard began, of any agent
    std::uint64_t of_others = 0;
    bool has_watched = false;
    std::int64_t accepted_unix_ms = 0;
  };
  struct delay {
    world_time since{};
    world_time until{};
  };
  struct highest_one {
    std::uint64_t version = 0;
    std::size_t pod = 0;
  };

  void say(const std::string& what) const;
  /// The newest term that this pod was granted under this version; null: it was not.
  [[nodiscard]] term* of(std::size_t pod, const std::string& which, std::uint64_t version);
  /// True if the one that held before this term has said that it need not be waited for, or if
  /// there was none.
  [[nodiscard]] bool was_left_clean(const term& before) const;
  [[nodiscard]] bool has_predecessor(const term& before) const;
  void check_beside(const running_one& starts, const std::string& who);
  [[nodiscard]] bool was_taken_away(const term& one) const {
    return one.how == erased_by::somebody && one.erased_at <= world_.now;
  }

  world& world_;
  bool traced_;
  std::size_t slots_ = 1;
  core::duration lock_delay_{};
  bool has_guards_ = false;
  rule broken_ = rule::none;
  std::string broken_name_;
  std::string details_;
  std::deque<term> terms_;
  std::map<std::uint64_t, term*> present_;  ///< what the store has now, by version
  std::map<std::pair<std::size_t, std::string>, seen_versions> seen_;
  std::uint64_t last_number_ = 0;
  std::map<std::string, std::vector<running_one>> running_;
  std::map<std::string, world_time> changed_;
  std::map<std::string, delay> delays_;  ///< by key
  std::map<std::string, highest_one> highest_;
  std::map<std::pair<std::size_t, std::string>, standing_aside> aside_;
  std::uint64_t entered_ = 0;
};

}  // namespace tenure::shell
