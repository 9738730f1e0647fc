#include <algorithm>
#include <utility>

#include "stores/kubernetes/layout.hpp"
#include "stores/kubernetes/mirror.hpp"
#include "stores/records/agreement_text.hpp"

/// Which Leases of an election may be held, and which of them we may take.
namespace tenure::stores::kubernetes {
namespace {

/// Nothing if it cannot be read: then the slot is not taken.
std::optional<std::uint64_t> epoch_of(const lease_object& one) {
  return parse_epoch(one.note(epoch_annotation));
}

}  // namespace

/// What the members have agreed on; nothing: on nothing.
std::optional<open_slots> mirror::list() const {
  const entry* const its = first();
  return its == nullptr ? std::nullopt : parse_slots(its->object.note(slots_annotation));
}

/// True if a program without slots holds the first Lease: it knows no other.
bool mirror::is_held_by_another_program() const {
  const entry* const its = first();
  return its != nullptr && !its->object.holder.empty() &&
         parse_signature(its->object.holder).mark.empty();
}

open_slots mirror::open() const {
  if (auto agreed_on = list()) return std::move(*agreed_on);
  if (is_held_by_another_program()) return {.epoch = largest_epoch(), .numbers = {0}};
  std::vector<std::uint32_t> held;
  for (const slot_holder& one : holders()) held.push_back(one.slot);
  // Who holds beside them counts, but its slot is not opened for others.
  if (held.size() > slots()) held.resize(slots());
  return slots_around(std::move(held), slots(), largest_epoch());
}

std::uint64_t mirror::largest_epoch() const {
  const auto its = list();
  std::uint64_t out = its ? its->epoch : 0;
  for (const auto& [name, one] : leases_) {
    if (is_slot(name)) out = std::max(out, epoch_of(one.object).value_or(0));
  }
  return out;
}

std::uint64_t mirror::next_epoch() const {
  const auto its = list();
  std::uint64_t out = its ? its->epoch + 1 : largest_epoch();
  for (const std::uint32_t slot : its ? its->numbers : std::vector<std::uint32_t>()) {
    const entry* const there = in_slot(slot);
    if (there != nullptr) out = std::max(out, epoch_of(there->object).value_or(0));
  }
  return out;
}

core::agreement mirror::agreed() const {
  const entry* const its = first();
  if (its == nullptr) return {};
  core::agreement out =
      parse_agreement(its->object.note(agreement_annotation)).value_or(core::agreement{});
  if (const auto agreed_on = list()) {
    out.slots = static_cast<std::uint32_t>(agreed_on->numbers.size());
  } else if (is_held_by_another_program()) {
    out.slots = 1;
  }
  return out;
}

std::uint32_t mirror::slots() const {
  const std::uint32_t agreed_on = agreed().slots;
  return agreed_on > 0 ? agreed_on : election_.slots;
}

bool mirror::agrees() const {
  return slots() == election_.slots;
}

std::uint32_t mirror::free_slots() const {
  const std::size_t taken = held();
  return taken < slots() ? static_cast<std::uint32_t>(slots() - taken) : 0;
}

/// A slot outside the list is not one of the election's: anybody who may make Leases can make one
/// that looks as if it were held for ever. A program without slots holds the first one all the
/// same.
bool mirror::counts(std::uint32_t slot) const {
  const auto its = list();
  return slot == 0 || !its || its->has(slot);
}

/// Slots that count, and that somebody has; `now`: nothing, even if his time is over.
std::size_t mirror::held(std::optional<core::time_point> now) const {
  std::size_t out = 0;
  for (const auto& [name, one] : leases_) {
    const auto slot = slot_named(election_.name, name);
    const bool has_holder = slot && !one.object.holder.empty();
    if (has_holder && (!now || *now < expiry_of(one)) && counts(*slot)) ++out;
  }
  return out;
}

const mirror::entry* mirror::in_slot(std::uint32_t slot) const {
  const auto found = leases_.find(slot_name(election_.name, slot));
  return found == leases_.end() ? nullptr : &found->second;
}

/// True if as many hold as there are open slots, in these or in others.
bool mirror::is_full(const open_slots& open, core::time_point now) const {
  return held(now) >= open.numbers.size();
}

std::optional<vacancy> mirror::find_vacancy(core::time_point now,
                                            std::optional<std::uint32_t> wanted) const {
  vacancy out{
      .open = open(), .is_agreed = list().has_value(), .is_clean = vacancies_.doubtful() == 0};
  if (is_full(out.open, now)) return std::nullopt;
  // Who has not released its slot may still run, although others may take its place.
  out.is_clean = out.is_clean && held() < out.open.numbers.size();
  std::vector<std::uint32_t> slots = out.open.numbers;
  const auto first_choice = wanted ? std::ranges::find(slots, *wanted) : slots.end();
  if (first_choice != slots.end())
    std::ranges::rotate(slots.begin(), first_choice, first_choice + 1);
  for (const std::uint32_t slot : slots) {
    const entry* const there = in_slot(slot);
    out.slot = slot;
    if (there == nullptr) return out;
    const auto epoch = epoch_of(there->object);
    if (!epoch || *epoch > out.open.epoch) continue;
    const bool is_free = there->object.holder.empty();
    if (!is_free && now < expiry_of(*there)) continue;
    out.lease = there->object;
    out.is_clean = out.is_clean && is_free;
    return out;
  }
  return std::nullopt;
}

std::optional<list_change> mirror::find_list_change(core::time_point now) const {
  const entry* const its = first();
  list_change out{.list = open()};
  // Who takes the first slot makes its Lease, with the list.
  if (its == nullptr && out.list.numbers.front() == 0) return std::nullopt;
  if (its != nullptr) out.first = its->object;
  if (is_full(out.list, now)) return std::nullopt;
  const std::uint64_t before = out.list.epoch;
  for (const std::uint32_t slot : out.list.numbers) {
    const entry* const there = in_slot(slot);
    const auto epoch = there == nullptr ? std::nullopt : epoch_of(there->object);
    out.list.epoch = std::max(out.list.epoch, epoch.value_or(0));
  }
  return !list() || out.list.epoch > before ? std::optional(std::move(out)) : std::nullopt;
}

bool mirror::is_vacant(core::time_point now) const {
  return held(now) == 0;
}

bool mirror::has_gaps() const {
  const auto its = list();
  return its && its->numbers.back() >= its->numbers.size();
}

std::optional<std::uint32_t> mirror::find_unclosed(std::optional<std::uint32_t> doubtful) const {
  const auto its = list();
  std::vector<std::uint32_t> all = its ? its->numbers : std::vector<std::uint32_t>();
  if (doubtful) all.push_back(*doubtful);
  const auto is_closed = [&](std::uint32_t slot) {
    const entry* const there = in_slot(slot);
    const auto epoch = there == nullptr ? std::nullopt : epoch_of(there->object);
    return slot == 0 || (epoch && its && *epoch > its->epoch && there->object.holder.empty());
  };
  const auto found = std::ranges::find_if_not(all, is_closed);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

vacancy mirror::first_of_ours() const {
  vacancy out{.open = slots_around({}, election_.slots, next_epoch()),
              .is_clean = vacancies_.doubtful() == 0 && held() == 0};
  if (const entry* const its = first()) out.lease = its->object;
  return out;
}

std::string mirror::why_closed(core::time_point now) const {
  const open_slots its = open();
  if (is_full(its, now) || find_vacancy(now)) return {};
  for (const std::uint32_t slot : its.numbers) {
    const entry* const there = in_slot(slot);
    if (there == nullptr || epoch_of(there->object)) continue;
    return "the Lease " + there->object.name + " has an annotation " +
           std::string(epoch_annotation) + " that is not a number; take it off";
  }
  return {};
}

/// True if Kubernetes' coordinated leader election wants somebody else to hold it.
bool mirror::is_preferred_to(const lease_object& lease) const {
  const std::string us = signature_text({.identity = self_->identity, .mark = self_->mark});
  return !lease.preferred.empty() && lease.preferred != us && lease.preferred != self_->identity;
}

std::string mirror::trouble() const {
  const entry* const its = first();
  if (its == nullptr) return {};
  const lease_object& lease = its->object;
  if (is_preferred_to(lease)) {
    return "the Lease " + lease.name + " is to be held by " + lease.preferred +
           " next; clear its preferredHolder if that is not meant";
  }
  if (!lease.strategy.empty() && lease.preferred.empty()) {
    return "who holds the Lease " + lease.name +
           " is chosen by Kubernetes' coordinated leader election; clear its strategy, or choose "
           "another name";
  }
  return {};
}

}  // namespace tenure::stores::kubernetes
