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
  a->to_close.clear();
  if (a->next.slots == 0) a->next.slots = shared_.spec(a->which).slots;
  if (a->is_resized) {
    std::vector<std::uint32_t> held;
    for (const slot_holder& one : m.holders()) held.push_back(one.slot);
    a->next.slots = a->what.slots;
    if (held.size() > a->next.slots) {
      return finish(a, too_many_hold(shared_.spec(a->which).name, held.size(), a->next.slots));
    }
    const open_slots before = std::exchange(a->open, resized(a->open, held, a->next.slots));
    std::ranges::set_difference(before.numbers, a->open.numbers, std::back_inserter(a->to_close));
    std::erase(a->to_close, 0U);
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

void agreements::close_next(const attempt_ptr& a) {
  if (a->to_close.empty()) return write(a);
  const std::string name = slot_name(shared_.spec(a->which).name, a->to_close.back());
  a->to_close.pop_back();
  const note_change notes{{std::string(epoch_annotation), std::to_string(a->open.epoch)}};
  auto then = [this, a](const std::expected<written_lease, call_failure>& what) {
    wrote(a, what, &agreements::close_next);
  };
  if (const lease_object* const lease = shared_.seen(a->which).lease(name)) {
    shared_.change(a->which, *lease, {}, notes, a->deadline, std::move(then));
  } else {
    shared_.create(a->which, name, {}, notes, a->deadline, std::move(then));
  }
}

/// The first Lease says what is agreed; it may be the Lease of a slot that is closed with that.
void agreements::write(const attempt_ptr& a) {
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
  auto then = [this, a](const std::expected<written_lease, call_failure>& what) {
    wrote(a, what, &agreements::agreed);
  };
  const std::string& name = shared_.spec(a->which).name;
  if (const lease_object* const lease = shared_.seen(a->which).lease(name)) {
    shared_.change(a->which, *lease, {}, notes, a->deadline, std::move(then));
  } else {
    shared_.create(a->which, name, {}, notes, a->deadline, std::move(then));
  }
}

void agreements::wrote(const attempt_ptr& a, const std::expected<written_lease, call_failure>& what,
                       void (agreements::*then)(const attempt_ptr&)) {
  if (what) return (this->*then)(a);
  const error_meaning why = what.error().meaning;
  if (why == error_meaning::conflict || why == error_meaning::missing) return look(a);
  finish(a, unknown{what.error().why});
}

void agreements::finish(const attempt_ptr& a, agree_outcome outcome) {
  shared_.answer(std::move(a->done), std::move(outcome));
}

}  // namespace tenure::stores::kubernetes
