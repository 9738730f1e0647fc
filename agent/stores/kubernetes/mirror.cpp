#include "stores/kubernetes/mirror.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

#include "stores/kubernetes/layout.hpp"
#include "stores/namesakes.hpp"
#include "stores/records/agreement_text.hpp"
#include "stores/records/order_text.hpp"
#include "stores/records/readiness_text.hpp"
#include "stores/records/release_record_text.hpp"
#include "stores/store.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// The clocks of API servers may differ, and what they say are whole seconds.
constexpr std::chrono::seconds server_clocks_differ{2};
/// The Lease of a member is deleted after so many times the time that it is shown, and an order.
constexpr int lives_until_deleted = 2;
/// A watch that breaks so often while nothing changes breaks for its age or its silence.
constexpr int breaks_in_a_row = 3;
/// Leases of one election that are kept; more of them are not shown. Slots that matter come on top.
constexpr std::size_t most_kept = 10'000;
/// As in the settings.
constexpr std::uint32_t most_slots = 1000;

std::optional<core::release_record> release_of(const lease_object& one) {
  auto note = parse_release_record(one.note(release_annotation));
  return note ? std::optional(std::move(note->said)) : std::nullopt;
}

/// True if the last term of this slot was released after everything in it had ended. A later holder
/// of another program has more transitions, or at least another time, and an operator who frees a
/// Lease writes no note.
bool is_released_cleanly(const lease_object& one) {
  const auto note = parse_release_record(one.note(release_annotation));
  const auto term = parse_term(one.note(term_annotation));
  return one.holder.empty() && note && note->clean && term &&
         term->transitions == one.transitions && term->version == note->said.version &&
         term->released_ms == one.renewed_ms;
}

bool is_same_term(const lease_object& a, const lease_object& b) {
  return a.uid == b.uid && a.holder == b.holder && a.transitions == b.transitions;
}

/// The version of what the Lease shows now; the one that was known of it before goes on.
core::version version_of(const lease_object& now, const core::version* before) {
  const auto note = parse_term(now.note(term_annotation));
  const std::string mark = parse_signature(now.holder).mark;
  if (note && !mark.empty() && note->mark == mark && note->transitions == now.transitions &&
      core::number(note->version) <= now.resource_version) {
    return note->version;
  }
  return before != nullptr ? *before : core::version{now.resource_version};
}

}  // namespace

std::string sequencer_of(std::string_view name_space, const lease_object& lease,
                         core::version version) {
  return std::string(name_space) + "/" + lease.name + "/" + lease.uid + "@" +
         std::to_string(core::number(version));
}

mirror::mirror(settings::election election, const own_run& self, core::duration ttl)
    : election_(std::move(election)),
      self_(&self),
      ttl_s_(std::chrono::ceil<std::chrono::seconds>(ttl).count()),
      vacancies_(election_.slots) {}

bool mirror::has(const lease_object& one) const {
  const auto label = one.labels.find(election_label);
  return one.name == election_.name ||
         (label != one.labels.end() && label->second == election_.name);
}

std::string mirror::other_owner(const lease_object& one) const {
  const auto label = one.labels.find(election_label);
  const bool is_other = label != one.labels.end() && label->second != election_.name;
  return one.name != election_.name && is_other ? label->second : "";
}

void mirror::take_all(part which, std::span<const lease_object> all, std::uint64_t version,
                      core::time_point now, std::int64_t date_ms, bool missed) {
  // What was deleted since is not brought back.
  const bool is_late = !missed && version < reached(which);
  std::set<std::string, std::less<>> there;
  std::vector<std::pair<std::string, core::version>> displaced;
  for (const lease_object& one : all) {
    if (!has(one) || part_of(one.name) != which) continue;
    there.insert(one.name);
    if (is_late && !leases_.contains(one.name)) continue;
    if (is_put_back(one, missed)) {
      displaced.emplace_back(one.name, core::version{one.resource_version});
    }
    put(one, now, missed, date_ms);
  }
  std::vector<std::string> away;
  for (const auto& [name, known] : leases_) {
    const bool is_later = !missed && known.object.resource_version > version;
    if (part_of(name) != which || there.contains(name) || is_later) continue;
    if (has(known.object)) away.push_back(name);
  }
  for (const std::string& name : away) drop(name);
  if (missed) {
    reached(which) = version_ = version;
    vacancies_ = core::vacancies(free_slots());
    // Who held beside our own term while it was put back may still run.
    std::erase_if(doubted_, [&](const auto& one) {
      const lease_object* const its = lease(one.first);
      const bool is_ours = its != nullptr && parse_signature(its->holder).mark == self_->mark;
      return part_of(one.first) == which && !is_ours;
    });
  } else {
    reach(which, version);
  }
  for (const auto& [name, newest] : displaced) doubt(name, newest);
}

void mirror::take(const lease_object& one, core::time_point now) {
  version_ = std::max(version_, one.resource_version);
  const auto known = leases_.find(one.name);
  const std::uint64_t shown =
      known == leases_.end() ? reached(part_of(one.name)) : known->second.object.resource_version;
  if (one.resource_version > shown) put(one, now, false);
}

void mirror::take_fetched(const lease_object& one, core::time_point now) {
  if (is_put_back(one, false)) doubt(one.name, core::version{one.resource_version});
  if (has(one)) return take(one, now);
  const auto known = leases_.find(one.name);
  const bool is_later =
      known == leases_.end() || one.resource_version > known->second.object.resource_version;
  if (is_later && other_owner(one).empty()) put(one, now, false);
}

void mirror::take_missing(const std::string& name) {
  const auto known = leases_.find(name);
  if (known != leases_.end() && !has(known->second.object)) drop(name);
}

void mirror::take_away(std::string_view name, std::uint64_t version) {
  const auto known = leases_.find(name);
  const bool is_later = known != leases_.end() && known->second.object.resource_version > version;
  if (!is_later) drop(std::string(name));
  reach(part_of(name), version);
}

void mirror::reach(part which, std::uint64_t version) {
  reached(which) = std::max(reached(which), version);
  version_ = std::max(version_, version);
}

/// Anybody who may make Leases can make many.
bool mirror::is_worth_keeping(const lease_object& one) const {
  const auto slot = slot_named(election_.name, one.name);
  if (!slot && !is_member_name(election_.name, one.name)) return false;
  const bool may_matter = slot && (*slot < most_slots || !one.holder.empty());
  return may_matter || leases_.size() < most_kept || leases_.contains(one.name);
}

/// `listed_ms`: by the reply's Date, if a list shows it.
void mirror::put(const lease_object& one, core::time_point now, bool missed,
                 std::optional<std::int64_t> listed_ms) {
  const auto known = leases_.find(one.name);
  const entry* const before = known == leases_.end() ? nullptr : &known->second;
  if (before != nullptr && !missed && before->object.resource_version > one.resource_version)
    return;
  if (!is_worth_keeping(one)) return;
  const bool goes_on = before != nullptr && is_same_term(before->object, one);
  entry after{.object = one, .changed_at = now, .shown_at = now};
  const bool is_known = goes_on && core::number(before->version) <= one.resource_version;
  after.version = version_of(one, is_known ? &before->version : nullptr);
  // Nobody relies on what a member says.
  const bool may_count_on = goes_on && (!missed || !is_slot(one.name));
  if (may_count_on && before->object.spec == one.spec) after.changed_at = before->changed_at;
  const bool is_known_state = before != nullptr && before->object.uid == one.uid &&
                              before->object.resource_version == one.resource_version;
  if (is_known_state) {
    after.shown_at = before->shown_at;
    after.breaks = before->breaks + (missed ? 1 : 0);
  } else {
    ++changes_;
  }
  const bool is_same = before != nullptr && before->object.spec == one.spec;
  after.lives = is_same ? before->lives : before != nullptr || !missed;
  if (is_slot(one.name)) count_slots(before, &after);
  leases_.insert_or_assign(one.name, std::move(after));
  if (one.name == election_.name) {
    const auto accepted = parse_agreement(one.note(agreement_annotation));
    if (accepted) {
      last_accepted_unix_ms_ = std::max(last_accepted_unix_ms_, accepted->accepted_unix_ms);
    }
    take_orders(one, now, listed_ms);
  }
  vacancies_.limit(free_slots());
}

void mirror::drop(const std::string& name) {
  const auto known = leases_.find(name);
  if (known == leases_.end()) return;
  if (is_slot(name)) count_slots(&known->second, nullptr);
  if (name == election_.name) orders_.clear();
  leases_.erase(known);
  ++changes_;
  vacancies_.limit(free_slots());
}

bool mirror::is_routine(const lease_object& one, bool is_deleted) const {
  if (!is_slot(one.name)) return true;
  const lease_object* const before = lease(one.name);
  if (before == nullptr || is_deleted) return false;
  lease_object renewed = *before;
  renewed.resource_version = one.resource_version;
  renewed.spec = one.spec;
  renewed.renewed_ms = one.renewed_ms;
  return renewed == one;
}

/// An order that a list shows may have been left long ago; a watch has shown it when it came.
void mirror::take_orders(const lease_object& of, core::time_point now,
                         std::optional<std::int64_t> listed_ms) {
  auto before = std::exchange(orders_, {});
  for (const auto& [name, text] : of.notes) {
    const auto id = order_in(name);
    if (!id) continue;
    order_entry one{.annotation = text, .came_at = now};
    if (const auto known = before.find(*id); known != before.end()) {
      one.came_at = known->second.came_at;
      one.is_stale = known->second.is_stale;
    } else if (listed_ms) {
      const auto note = parse_order_note(text);
      const auto age = std::chrono::milliseconds(*listed_ms - (note ? note->left_ms : 0));
      one.is_stale = *listed_ms == 0 || age > order_stays + server_clocks_differ;
    }
    orders_.emplace(*id, std::move(one));
  }
}

/// Keeps the doubts: see core::vacancies.
void mirror::count_slots(const entry* before, const entry* after) {
  const bool was_held = before != nullptr && !before->object.holder.empty();
  const bool is_held = after != nullptr && !after->object.holder.empty();
  if (before != nullptr && after != nullptr && is_same_term(before->object, after->object)) return;
  // One that speaks of an earlier term was written by somebody who has kept it.
  const auto said = after == nullptr ? std::nullopt : release_of(after->object);
  const std::string& name = (before != nullptr ? before : after)->object.name;
  const auto doubted = doubted_.find(name);
  const core::version earlier = doubted == doubted_.end() ? core::no_version : doubted->second;
  const core::version last = was_held ? std::max(before->version, earlier) : earlier;
  const bool is_of_it = said && said->version >= last;
  const bool is_clean = after != nullptr && is_of_it && is_released_cleanly(after->object);
  if (was_held && !is_clean) doubt(name, last);
  // A clean release vouches for all terms before it, also for those that were missed.
  const bool has_changed = before != nullptr || !is_held;
  if ((was_held || !is_held) && has_changed) vacancies_.freed(is_clean);
  // One outside the list takes no free slot of the election.
  if (is_held && counts(slot_named(election_.name, name).value_or(0))) vacancies_.taken();
}

/// True if our term is read as somebody else has written it, without a renewal of ours that was
/// under way: an operator may have put it back after others have held. A watch shows them; what is
/// read may be ahead of it.
bool mirror::is_put_back(const lease_object& read, bool missed) const {
  const lease_object* const before = lease(read.name);
  if (before == nullptr || !is_slot(read.name)) return false;
  const bool is_other = missed ? before->resource_version != read.resource_version
                               : before->resource_version < read.resource_version;
  if (!is_other || parse_signature(read.holder).mark != self_->mark) return false;
  // Others take our note off, or write their own.
  const auto has_our_note = [this](const lease_object& one) {
    const auto note = parse_term(one.note(term_annotation));
    return note && note->mark == self_->mark;
  };
  return before->renewed_ms >= read.renewed_ms || (has_our_note(*before) && !has_our_note(read));
}

bool mirror::vouches(std::uint32_t slot, core::version version) const {
  const auto doubted = doubted_.find(slot_name(election_.name, slot));
  return doubted == doubted_.end() || doubted->second <= version;
}

/// Kept when the Lease is deleted: an earlier term may be put back, and be released then.
void mirror::doubt(const std::string& name, core::version last) {
  if (doubted_.size() < most_kept || doubted_.contains(name)) doubted_[name] = last;
}

const mirror::entry* mirror::first() const {
  const auto found = leases_.find(election_.name);
  return found == leases_.end() ? nullptr : &found->second;
}

const lease_object* mirror::lease(std::string_view name) const {
  const auto found = leases_.find(name);
  return found == leases_.end() ? nullptr : &found->second.object;
}

bool mirror::is_slot(std::string_view name) const {
  return slot_named(election_.name, name).has_value();
}

core::time_point mirror::expiry_of(const entry& one) const {
  return core::later(one.changed_at, std::chrono::seconds(one.object.duration_s.value_or(ttl_s_)));
}

// Holders --------------------------------------------------------------------------------------

/// True if what runs by us does not run by this term of ours.
bool mirror::is_over(std::uint32_t slot, core::version version) const {
  return version == lost_ || (ours_ ? slot != ours_->slot : is_closed(slot));
}

/// A slot that is held is not closed: who has it was not granted it.
bool mirror::is_closed(std::uint32_t slot) const {
  const auto its = list();
  return its && !its->has(slot);
}

std::vector<slot_holder> mirror::holders() const {
  std::vector<slot_holder> out;
  for (const auto& [name, one] : leases_) {
    const auto slot = slot_named(election_.name, name);
    if (!slot || one.object.holder.empty()) continue;
    signature by = parse_signature(one.object.holder);
    out.push_back({.slot = *slot,
                   .identity = std::move(by.identity),
                   .mark = by.mark,
                   .version = one.version,
                   .ours = by.mark == self_->mark && !is_over(*slot, one.version),
                   .is_lost = by.mark == self_->mark && is_over(*slot, one.version),
                   .expires_at = expiry_of(one)});
  }
  std::ranges::sort(out, {}, &slot_holder::version);
  return out;
}

std::optional<slot_holder> mirror::find_own() const {
  const auto all = holders();
  const auto own = std::find_if(all.rbegin(), all.rend(), [](const auto& one) { return one.ours; });
  return own == all.rend() ? std::nullopt : std::optional(*own);
}

std::optional<slot_holder> mirror::find_term(const core::holder& whose) const {
  const auto all = holders();
  const auto found = std::ranges::find_if(all, [&](const slot_holder& one) {
    return !one.mark.empty() && one.mark != self_->mark && one.version == whose.version &&
           sequencer_of(one) == whose.sequencer;
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

std::string mirror::sequencer_of(const slot_holder& one) const {
  const lease_object& its = *lease(slot_name(election_.name, one.slot));
  return kubernetes::sequencer_of(self_->name_space, its, one.version);
}

std::optional<slot_holder> mirror::find_lost(core::time_point now) const {
  const auto all = holders();
  const auto lost = std::ranges::find_if(
      all, [now](const slot_holder& one) { return one.is_lost && now < one.expires_at; });
  return lost == all.end() ? std::nullopt : std::optional(*lost);
}

bool mirror::identity_in_use(std::span<const slot_holder> holders, core::time_point now) const {
  const auto is_namesake = [&](const slot_holder& one) {
    return one.mark != self_->mark && one.identity == self_->identity;
  };
  if (std::ranges::any_of(holders, is_namesake)) return true;
  auto earliest = core::version{std::numeric_limits<std::uint64_t>::max()};
  bool ours = true;
  for (const auto& [name, one] : leases_) {
    if (!is_shown_member(name, one, now)) continue;
    const signature by = parse_signature(one.object.holder);
    if (by.identity != self_->identity || one.version >= earliest) continue;
    if (by.mark != self_->mark && !one.lives && now >= one.changed_at + namesake_doubt) continue;
    earliest = one.version;
    ours = by.mark == self_->mark;
  }
  return !ours;
}

/// True if another run with our identity holds the Lease.
bool mirror::is_namesake(const entry& one) const {
  const signature by = parse_signature(one.object.holder);
  return by.identity == self_->identity && by.mark != self_->mark;
}

std::vector<std::string> mirror::namesakes(core::time_point now) const {
  std::vector<std::string> out;
  for (const auto& [name, one] : leases_) {
    if (is_shown_member(name, one, now) && is_namesake(one)) out.push_back(name);
  }
  return out;
}

// Members and orders ---------------------------------------------------------------------------

bool mirror::is_shown_member(const std::string& name, const entry& one,
                             core::time_point now) const {
  return is_member_name(election_.name, name) && now < expiry_of(one);
}

bool mirror::is_shown(const order_entry& one, core::time_point now) {
  return !one.is_stale && now < one.came_at + order_stays;
}

std::optional<mirror::kept_order> mirror::order(std::string_view id, core::time_point now) const {
  const auto found = orders_.find(id);
  if (found == orders_.end() || !is_shown(found->second, now)) return std::nullopt;
  const auto note = parse_order_note(found->second.annotation);
  auto said = note ? parse_order(std::string(id), note->order) : std::nullopt;
  if (!said) return std::nullopt;
  return kept_order{.order = std::move(*said), .annotation = found->second.annotation};
}

std::vector<std::string> mirror::finished_orders(core::time_point now) const {
  std::vector<std::string> out;
  for (const auto& [id, one] : orders_) {
    if (now >= one.came_at + lives_until_deleted * order_stays) {
      out.push_back(std::string(order_annotations) + id);
    }
  }
  return out;
}

std::vector<lease_object> mirror::left_behind(core::time_point now) const {
  std::vector<lease_object> out;
  for (const auto& [name, one] : leases_) {
    const core::duration shown = expiry_of(one) - one.changed_at;
    const bool is_over = now >= one.changed_at + lives_until_deleted * shown;
    if (is_over && is_member_name(election_.name, name)) out.push_back(one.object);
  }
  return out;
}

std::string mirror::waited_for_in_vain(core::time_point now) const {
  for (const auto& [name, one] : leases_) {
    const bool is_others = is_slot(name) && !one.object.holder.empty() && now < expiry_of(one);
    const core::duration lasts = expiry_of(one) - one.changed_at;
    if (is_others && one.breaks >= breaks_in_a_row && now - one.shown_at >= lasts) return name;
  }
  return {};
}

core::time_point mirror::next_change(core::time_point now) const {
  core::time_point out = core::never;
  for (const auto& [name, one] : leases_) {
    if (is_shown_member(name, one, now)) {
      out = std::min(out, expiry_of(one));
      const core::time_point doubted_until = one.changed_at + namesake_doubt;
      if (is_namesake(one) && now < doubted_until) out = std::min(out, doubted_until);
    }
    const bool is_held = is_slot(name) && !one.object.holder.empty();
    if (is_held && now < expiry_of(one)) out = std::min(out, expiry_of(one));
  }
  for (const auto& [id, one] : orders_) {
    if (is_shown(one, now)) out = std::min(out, one.came_at + order_stays);
  }
  return out;
}

// What is shown --------------------------------------------------------------------------------

bool mirror::has_slots(part which) const {
  if (which == part::first || open().numbers.back() != 0) return true;
  return std::ranges::any_of(
      holders(), [this](const slot_holder& one) { return one.slot != 0 && counts(one.slot); });
}

/// The parts are shown by different watches, of which one may be ahead. A term of ours is over if
/// it is not there and the part with its Lease has been shown up to its version. As long as we have
/// none, that has to hold for each part in which we may be granted one.
core::version mirror::as_of() const {
  if (ours_) return core::version{reached(ours_->slot == 0 ? part::first : part::others)};
  if (!has_slots(part::others)) return core::version{reached(part::first)};
  return core::version{std::min(reached(part::first), reached(part::others))};
}

core::observation mirror::observe(core::time_point now) const {
  core::observation out;
  out.as_of = as_of();
  // A holder from whom others may take the slot no longer holds. When our own term ends, we know
  // better.
  std::vector<slot_holder> all = holders();
  std::erase_if(all, [&](const slot_holder& one) {
    return !one.ours && (now >= one.expires_at || !counts(one.slot));
  });
  for (slot_holder& one : all) {
    const lease_object& its = *lease(slot_name(election_.name, one.slot));
    if (ours_ && its.duration_s.value_or(0) < ours_->duration_s) one.ours = false;
    out.holders.push_back({.identity = one.identity,
                           .version = one.version,
                           .ours = one.ours,
                           .slot = one.slot,
                           .sequencer = sequencer_of(one)});
    out.expires_at = std::min(out.expires_at, one.expires_at);
    if (!one.ours) out.retry_at = std::min(out.retry_at, one.expires_at);
  }
  // A free slot is not waited for.
  if (all.size() < slots()) out.retry_at = core::never;
  out.agreed = agreed();
  out.identity_in_use = identity_in_use(all, now);
  std::optional<std::vector<core::member>> members;
  for (const auto& [name, one] : leases_) {
    if (const auto slot = slot_named(election_.name, name)) {
      if (!counts(*slot)) continue;
      auto said = release_of(one.object);
      const auto when = [](const core::release_record& of) {
        return std::pair(of.at_unix_ms, of.version);
      };
      if (said && (!out.last_release || when(*said) > when(*out.last_release))) {
        out.last_release = std::move(said);
      }
    } else if (is_shown_member(name, one, now)) {
      if (!members) members.emplace();
      members->push_back({.identity = parse_signature(one.object.holder).identity,
                          .says = parse_readiness(one.object.note(ready_annotation))});
    }
  }
  for (const auto& [id, one] : orders_) {
    if (auto kept = order(id, now)) out.orders.push_back(std::move(kept->order));
  }
  const auto own = std::ranges::find(all, true, &slot_holder::ours);
  if (own != all.end() && own->slot == 0 && is_preferred_to(*lease(election_.name))) {
    const lease_object& its = *lease(election_.name);
    out.orders.push_back({.id = preference_id(its.uid, its.resource_version),
                          .wanted = {.what = core::order_action::resign, .member = self_->identity},
                          .version = own->version});
  }
  std::ranges::sort(out.orders, {}, &core::left_order::id);
  if (members) out.members.emplace(*std::move(members));
  return out;
}

}  // namespace tenure::stores::kubernetes
