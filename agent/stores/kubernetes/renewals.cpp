#include "stores/kubernetes/renewals.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "stores/kubernetes/layout.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one renewal writes a Lease that others write, too.
constexpr int most_renewals = 5;

}  // namespace

void renewals::renew(std::vector<core::renewal_item> items, core::time_point deadline,
                     handler<renew_outcome> done) {
  auto t = std::make_shared<turn>();
  t->items = std::move(items);
  t->deadline = deadline;
  t->done = std::move(done);
  t->so_far.sent_at = core::never;
  t->so_far.ttl = std::chrono::seconds(shared_.ttl_s());
  t->unanswered = t->items.size() + 1;
  for (const core::renewal_item& item : t->items) renew_one(t, item, 0);
  answered(t);
}

/// The Lease of a term as it is known; null if that is no longer our term.
const lease_object* renewals::own_lease(const core::renewal_item& item) {
  const auto& held = shared_.held(item.which);
  if (!held || held->version != item.version) return nullptr;
  const mirror& m = shared_.seen(item.which);
  const auto own = m.find_own();
  if (!own || own->version != item.version || own->slot != held->slot) return nullptr;
  const lease_object* const lease = m.lease(slot_name(shared_.spec(item.which).name, held->slot));
  // Others count by what the Lease says.
  return lease->duration_s.value_or(0) >= shared_.ttl_s() ? lease : nullptr;
}

void renewals::renew_one(const turn_ptr& t, const core::renewal_item& item, int tries) {
  if (t->over) return;
  const lease_object* const lease = own_lease(item);
  // The watch may have shown another state of it than there is now.
  if (lease == nullptr) return look(t, item, tries);
  spec_change spec{.renewed_ms = renewal_time(shared_.with.wall_ms(), lease->renewed_ms)};
  if (shared_.held(item.which)->is_renewed) spec.duration_s = shared_.ttl_s();
  note_change notes;
  const std::string term = term_text(
      {.transitions = lease->transitions, .version = item.version, .mark = shared_.self.mark});
  if (lease->note(term_annotation) != term) notes.emplace(term_annotation, term);
  shared_.change(
      item.which, *lease, spec, notes, t->deadline,
      [this, t, item, tries](const std::expected<written_lease, call_failure>& what) {
        if (t->over) return;
        if (what) {
          t->so_far.sent_at = std::min(t->so_far.sent_at, what->sent_at);
          return answered(t);
        }
        const error_meaning why = what.error().meaning;
        if (why != error_meaning::conflict && why != error_meaning::missing) {
          return fail(t, what.error().why);
        }
        look(t, item, tries + 1);
      },
      priority::urgent);
}

void renewals::look(const turn_ptr& t, const core::renewal_item& item, int tries) {
  const auto& held = shared_.held(item.which);
  if (!held || held->version != item.version) return lose(t, item);
  if (tries > most_renewals) {
    return fail(t, "the Lease of our own term in \"" + shared_.spec(item.which).name +
                       "\" was written again and again at " + shared_.servers.present());
  }
  shared_.fetch(
      item.which, slot_name(shared_.spec(item.which).name, held->slot), t->deadline,
      [this, t, item, tries](const auto& fetched) {
        if (t->over) return;
        if (!fetched) return fail(t, fetched.error().why);
        // What was fetched may be older than what the watch has shown since.
        if (!fetched->has_value() || own_lease(item) == nullptr) return lose(t, item);
        renew_one(t, item, tries + 1);
      },
      priority::urgent);
}

/// Records that the term is over. What is there instead says why.
void renewals::lose(const turn_ptr& t, const core::renewal_item& item) {
  const auto others = shared_.seen(item.which).holders();
  const bool taken = std::ranges::any_of(others, [](const slot_holder& one) { return !one.ours; });
  t->so_far.lost.push_back(
      {.which = item.which,
       .why = taken ? core::loss_reason::taken_over : core::loss_reason::revoked});
  answered(t);
}

/// Counts one term that is renewed or lost.
void renewals::answered(const turn_ptr& t) {
  if (--t->unanswered > 0 || t->over) return;
  std::ranges::sort(t->so_far.lost, {}, &core::renewal_loss::which);
  for (const core::renewal_item& item : t->items) {
    auto& held = shared_.held(item.which);
    if (held && held->version == item.version) held->is_renewed = true;
  }
  // All terms are lost, so this does not matter.
  if (t->so_far.sent_at == core::never) t->so_far.sent_at = shared_.loop.now();
  shared_.answer(std::move(t->done), renew_outcome(std::move(t->so_far)));
}

void renewals::fail(const turn_ptr& t, std::string why) {
  if (std::exchange(t->over, true)) return;
  shared_.answer(std::move(t->done), renew_outcome(unknown{std::move(why)}));
}

}  // namespace tenure::stores::kubernetes
