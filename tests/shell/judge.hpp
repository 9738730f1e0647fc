#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/vocabulary.hpp"
#include "rule.hpp"
#include "store_witness.hpp"
#include "stores/store.hpp"
#include "world.hpp"

namespace tenure::shell {

/// Compares what members do with what is true. The first broken rule is kept.
class judge final : public store_witness {
 public:
  /// `traced`: what happens is printed.
  judge(world& in, bool traced) : world_(in), traced_(traced) {}

  /// Of every election. `slots`: until its members have agreed. `lock_delay`: as the slowest clock
  /// measures it. `ttl`: as the slowest clock does. `order_stays`: how long an order can be found.
  void begin(std::size_t slots, core::duration lock_delay, core::duration ttl,
             core::duration order_stays, bool has_guards) {
    slots_ = slots;
    lock_delay_ = lock_delay;
    ttl_ = ttl;
    order_stays_ = order_stays;
    has_guards_ = has_guards;
  }
  /// The next pod.
  void takes_part(std::string identity, std::size_t slots) {
    members_.push_back({.identity = std::move(identity), .slots = slots});
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
  /// A term that was over goes on: `by_holder`, who has renewed a lease that nobody had taken; else
  /// because somebody has written it again as it was.
  void put_back(const std::string& key, std::uint64_t version, bool by_holder);
  [[nodiscard]] bool was_restored() const { return was_restored_; }
  /// The largest version that the store has given since its newest restore.
  [[nodiscard]] std::uint64_t newest_version() const { return newest_; }
  void leases_begin_anew() override;
  /// If nobody has agreed any more, the number stays until somebody does. Who relies on what was
  /// taken away may take a slot for so long as a campaign lasts (docs/safety.md).
  void agreed(const std::string& election, std::uint32_t slots) override;
  /// A program that knows no slots has taken one that is closed: whoever has looked just before may
  /// be granted another one (docs/safety.md). That a workload runs beside it is not excused.
  void closed_slot_taken(const std::string& election);
  void order_gone(const std::string& text, erased_by how) override;
  /// How many may hold this election now. Those that held before another number was agreed on go
  /// on.
  [[nodiscard]] std::size_t slots_of(const std::string& which) const;
  /// The number that was agreed on last.
  [[nodiscard]] std::size_t agreed_slots(const std::string& which) const;

  /// Called again and again: looks for what has gone on for too long.
  void look();

  /// Called when the store has granted this election to a pod, before anybody hears of it.
  std::function<void(std::size_t pod, const std::string& which)> on_grant;

  // What members do. `which`: their election.
  /// A grant or a renewal is believed, for `ttl` from `sent_at`.
  void believes(std::size_t pod, const std::string& which, std::uint64_t version,
                world_time sent_at, core::duration ttl,
                const std::function<world_time(std::int64_t lease)>& promised);
  /// A grant is believed; before what else is said of this term. `key`: where the store has it;
  /// empty: by its version alone.
  void granted(std::size_t pod, const std::string& which, std::uint64_t version,
               const std::string& key, std::uint32_t slot);
  /// It is in this term, and has not begun to give it up.
  void enters(std::size_t pod, const std::string& which, std::uint64_t version);
  /// What its watch shows.
  void shown(std::size_t pod, const std::string& which, const core::observation& what);
  /// The store has told it that this term is over. `delay`: the store's own, before it grants to
  /// somebody else after that. `in_time`: it must be believed.
  void told_lost(std::size_t pod, const std::string& which, std::uint64_t version,
                 core::duration delay, bool in_time);
  /// It gives this term up, and says that the store has taken it away.
  void gives_up_as_lost(std::size_t pod, const std::string& which, std::uint64_t version);
  /// It does not hear what became of its acquire; it repeats that, or releases.
  void does_not_know(std::size_t pod, const std::string& which) {
    unknown_since_.try_emplace({pod, which}, world_.now);
  }
  /// Operators write into this world's elections what nobody can read. Members ask about that more
  /// and more rarely.
  void is_written_over() { is_written_over_ = true; }
  /// Members of this world hear of a restore by their watches alone (docs/safety.md).
  void may_miss_restores() { may_miss_restores_ = true; }
  void finds_out(std::size_t pod, const std::string& which) { unknown_since_.erase({pod, which}); }
  /// Its guard is gone, or hangs, and nobody can tell what lives of this term.
  void out_of_sight(std::size_t pod, const std::string& which, std::uint64_t version);
  /// Its guard has reported the end of that after all.
  void in_sight(std::size_t pod, const std::string& which);
  void renews(std::size_t pod, const std::string& which, std::uint64_t version);
  /// Since when the agent of this pod has got its time; `world_never`: it has not.
  std::function<world_time(std::size_t pod)> well_since;
  /// When the newest was sent that the watch of this pod had brought by then.
  std::function<world_time(std::size_t pod, world_time by)> news_from;
  /// True while its guard lives and does nothing: nobody hears from it what has ended.
  std::function<bool(std::size_t pod)> guard_hangs;
  void believes_clean(std::size_t pod, const std::string& which, std::uint64_t version);
  /// It gives up its term, and says that all that ran under it is dead, and that it need not be
  /// waited for.
  void says_clean(std::size_t pod, const std::string& which, std::uint64_t version) {
    if (term* const one = of(pod, which, version)) one->clean = true;
  }
  /// Another member ends this term, as all that ran under it is dead. Its own agent may not know
  /// yet.
  void is_witnessed(const std::string& which, std::uint64_t version);
  /// It tells the member of another pod that its term is over.
  void tells(std::size_t pod, const std::string& which, std::uint64_t version, std::size_t to);
  /// Whose key this is in the order of age, from 0 on; nothing: there is none, or another client's.
  [[nodiscard]] std::optional<std::size_t> pod_in_line(const std::string& which,
                                                       std::size_t place) const;
  /// True if this is the place behind the holder, which has told it that its term is over, and
  /// whose release has not come to the store yet.
  [[nodiscard]] bool is_told_by_first(const std::string& which,
                                      const std::vector<std::uint64_t>& shown) const;
  /// The versions of all keys of this election, the oldest first.
  [[nodiscard]] std::vector<std::uint64_t> in_line(const std::string& which) const;
  /// Asked when a term is released: whether the agent of this pod, whose term it is, has not begun
  /// to give it up.
  std::function<bool(std::size_t pod, const std::string& which, std::uint64_t version)> is_in;
  /// A workload acts under this version. One that asks its agent may do so several times in a term.
  /// `late`: who starts it stood still after that was decided, until the deadline was over.
  /// `asked_at`: when its agent has asked a guard for it.
  void starts(std::size_t pod, const std::string& which, std::uint64_t version, bool late = false,
              world_time asked_at = sim::world_never);
  void ends(std::size_t pod, const std::string& which, std::uint64_t version);
  /// All that acts in this pod, or for this client.
  void all_end(std::size_t pod);
  /// Asked about a workload that lives too long. False if nobody could have ended it: there
  /// docs/safety.md leaves protection to the version.
  std::function<bool(std::size_t pod, std::uint64_t version)> lives_by_mistake;
  /// Asked about a workload whose agent knows since `heard_at` that its term is over. True if it
  /// lives although it could have been killed since.
  std::function<bool(std::size_t pod, std::uint64_t version, world_time heard_at)> outlives_news;
  /// True if nothing has stopped the workload of this pod for longer than a lease lasts, and its
  /// agent has said that others get the lease when it runs out.
  std::function<bool(std::size_t pod)> is_left_alone;
  /// Another client of the store acts as the holder by this key. `client`: no pod has this number.
  /// `owner`: it, by its name in the store; empty where nobody else's term has that key.
  void foreign_starts(std::size_t client, const std::string& which, const std::string& key,
                      const std::string& owner);

  // How terms end.
  /// An agent has its workload of this version killed by then. What it does without having been
  /// told so by a renewal is no matter of this: it may have lost it to somebody who took it
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
    one.paused_from = world_.now + order_stays_;
  }
  /// It may hear of that as late as an order can be.
  void resumes(std::size_t pod, const std::string& which) {
    standing_aside& one = aside_[{pod, which}];
    one = {.resumed_until = world_.now + order_stays_, .heir_until = one.heir_until};
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
  /// What is true of a member that asks for a lease.
  struct candidate {
    bool ill = false;          ///< its health is checked, and it must have been found ill
    bool adopts = false;       ///< its guard keeps the workload of an earlier agent
    bool lacks_guard = false;  ///< it should have one
  };
  void campaigns(std::size_t pod, const std::string& which, const candidate& what);

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
    std::string key_before{};  ///< a restore has changed it
    std::string owner;
    std::optional<std::size_t> granted_to{};
    std::uint64_t version = 0;
    std::int64_t lease = 0;
    std::uint32_t slot = 0;
    std::size_t of_slots = 0;  ///< so many may hold when it came
    std::uint64_t number = 0;  ///< in the order in which they came to the store
    world_time created_at{};
    world_time placed_at{};  ///< when it took its place among those that are there
    world_time erased_at = sim::world_never;
    erased_by how{};
    world_time started_at{};  ///< its workload, last
    world_time sent_at{};     ///< of what its agent believes
    world_time believed_until{};
    world_time news_due = sim::world_never;  ///< its agent knows that it is over: nothing runs on
    bool told_over = false;                  ///< its agent, by the store
    bool told_by_renewal = false;            ///< so it is, by the answer to a renewal
    bool alive = false;                      ///< its workload
    bool clean = false;                      ///< its agent said so
    bool witnessed = false;                 ///< another member has said that nothing of it is alive
    bool came_clean = false;                ///< who held before it had left clean when it came, or
                                            ///< when the store was restored
    bool is_back = false;                   ///< a restore has brought it back after its end
    world_time delayed_until{};             ///< after its end, the store grants it to nobody before
    world_time told_at = sim::world_never;  ///< its member has told another one that it is over
    std::string told_to{};                  ///< its identity

    /// When whoever is behind it may have begun.
    [[nodiscard]] world_time end() const { return std::min(erased_at, told_at); }
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

    [[nodiscard]] std::uint64_t largest() const {
      return std::max({granted, known_to_guard, of_others});
    }
  };
  struct delay {
    world_time since{};
    world_time until{};
  };
  /// What the watch of an agent has shown last: versions of holders.
  struct shown_state {
    std::uint64_t as_of = 0;
    world_time at{};  ///< when it was seen; not what a grant alone has shown
    std::vector<std::uint64_t> all{};
    std::vector<std::uint64_t> own{};  ///< by its own session
    bool keeps_other_slots = false;    ///< see `keeps_other_slots`
    bool identity_in_use = false;

    /// True if this state comes after the grant of `version`, which is not among `these`.
    [[nodiscard]] bool is_without(std::uint64_t version,
                                  const std::vector<std::uint64_t>& these) const {
      return as_of >= version && std::ranges::find(these, version) == these.end();
    }
  };
  struct highest_one {
    std::uint64_t version = 0;
    std::size_t pod = 0;
  };

  using of_member = std::pair<std::size_t, std::string>;  ///< a pod, and an election
  struct member_facts {
    std::string identity;
    std::size_t slots = 1;
  };

  void say(const std::string& what) const;
  void look_at_workloads();
  void look_at_unknown();
  [[nodiscard]] bool keeps_other_slots(std::size_t pod, const core::observation& what) const;
  void check_nobody_holds(const std::string& election, std::uint32_t slots);
  [[nodiscard]] static const char* dispute_of(const shown_state& what);
  /// The newest term that this pod was granted under this version; null: it was not.
  [[nodiscard]] term* of(std::size_t pod, const std::string& which, std::uint64_t version);
  /// True if the one that held before this term has said that it need not be waited for, or if
  /// there was none.
  [[nodiscard]] bool is_put_behind(const term& what) const;
  [[nodiscard]] bool has_only_waited(const term& what) const;
  [[nodiscard]] bool was_left_clean(const term& before) const;
  [[nodiscard]] bool has_predecessor(const term& before) const;
  [[nodiscard]] bool has_not_read_of(const term& what, std::size_t pod, world_time by) const;
  [[nodiscard]] bool has_missed_a_restore(std::size_t pod, const std::string& which) const;
  void note_news(std::size_t pod, const std::string& which, bool has_room);
  void go_on_in(term& granted);
  void check_beside(const running_one& starts, const std::string& who);
  [[nodiscard]] bool was_taken_away(const term& one) const {
    return one.how == erased_by::somebody && one.erased_at <= world_.now;
  }

  world& world_;
  bool traced_;
  std::size_t slots_ = 1;
  core::duration lock_delay_{};
  core::duration order_stays_{};
  core::duration ttl_{};
  std::vector<member_facts> members_;
  struct agreement {
    std::size_t slots = 0;  ///< agreed on last
    bool is_there = false;
    std::size_t former_slots = 0;  ///< that was taken away
    world_time former_until{};     ///< somebody may still rely on it
  };
  std::map<std::string, agreement> agreed_;         ///< by election
  std::map<std::string, world_time> closed_taken_;  ///< by election: others may not know until then
  bool has_guards_ = false;
  rule broken_ = rule::none;
  std::string broken_name_;
  std::string details_;
  std::deque<term> terms_;
  std::map<std::uint64_t, term*> present_;  ///< what the store has now, by version
  std::map<of_member, seen_versions> seen_;
  std::map<of_member, shown_state> shown_;
  std::uint64_t last_number_ = 0;
  std::map<std::string, std::vector<running_one>> running_;
  std::map<std::string, world_time> changed_;
  std::map<std::string, delay> delays_;  ///< by key
  std::map<std::string, highest_one> highest_;
  std::map<of_member, standing_aside> aside_;
  bool is_written_over_ = false;
  bool may_miss_restores_ = false;
  std::map<of_member, world_time> unknown_since_;
  std::map<of_member, std::uint64_t> out_of_sight_;  ///< versions
  std::uint64_t entered_ = 0;
  bool was_restored_ = false;
  world_time restored_at_{};  ///< last
  std::uint64_t newest_ = 0;  ///< version, since the newest restore
};

}  // namespace tenure::shell
