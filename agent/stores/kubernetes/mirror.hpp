#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/clock.hpp"
#include "core/vacancies.hpp"
#include "core/vocabulary.hpp"
#include "settings/election.hpp"
#include "stores/kubernetes/codec.hpp"
#include "stores/kubernetes/open_slots.hpp"

namespace tenure::stores::kubernetes {

/// The run that looks at an election: tells its own Leases from those of others.
struct own_run {
  std::string mark;      ///< see `mark_of`
  std::string identity;  ///< as it is in a Lease, see `signature_text`
  std::string name_space{};
};

/// `NAMESPACE/LEASE/UID@VERSION`: one term of one Lease, also if another one has had its name.
std::string sequencer_of(std::string_view name_space, const lease_object& lease,
                         core::version version);

/// The Leases of an election are read in two parts: a Lease that a Go program has made has no
/// label.
enum class part : std::uint8_t {
  first,   ///< the Lease with the election's name
  others,  ///< those with the election's label
};

/// Somebody who holds a slot.
struct slot_holder {
  std::uint32_t slot = 0;
  std::string identity;
  std::string mark{};  ///< empty: of another program
  core::version version = core::no_version;
  bool ours = false;  ///< a run of this agent, present or past, has it
  /// Ours, but the agent has been told that it is over, and what runs by it may still be dying; or
  /// the agent holds another term, or the slot is not open, and nothing runs by this one. It is
  /// neither renewed nor released.
  bool is_lost = false;
  /// When others may take the slot: `duration` after its Lease was last seen to change. client-go
  /// does the same: no clock of another machine counts.
  core::time_point expires_at{};
};

/// A slot that can be taken, and what the write that takes it relies on.
struct vacancy {
  std::uint32_t slot = 0;
  std::optional<lease_object> lease{};  ///< nothing: there is none
  open_slots open{};                    ///< the list that has the slot
  bool is_agreed = false;               ///< the election has such a list, which is `open`
  bool is_clean = false;                ///< nothing runs in any free slot
};

/// The list of open slots has to be written before a free slot can be taken.
struct list_change {
  /// The Lease with the list, which the write relies on; nothing: there is none.
  std::optional<lease_object> first{};
  open_slots list;
};

/// What Kubernetes holds of one election: the newest state of each of its Leases that was read,
/// watched or written.
///
/// Pure: no I/O; times are arguments. Not thread-safe.
class mirror {
 public:
  /// `self` must outlive it. `ttl`: how long a Lease lasts that does not say so itself.
  mirror(settings::election election, const own_run& self, core::duration ttl);

  /// All Leases of a part as of `version`. `missed`: changes may have been missed, or the store may
  /// have been restored from a backup: then versions may go back, and every holder may have renewed
  /// since. `date_ms`: the reply's Date.
  void take_all(part which, std::span<const lease_object> all, std::uint64_t version,
                core::time_point now, std::int64_t date_ms, bool missed);

  /// A Lease as it was read, watched or written; ignored if a later state of it is known, or if it
  /// was deleted since.
  void take(const lease_object& one, core::time_point now);

  /// The same of a Lease that was asked for by its name: it may lack our label, which somebody has
  /// taken off. Lists and watches show nothing of such a Lease.
  void take_fetched(const lease_object& one, core::time_point now);
  /// There is no such Lease now.
  void take_missing(const std::string& name);

  /// There is no such Lease as of `version`.
  void take_away(std::string_view name, std::uint64_t version);

  /// A watch of this part has shown everything up to here.
  void reach(part which, std::uint64_t version);

  /// Grows with each change of a Lease that is kept.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }
  /// True if this Lease of a slot is as it is known but for a renewal, or if it is not of a slot.
  [[nodiscard]] bool is_routine(const lease_object& one, bool is_deleted) const;

  /// True if a Lease with this name and these labels is of this election.
  [[nodiscard]] bool has(const lease_object& one) const;
  /// The other election that owns a Lease by its label; empty: none does.
  [[nodiscard]] std::string other_owner(const lease_object& one) const;

  /// The largest version that is known, of any object. 0: nothing is known.
  [[nodiscard]] std::uint64_t version() const { return version_; }

  /// True if Leases of this part are slots that are open or held.
  [[nodiscard]] bool has_slots(part which) const;

  /// The Lease with this name as it is known, or null.
  [[nodiscard]] const lease_object* lease(std::string_view name) const;

  /// Lowest version first.
  [[nodiscard]] std::vector<slot_holder> holders() const;
  /// Our own term, if there is one that is not lost; the newest, if an operator or a write that was
  /// carried out late has made several.
  [[nodiscard]] std::optional<slot_holder> find_own() const;
  /// Another member's term; nothing if it is over. Programs without our mark have no terms here.
  [[nodiscard]] std::optional<slot_holder> find_term(const core::holder& whose) const;
  /// A term of ours that is lost, while others still wait for its end: an operator has made its
  /// Lease one that they do not respect, and has made it ours again, or we read it by its name.
  [[nodiscard]] std::optional<slot_holder> find_lost(core::time_point now) const;

  /// True if the number of slots is not the one in our settings.
  [[nodiscard]] bool agrees() const;
  [[nodiscard]] core::agreement agreed() const;
  /// Which Leases may be held. If nothing is agreed on: as many as our settings say, those that are
  /// held first; but the first Lease alone while a program holds it that knows no other.
  [[nodiscard]] open_slots open() const;
  /// The largest of all slots' Leases and of the list.
  [[nodiscard]] std::uint64_t largest_epoch() const;

  /// The smallest slot that can be taken now, if there is one, or `wanted` if that can be taken.
  [[nodiscard]] std::optional<vacancy> find_vacancy(
      core::time_point now, std::optional<std::uint32_t> wanted = std::nullopt) const;

  /// What has to be written before a free slot can be taken: the list lacks, or its epoch is before
  /// that of the slot.
  [[nodiscard]] std::optional<list_change> find_list_change(core::time_point now) const;

  /// True if nobody holds: then the number of slots may become ours, in the steps that
  /// open_slots.hpp gives.
  [[nodiscard]] bool is_vacant(core::time_point now) const;
  /// True if the list lacks smaller numbers than it has, as an earlier release may have left it: a
  /// program without slots would take the first Lease although it is closed.
  [[nodiscard]] bool has_gaps() const;
  /// A slot that has to be closed before: one of the list, or `doubtful`, which a late write of
  /// ours may still take. Nothing: all are closed.
  [[nodiscard]] std::optional<std::uint32_t> find_unclosed(
      std::optional<std::uint32_t> doubtful) const;
  /// The epoch with which slots are closed, and of the list that is written then.
  [[nodiscard]] std::uint64_t next_epoch() const;
  /// The first slot, with a list of ours. Precondition: nobody holds, and all slots are closed.
  [[nodiscard]] vacancy first_of_ours() const;

  /// False if others may have held this slot since our term of that version began, as an operator
  /// has put an old Lease back: that our workload is dead does not say that theirs are.
  [[nodiscard]] bool vouches(std::uint32_t slot, core::version version) const;

  /// Why a free slot cannot be taken, and what to do; empty if none is free, or one can be taken.
  [[nodiscard]] std::string why_closed(core::time_point now) const;

  /// Why we may not hold, and what to do; empty if we may.
  [[nodiscard]] std::string trouble() const;

  /// When versions were last accepted, by everything that this mirror has ever shown: a restored
  /// store may show an earlier acceptance, or none. 0: never.
  [[nodiscard]] std::int64_t last_accepted_unix_ms() const { return last_accepted_unix_ms_; }

  /// An order on the first Lease, and its annotation, while it is shown.
  struct kept_order {
    core::left_order order;
    std::string annotation;
  };
  [[nodiscard]] std::optional<kept_order> order(std::string_view id, core::time_point now) const;
  /// Annotations with orders that have not been shown for as long as they were: who holds the first
  /// Lease takes them off.
  [[nodiscard]] std::vector<std::string> finished_orders(core::time_point now) const;

  /// The Leases of members that have our identity and are other runs, sorted.
  [[nodiscard]] std::vector<std::string> namesakes(core::time_point now) const;

  /// Leases of members that nobody needs: they were not renewed for a long time.
  [[nodiscard]] std::vector<lease_object> left_behind(core::time_point now) const;

  /// A term of ours, on which we count for so long after each write. If its Lease says less, others
  /// do not wait for us, and it is not shown as ours. Nor are other Leases, even if they name us.
  struct counted_term {
    std::uint32_t slot = 0;
    std::int64_t duration_s = 0;
  };
  /// Nothing: we hold no term.
  void count_on(std::optional<counted_term> ours) { ours_ = ours; }

  /// The agent has been told that our term of this version is over. It is not shown as ours again,
  /// even if its Lease still names us.
  void lose(core::version version) { lost_ = version; }
  [[nodiscard]] bool has_lost(core::version version) const { return lost_ == version; }
  /// The same number may be granted again after a restore.
  void find_again(core::version version) {
    if (lost_ == version) lost_ = core::no_version;
  }

  [[nodiscard]] core::observation observe(core::time_point now) const;

  /// The Lease of another holder that has not changed for longer than it lasts, and cannot be taken
  /// because the watch breaks again and again before that time is over; empty: there is none.
  [[nodiscard]] std::string waited_for_in_vain(core::time_point now) const;

  /// When `observe` will show something else although nothing changes; `never` if it will not.
  [[nodiscard]] core::time_point next_change(core::time_point now) const;

 private:
  struct entry {
    lease_object object;
    core::time_point changed_at{};  ///< its spec was last seen to change
    core::time_point shown_at{};    ///< this version of it was first shown
    int breaks = 0;                 ///< watches that have ended since then
    core::version version =
        core::no_version;  ///< its term's version; a member's: that of its creation
    bool lives = false;    ///< it was made or changed since the election was first seen
  };
  struct order_entry {
    std::string annotation;
    core::time_point came_at{};  ///< it was first seen
    bool is_stale = false;       ///< it was left long before that
  };

  std::uint64_t& reached(part which) { return reached_.at(static_cast<std::size_t>(which)); }
  [[nodiscard]] std::uint64_t reached(part which) const {
    return reached_.at(static_cast<std::size_t>(which));
  }
  [[nodiscard]] part part_of(std::string_view name) const {
    return name == election_.name ? part::first : part::others;
  }
  [[nodiscard]] bool is_worth_keeping(const lease_object& one) const;
  [[nodiscard]] core::version as_of() const;
  [[nodiscard]] bool is_over(std::uint32_t slot, core::version version) const;
  [[nodiscard]] bool is_closed(std::uint32_t slot) const;
  [[nodiscard]] std::optional<open_slots> list() const;
  [[nodiscard]] bool is_held_by_another_program() const;
  void put(const lease_object& one, core::time_point now, bool missed,
           std::optional<std::int64_t> listed_ms = std::nullopt);
  void take_orders(const lease_object& of, core::time_point now,
                   std::optional<std::int64_t> listed_ms);
  void drop(const std::string& name);
  void count_slots(const entry* before, const entry* after);
  void doubt(const std::string& name, core::version last);
  [[nodiscard]] bool is_put_back(const lease_object& read, bool missed) const;
  [[nodiscard]] bool is_preferred_to(const lease_object& lease) const;
  [[nodiscard]] std::string sequencer_of(const slot_holder& one) const;
  [[nodiscard]] const entry* first() const;
  [[nodiscard]] const entry* in_slot(std::uint32_t slot) const;
  [[nodiscard]] bool counts(std::uint32_t slot) const;
  [[nodiscard]] std::size_t held(std::optional<core::time_point> now = std::nullopt) const;
  [[nodiscard]] bool is_full(const open_slots& open, core::time_point now) const;
  [[nodiscard]] bool is_slot(std::string_view name) const;
  [[nodiscard]] core::time_point expiry_of(const entry& one) const;
  [[nodiscard]] std::uint32_t free_slots() const;
  [[nodiscard]] std::uint32_t slots() const;
  [[nodiscard]] bool identity_in_use(std::span<const slot_holder> holders,
                                     core::time_point now) const;
  [[nodiscard]] bool is_namesake(const entry& one) const;
  [[nodiscard]] bool is_shown_member(const std::string& name, const entry& one,
                                     core::time_point now) const;
  [[nodiscard]] static bool is_shown(const order_entry& one, core::time_point now);

  settings::election election_;
  const own_run* self_;
  std::int64_t ttl_s_;
  std::uint64_t version_ = 0;
  std::uint64_t changes_ = 0;
  std::map<std::string, entry, std::less<>> leases_;        ///< by name
  std::map<std::string, order_entry, std::less<>> orders_;  ///< by id
  /// Per part: everything up to here has been listed or watched, so a Lease of an earlier version
  /// that is not here was deleted.
  std::array<std::uint64_t, 2> reached_{};
  std::optional<counted_term> ours_;
  core::version lost_ = core::no_version;
  std::int64_t last_accepted_unix_ms_ = 0;
  /// By the name of a slot's Lease: the newest term that ended, and may still run. A release of an
  /// earlier one, which somebody has put back, does not vouch for it.
  std::map<std::string, core::version, std::less<>> doubted_;
  core::vacancies vacancies_;  ///< at first, nothing is known about any slot
};

}  // namespace tenure::stores::kubernetes
