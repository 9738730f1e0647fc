#include <algorithm>
#include <utility>

#include "small_world.hpp"

/// The store: linearizable, with a clock of its own that goes as ours does, and as late as it
/// likes when it ends what has run out.
namespace tenure::explore {

void world::receive(const letter& l) {
  const bool ours = held != core::no_version && holder == l.member;
  letter answer = l;
  switch (l.what) {
    case mail::acquire:
      if (held == core::no_version) {
        answer.clean = !doubtful;
        doubtful = false;
        held = core::version{++revision};
        holder = l.member;
        begun_cleanly = false;
        judge_grant(l.member);
        change();
      } else if (!ours) {
        answer.what = mail::refused;
        break;
      } else {
        answer.clean = begun_cleanly;
      }
      answer.what = mail::granted;
      answer.version = held;
      extend(l.member);
      break;
    case mail::renew:
      answer.what = mail::renewed;
      if (!ours || held != l.version) {
        answer.lost = core::loss_reason::revoked;
      } else {
        extend(l.member);
      }
      break;
    case mail::ask_own:
      answer.what = mail::own;
      answer.version = ours ? held : core::no_version;
      break;
    case mail::release:
      answer.what = mail::released;
      if (ours && held == l.version) {
        judge_release(l.member, l.version);
        held = core::no_version;
        doubtful = doubtful || !l.clean;
        ++revision;
        freed();
        change();
      }
      break;
    default:
      break;
  }
  answer.stalled = false;
  if (!l.orphan) post(answer);
}

/// Precondition: it holds.
void world::extend(std::size_t m) {
  ends_at = now + budget().ttl;
  all[m].promised_term = held;
  all[m].promised_until = ends_at;
}

/// All watches will show it. A watch may skip states that did not last.
void world::change() {
  for (member& it : all) {
    if (it.watch != member::stream::open) continue;
    if (it.shown.size() == it.shown.capacity()) it.shown.pop_back();
    it.shown.push_back(present());
  }
}

snapshot world::present() const {
  return {.as_of = core::version{revision}, .version = held, .holder = holder};
}

void world::open_watch(std::size_t m) {
  all[m].watch = member::stream::open;
  all[m].shown.clear();
  all[m].shown.push_back(present());
}

void world::take_away(bool by_operator) {
  if (by_operator) note_removal(holder, held);
  held = core::no_version;
  doubtful = true;
  ++revision;
  freed();
  change();
}

/// Who stands in line holds from now on, with what is left of the lease of its place.
void world::freed() {
  member* next = nullptr;
  for (member& it : all) {
    if (it.place == core::no_version) continue;
    if (next == nullptr || it.place < next->place) next = &it;
  }
  if (next == nullptr) return;
  held = std::exchange(next->place, core::no_version);
  holder = static_cast<std::uint8_t>(next - all.data());
  ends_at = next->place_ends_at;
  next->promised_term = held;
  next->promised_until = ends_at;
  begun_cleanly = !doubtful;
  doubtful = false;
  judge_grant(holder);
}

void world::stand_in_line(std::size_t m) {
  all[m].place = core::version{++revision};
  all[m].place_ends_at = now + budget().ttl;
}

/// Nothing is held, and versions have moved back. An operator stops the store before a restore,
/// and connections end with it.
void world::restored(std::uint64_t versions_lost) {
  for (member& it : all) it.place = core::no_version;
  if (held != core::no_version) take_away(true);
  for (member& it : all) {
    if (it.watch != member::stream::open) continue;
    it.watch = member::stream::broken;
    it.shown.clear();
  }
  letters.clear();
  given_twice = std::max(given_twice, last_granted);
  last_granted = core::no_version;
  revision -= versions_lost;
}

}  // namespace tenure::explore
