#include "stores/kubernetes/renewals.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "core/sometimes.hpp"
#include "stores/kubernetes/layout.hpp"
#include "stores/kubernetes/term_notes.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one renewal writes a Lease that others write, too.
constexpr int most_renewals = 5;

/// How long a loss waits for the answers of other terms, most of which are there by then. Short, as
/// somebody else may hold what was lost.
constexpr core::duration loss_patience = std::chrono::milliseconds(100);

/// When each of several terms must be renewed. The caller counts all as unknown at its deadline, so
/// one that is not answered must not keep the others until then.
core::time_point deadline_of_each(core::time_point now, core::time_point deadline,
                                  std::size_t terms) {
  return terms > 1 ? now + (deadline - now) * 7 / 8 : deadline;
}

}  // namespace

void renewals::renew(std::vector<core::renewal_item> items, core::time_point deadline,
                     handler<renew_outcome> done) {
  auto t = std::make_shared<turn>();
  t->items = std::move(items);
  t->deadline = deadline_of_each(shared_.loop.now(), deadline, t->items.size());
  t->done = std::move(done);
  t->so_far.sent_at = core::never;
  t->so_far.ttl = std::chrono::seconds(shared_.ttl_s());
  t->under_way = t->items.size() + 1;
  for (const core::renewal_item& item : t->items) renew_one(t, item, 0);
  ended(t);
}

/// The Lease of a term as it is known; null if that is no longer our term.
const lease_object* renewals::own_lease(const core::renewal_item& item) {
  const auto& held = shared_.held(item.which);
  if (!held || held->version != item.version) return nullptr;
  const mirror& m = shared_.seen(item.which);
  const auto own = m.find_own();
  if (!own || own->version != item.version || own->slot != held->slot) return nullptr;
  const lease_object* const lease = m.lease(slot_name(shared_.spec(item.which).name, held->slot));
  // One that was made again is not the one that was granted, even if it says so.
  if (lease->uid != held->uid) return nullptr;
  // Others count by what the Lease says.
  return lease->duration_s.value_or(0) >= shared_.ttl_s() ? lease : nullptr;
}

void renewals::renew_one(const turn_ptr& t, const core::renewal_item& item, int tries) {
  const lease_object* const lease = own_lease(item);
  // The watch may have shown another state of it than there is now.
  if (lease == nullptr) return look(t, item, tries);
  if (!t->last[core::place(item.which)].moves_on_to(lease->name, lease)) {
    return fail(t, item, shared_.stale_reply(lease->name).why);
  }
  const held_term& held = *shared_.held(item.which);
  const std::int64_t renewed_ms =
      renewal_time(shared_.with.wall_ms(), std::max(lease->renewed_ms, held.newest_renewal_ms));
  spec_change spec{.renewed_ms = renewed_ms};
  if (held.is_renewed) spec.duration_s = shared_.ttl_s();
  note_change notes = notes_of_term(shared_.self, *lease, item.version);
  if (lease->note(term_annotation) == *notes.find(term_annotation)->second) notes.clear();
  if (held.slot == 0) {
    for (auto& order : shared_.seen(item.which).finished_orders(shared_.loop.now())) {
      notes.emplace(std::move(order), std::nullopt);
    }
  }
  shared_.change(
      item.which, *lease, spec, notes, t->deadline,
      [this, t, item, tries, renewed_ms](const std::expected<written_lease, call_failure>& what) {
        if (auto& own = shared_.held(item.which); what && own && own->version == item.version) {
          own->newest_renewal_ms = std::max(own->newest_renewal_ms, renewed_ms);
        }
        if (what) {
          t->so_far.sent_at = std::min(t->so_far.sent_at, what->sent_at);
          t->renewed.push_back(item);
          return ended(t);
        }
        const error_meaning why = what.error().meaning;
        if (why != error_meaning::conflict && why != error_meaning::missing) {
          return fail(t, item, what.error().why);
        }
        TENURE_SOMETIMES(kubernetes_renewal_overtaken);
        look(t, item, tries + 1);
      },
      priority::urgent);
}

void renewals::look(const turn_ptr& t, const core::renewal_item& item, int tries) {
  const auto& held = shared_.held(item.which);
  if (!held || held->version != item.version) return lose(t, item);
  if (tries > most_renewals) {
    return fail(
        t, item,
        "the Lease of our own term was written again and again at " + shared_.servers.present());
  }
  shared_.fetch(
      item.which, slot_name(shared_.spec(item.which).name, held->slot), t->deadline,
      [this, t, item, tries](const auto& fetched) {
        if (!fetched) return fail(t, item, fetched.error().why);
        // What was fetched may be older than what the watch has shown since.
        if (!fetched->has_value() || own_lease(item) == nullptr) {
          TENURE_SOMETIMES(kubernetes_renewal_finds_another);
          return lose(t, item);
        }
        renew_one(t, item, tries + 1);
      },
      priority::urgent);
}

/// Records that the term is over. What is there instead says why.
void renewals::lose(const turn_ptr& t, const core::renewal_item& item) {
  shared_.seen(item.which).lose(item.version);
  const auto others = shared_.seen(item.which).holders();
  const bool taken =
      std::ranges::any_of(others, [](const slot_holder& one) { return !one.ours && !one.is_lost; });
  t->so_far.lost.push_back(
      {.which = item.which,
       .why = taken ? core::loss_reason::taken_over : core::loss_reason::revoked});
  ended(t);
}

void renewals::fail(const turn_ptr& t, const core::renewal_item& item, std::string why) {
  t->so_far.unanswered.push_back(
      {.which = item.which,
       .why = "election \"" + shared_.spec(item.which).name + "\": " + std::move(why)});
  ended(t);
}

/// The outcome of one term is known. A loss is told soon, whether the others are answered or not.
void renewals::ended(const turn_ptr& t) {
  --t->under_way;
  if (t->over) return;
  if (t->under_way == 0) return finish(t);
  if (t->so_far.lost.empty() || t->patience) return;
  t->patience.emplace(shared_.loop);
  t->patience->after(loss_patience, shared_.guarded([this, noted = std::weak_ptr(t)] {
    if (const turn_ptr there = noted.lock()) finish(there);
  }));
}

/// Answers for each term; one that has not been answered for may not be renewed.
void renewals::finish(const turn_ptr& t) {
  if (std::exchange(t->over, true)) return;
  if (t->patience) t->patience->cancel();
  renewal& all = t->so_far;
  for (const core::renewal_item& item : t->items) {
    const auto is_this = [&](const auto& one) { return one.which == item.which; };
    if (std::ranges::any_of(t->renewed, is_this)) {
      auto& held = shared_.held(item.which);
      if (held && held->version == item.version) held->is_renewed = true;
    } else if (std::ranges::none_of(all.lost, is_this) &&
               std::ranges::none_of(all.unanswered, is_this)) {
      all.unanswered.push_back(
          {.which = item.which,
           .why = "another term's loss was told before the rest was answered"});
    }
  }
  if (!all.unanswered.empty() && all.unanswered.size() == t->items.size()) {
    return shared_.answer(std::move(t->done),
                          renew_outcome(unknown{std::move(all.unanswered.front().why)}));
  }
  std::ranges::sort(all.lost, {}, &core::renewal_loss::which);
  std::ranges::sort(all.unanswered, {}, &unanswered_renewal::which);
  // Nothing is renewed, so this does not matter.
  if (all.sent_at == core::never) all.sent_at = shared_.loop.now();
  shared_.answer(std::move(t->done), renew_outcome(std::move(all)));
}

}  // namespace tenure::stores::kubernetes
