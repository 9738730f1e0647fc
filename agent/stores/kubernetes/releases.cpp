#include "stores/kubernetes/releases.hpp"

#include <utility>

#include "stores/kubernetes/layout.hpp"
#include "stores/kubernetes/term_notes.hpp"
#include "stores/records/release_record_text.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one release tries again because somebody else writes the Lease.
constexpr int most_releases = 10;
/// As client-go writes it: 0 is not valid.
constexpr std::int64_t released_for_s = 1;

}  // namespace

void releases::release(core::election_index which, core::version version,
                       const release_details& how, core::time_point deadline,
                       handler<release_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->version = version;
  a->deadline = deadline;
  a->done = std::move(done);
  // A caller that names no term leaves no record.
  if (version != core::no_version) {
    a->how = how;
  }
  shared_.let_go_of_lost(which);
  const auto own = shared_.seen(which).find_own();
  // What the watch shows is mostly true, and the write fails if it is not.
  if (own && own->version == version) return give_up(a, *own);
  look(a);
}

void releases::end_term(core::election_index which, const core::holder& whose,
                        const release_details& how, core::time_point deadline,
                        handler<release_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->version = whose.version;
  a->whose = whose;
  a->how = how;
  a->deadline = deadline;
  a->done = std::move(done);
  if (const auto its = find(*a)) return give_up(a, *its);
  look(a);
}

/// The term that is to end; nothing if it is over.
std::optional<slot_holder> releases::find(const attempt& a) {
  const mirror& m = shared_.seen(a.which);
  if (a.whose) return m.find_term(*a.whose);
  auto own = m.find_own();
  if (own && a.version != core::no_version && own->version != a.version) own.reset();
  return own;
}

/// The term may be over, or the reply that granted one may be lost: reads what Kubernetes holds.
void releases::look(const attempt_ptr& a) {
  if (++a->tries > most_releases) {
    return finish(a, unknown{"the Lease of election \"" + shared_.spec(a->which).name +
                             "\" was written again and again at " + shared_.servers.present()});
  }
  shared_.read(a->which, a->deadline, [this, a](std::expected<void, unknown> read) {
    if (!read) return finish(a, std::move(read.error()));
    const auto its = find(*a);
    its ? give_up(a, *its) : finish(a, released{});
  });
}

void releases::give_up(const attempt_ptr& a, const slot_holder& its) {
  const lease_object& lease =
      *shared_.seen(a->which).lease(slot_name(shared_.spec(a->which).name, its.slot));
  if (!a->last.moves_on_to(lease.name, &lease)) return finish(a, shared_.stale_reply(lease.name));
  std::string note;
  if (a->how) {
    a->how->clean = a->how->clean && shared_.seen(a->which).vouches(its.slot, its.version);
    note = release_record_text(a->version, its.identity, *a->how);
  }
  const std::int64_t now_ms = shared_.with.wall_ms();
  const spec_change spec{.holder = "",
                         .duration_s = released_for_s,
                         .acquired_ms = now_ms,
                         .renewed_ms = renewal_time(now_ms, lease.renewed_ms)};
  shared_.change(a->which, lease, spec, notes_of_released_term(its, lease, *spec.renewed_ms, note),
                 a->deadline, [this, a](const std::expected<written_lease, call_failure>& what) {
                   if (what) return finish(a, released{});
                   const error_meaning why = what.error().meaning;
                   if (why == error_meaning::conflict || why == error_meaning::missing) {
                     return look(a);
                   }
                   finish(a, unknown{what.error().why});
                 });
}

void releases::finish(const attempt_ptr& a, release_outcome outcome) {
  const auto& held = shared_.held(a->which);
  const bool is_of_it =
      held && !a->whose && (a->version == core::no_version || a->version == held->version);
  if (is_of_it && std::holds_alternative<released>(outcome)) shared_.let_go(a->which);
  shared_.answer(std::move(a->done), std::move(outcome));
}

}  // namespace tenure::stores::kubernetes
