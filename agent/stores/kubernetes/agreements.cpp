#include "stores/kubernetes/agreements.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stores/kubernetes/layout.hpp"
#include "stores/records/agreement_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one call reads and tries again because members came or went in between.
constexpr int most_looks = 6;

}  // namespace

void agreements::agree(core::election_index which, agreement_change what, core::time_point deadline,
                       handler<agree_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->what = what;
  a->deadline = deadline;
  a->done = std::move(done);
  look(a);
}

void agreements::look(const attempt_ptr& a) {
  if (++a->tries > most_looks) {
    return finish(a, unknown{"members came or went again and again in election \"" +
                             shared_.spec(a->which).name + "\" at " + shared_.servers.present()});
  }
  shared_.read(a->which, a->deadline, [this, a](std::expected<void, unknown> read) {
    read ? judge(a) : finish(a, std::move(read.error()));
  });
}

void agreements::judge(const attempt_ptr& a) {
  const mirror& m = shared_.seen(a->which);
  a->next = m.agreed();
  a->open = m.open();
  a->is_resized = a->what.slots > 0;
  a->first = seen(a, 0);
  a->to_close.clear();
  if (a->next.slots == 0) a->next.slots = shared_.spec(a->which).slots;
  if (a->is_resized) {
    std::vector<std::uint32_t> held;
    for (const slot_holder& one : m.holders()) held.push_back(one.slot);
    a->next.slots = a->what.slots;
    if (held.size() > a->next.slots) {
      return finish(a, too_many_hold(shared_.spec(a->which).name, held.size(), a->next.slots));
    }
    const open_slots before = a->open;
    a->open = resized(m.largest_epoch(), std::move(held), a->next.slots);
    std::vector<std::uint32_t> to_close;
    std::ranges::set_difference(before.numbers, a->open.numbers, std::back_inserter(to_close));
    std::erase(to_close, 0U);
    for (const std::uint32_t slot : to_close) a->to_close.push_back(seen(a, slot));
  }
  if (a->what.accept_versions) {
    a->next.versions_from = core::version{m.version() + 1};
    // Later than every acceptance seen so far, even if the wall clock is behind: this tells the new
    // acceptance from an earlier one that a restore may have removed.
    a->next.accepted_unix_ms = std::max(
        {shared_.with.wall_ms(), a->next.accepted_unix_ms + 1, m.last_accepted_unix_ms() + 1});
  }
  if (!a->is_resized && !a->what.accept_versions) return finish(a, a->next);
  close_next(a);
}

agreements::seen_lease agreements::seen(const attempt_ptr& a, std::uint32_t slot) {
  seen_lease out{.name = slot_name(shared_.spec(a->which).name, slot)};
  if (const lease_object* const lease = shared_.seen(a->which).lease(out.name)) out.lease = *lease;
  return out;
}

void agreements::close_next(const attempt_ptr& a) {
  if (a->to_close.empty()) return write_first(a);
  const seen_lease before = std::move(a->to_close.back());
  a->to_close.pop_back();
  write(a, before, {{std::string(epoch_annotation), std::to_string(a->open.epoch)}},
        &agreements::close_next);
}

/// The first Lease says what is agreed; it may be the Lease of a slot that is closed with that.
void agreements::write_first(const attempt_ptr& a) {
  note_change notes;
  if (a->is_resized) {
    notes[std::string(slots_annotation)] = slots_text(a->open);
    if (a->open.numbers.front() != 0) {
      notes[std::string(epoch_annotation)] = std::to_string(a->open.epoch);
    }
  }
  if (a->what.accept_versions) {
    notes[std::string(agreement_annotation)] = agreement_text(a->next);
  }
  write(a, a->first, notes, &agreements::agreed);
}

void agreements::write(const attempt_ptr& a, const seen_lease& before, const note_change& notes,
                       void (agreements::*then)(const attempt_ptr&)) {
  const lease_object* const lease = before.lease ? &*before.lease : nullptr;
  if (!a->last.moves_on_to(before.name, lease)) {
    return finish(a, shared_.stale_reply(before.name));
  }
  const bool is_listed = lease != nullptr && shared_.seen(a->which).has(*lease);
  auto wrote = [this, a, then, is_listed,
                name = before.name](const std::expected<written_lease, call_failure>& what) {
    if (what) return (this->*then)(a);
    const error_meaning why = what.error().meaning;
    if (why != error_meaning::conflict && why != error_meaning::missing) {
      return finish(a, unknown{what.error().why});
    }
    if (is_listed) return look(a);
    // Lists show only Leases with our label, which somebody may have taken off this one.
    shared_.fetch(a->which, name, a->deadline, [this, a](const auto& fetched) {
      fetched ? look(a) : finish(a, unknown{fetched.error().why});
    });
  };
  shared_.write(a->which, before.name, lease, {}, notes, a->deadline, std::move(wrote));
}

void agreements::finish(const attempt_ptr& a, agree_outcome outcome) {
  shared_.answer(std::move(a->done), std::move(outcome));
}

}  // namespace tenure::stores::kubernetes
