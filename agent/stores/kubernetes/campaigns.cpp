#include "stores/kubernetes/campaigns.hpp"

#include <algorithm>
#include <utility>

#include "core/sometimes.hpp"
#include "stores/kubernetes/layout.hpp"
#include "stores/kubernetes/term_notes.hpp"

namespace tenure::stores::kubernetes {
namespace {

/// How often one acquire tries again because other contenders came or went in between.
constexpr int most_tries = 10;
/// What a Lease says that nobody holds: 0 is not valid.
constexpr std::int64_t closed_for_s = 1;

/// True if the Lease is not what the write relied on, so that it was certainly not executed.
bool is_overtaken(const call_failure& what, bool was_there) {
  return what.meaning == error_meaning::conflict ||
         (was_there && what.meaning == error_meaning::missing);
}

}  // namespace

void campaigns::acquire(core::election_index which, core::time_point deadline,
                        handler<acquire_outcome> done) {
  auto a = std::make_shared<attempt>();
  a->which = which;
  a->deadline = deadline;
  a->done = std::move(done);
  turns_.enter(
      deadline, [this, a] { begin(a); },
      [this, a] {
        shared_.answer(
            std::move(a->done),
            acquire_outcome(unknown{
                "not asked for in time, as " + std::to_string(turns_.under_way()) +
                " other campaigns of this agent were under way at " + shared_.servers.present()}));
      });
}

void campaigns::begin(const attempt_ptr& a) {
  shared_.let_go_of_lost(a->which);
  const mirror& m = shared_.seen(a->which);
  // The mirror may lag: it may still show what we have released, or a term of ours that is over.
  const bool has_room = !m.trouble().empty() || m.find_vacancy(shared_.loop.now());
  const bool is_known = shared_.watches.live(a->which) && m.agrees() && !m.find_own() && has_room;
  is_known ? judge(a) : look_first(a);
}

/// False once it has tried too often.
bool campaigns::may_look(const attempt_ptr& a) {
  if (++a->tries <= most_tries) return true;
  fail(a, "others came first again and again in election \"" + shared_.spec(a->which).name +
              "\" at " + shared_.servers.present());
  return false;
}

void campaigns::look_first(const attempt_ptr& a) {
  if (!may_look(a)) return;
  shared_.read(a->which, a->deadline, [this, a](std::expected<void, unknown> read) {
    read ? judge(a) : fail(a, std::move(read.error().why));
  });
}

/// Lists show only Leases with our label, which somebody may have taken off this one.
void campaigns::look_at(const attempt_ptr& a, std::uint32_t slot) {
  if (!may_look(a)) return;
  const std::string name = slot_name(shared_.spec(a->which).name, slot);
  shared_.fetch(a->which, name, a->deadline, [this, a, name](const auto& fetched) {
    if (!fetched) return fail(a, fetched.error().why);
    const std::string other =
        fetched->has_value() ? shared_.seen(a->which).other_owner(**fetched) : "";
    if (other.empty()) return judge(a);
    fail(a, "the Lease " + name + " is of election \"" + other + "\" by its label " +
                std::string(election_label) + "; delete it, or choose another name");
  });
}

/// Decides by what the election holds now: a term of ours, a slot that can be taken, or neither.
void campaigns::judge(const attempt_ptr& a) {
  const mirror& m = shared_.seen(a->which);
  if (const auto own = m.find_own()) return adopt(a, *own);
  // It is not taken up again, as the agent is ending what runs by it. Nor is another slot taken.
  if (m.find_lost(shared_.loop.now())) {
    TENURE_SOMETIMES(kubernetes_lost_term_is_shown_as_ours);
    return fail(a, "the Lease of our lost term is still ours");
  }
  if (!m.trouble().empty()) {
    // The watch will show when that is over, and the log says why. Without one, each list shows
    // every Lease anew, and a slot may be free: the next try would follow at once.
    return shared_.watches.live(a->which) ? finish(a, refusal{m.observe(shared_.loop.now())})
                                          : fail(a, m.trouble());
  }
  if (!m.agrees() || (m.has_gaps() && m.is_vacant(shared_.loop.now()))) return change_slots(a);
  const auto doubtful = doubtful_slot(a->which);
  const auto found = m.find_vacancy(shared_.loop.now(), doubtful);
  // It cannot be taken now, as its holder's time runs anew after a gap in what the watch shows; but
  // the earlier write may still be carried out.
  if (found && doubtful && found->slot != *doubtful && found->open.has(*doubtful)) {
    TENURE_SOMETIMES(kubernetes_write_in_doubt_keeps_from_another_slot);
    return fail(a, "an earlier write for the Lease " +
                       slot_name(shared_.spec(a->which).name, *doubtful) +
                       " has no answer yet and may still be carried out");
  }
  if (found && (found->is_agreed || found->slot == 0)) return campaign(a, *found);
  if (const auto change = m.find_list_change(shared_.loop.now())) return write_list(a, *change);
  // The watch shows a free slot, so a refusal would be followed by the next try at once.
  if (std::string why = m.why_closed(shared_.loop.now()); !why.empty()) {
    return fail(a, std::move(why));
  }
  finish(a, refusal{m.observe(shared_.loop.now())});
}

/// Makes the number of slots ours with our term, if nobody holds: closes one slot of the list after
/// the other, and takes the first one with a list of ours. Each write makes another campaign fail
/// that relies on the earlier list.
void campaigns::change_slots(const attempt_ptr& a) {
  const mirror& m = shared_.seen(a->which);
  if (!m.is_vacant(shared_.loop.now())) {
    return finish(a, refusal{m.observe(shared_.loop.now())});
  }
  const auto slot = m.find_unclosed(doubtful_slot(a->which));
  if (!slot) return campaign(a, m.first_of_ours());
  const std::string name = slot_name(shared_.spec(a->which).name, *slot);
  const lease_object* const before = m.lease(name);
  if (!may_write(a, name, before)) return;
  const std::int64_t now_ms = shared_.with.wall_ms();
  // One whose time is over has not released it: its workload may still be dying.
  const bool has_ended = before != nullptr && !before->holder.empty();
  const spec_change spec = has_ended
                               ? spec_change{.holder = "",
                                             .duration_s = closed_for_s,
                                             .acquired_ms = now_ms,
                                             .renewed_ms = renewal_time(now_ms, before->renewed_ms)}
                               : spec_change{};
  const bool is_listed = before != nullptr && m.has(*before);
  shared_.write(a->which, name, before, spec,
                {{std::string(epoch_annotation), std::to_string(m.next_epoch())}}, a->deadline,
                [this, a, slot, is_listed, was_there = before != nullptr](
                    const std::expected<written_lease, call_failure>& wrote) {
                  TENURE_SOMETIMES(kubernetes_slot_closed);
                  if (wrote) return judge(a);
                  if (!is_overtaken(wrote.error(), was_there)) return fail(a, wrote.error().why);
                  is_listed ? look_first(a) : look_at(a, *slot);
                });
}

/// The slot that an earlier write without an answer would still take: it may be carried out after
/// the next write. No write can rely on two Leases, so the next one relies on the same.
std::optional<std::uint32_t> campaigns::doubtful_slot(core::election_index which) const {
  const auto found = in_doubt_.find(core::place(which));
  if (found == in_doubt_.end()) return std::nullopt;
  const auto& [slot, version] = found->second;
  const lease_object* const now =
      shared_.seen(which).lease(slot_name(shared_.spec(which).name, slot));
  const bool is_as_before = (now == nullptr ? 0 : now->resource_version) == version;
  return is_as_before ? std::optional(slot) : std::nullopt;
}

/// False once somebody shows a state on which a write has relied in vain.
bool campaigns::may_write(const attempt_ptr& a, const std::string& name,
                          const lease_object* lease) {
  if (a->last.moves_on_to(name, lease)) return true;
  fail(a, shared_.stale_reply(name).why);
  return false;
}

void campaigns::write_list(const attempt_ptr& a, const list_change& what) {
  const std::string& name = shared_.spec(a->which).name;
  const lease_object* const before = what.first ? &*what.first : nullptr;
  if (!may_write(a, name, before)) return;
  const note_change notes{{std::string(slots_annotation), slots_text(what.list)}};
  shared_.write(a->which, name, before, {}, notes, a->deadline,
                [this, a, was_there = before != nullptr](
                    const std::expected<written_lease, call_failure>& wrote) {
                  if (!wrote && !is_overtaken(wrote.error(), was_there)) {
                    return fail(a, wrote.error().why);
                  }
                  wrote ? judge(a) : look_first(a);
                });
}

void campaigns::campaign(const attempt_ptr& a, const vacancy& of) {
  const std::int64_t now_ms = shared_.with.wall_ms();
  const lease_object* const before = of.lease ? &*of.lease : nullptr;
  const std::string name = slot_name(shared_.spec(a->which).name, of.slot);
  if (!may_write(a, name, before)) return;
  // One that was deleted, and is made again within a second, must not look as it did before.
  std::int64_t& acquired_ms = acquired_ms_[name];
  acquired_ms = renewal_time(now_ms, acquired_ms);
  const spec_change spec{
      .holder = shared_.signature(),
      .duration_s = shared_.ttl_s(),
      .acquired_ms = acquired_ms,
      .renewed_ms = renewal_time(acquired_ms, before == nullptr ? 0 : before->renewed_ms),
      .transitions = before == nullptr ? 0 : before->transitions + 1,
      .forget_preferred = true};
  note_change notes = notes_of_new_term();
  if (of.open.epoch > 0) {
    notes[std::string(epoch_annotation)] = std::to_string(of.open.epoch);
  }
  if (!of.is_agreed && of.slot == 0) notes[std::string(slots_annotation)] = slots_text(of.open);
  shared_.write(a->which, name, before, spec, notes, a->deadline,
                [this, a, of](const std::expected<written_lease, call_failure>& what) {
                  asked(a, of, what);
                });
}

void campaigns::asked(const attempt_ptr& a, const vacancy& of,
                      const std::expected<written_lease, call_failure>& what) {
  const bool is_overtaken_now = !what && is_overtaken(what.error(), of.lease.has_value());
  if (!what && !is_overtaken_now) {
    in_doubt_[core::place(a->which)] = {of.slot, of.lease ? of.lease->resource_version : 0};
  } else {
    in_doubt_.erase(core::place(a->which));
  }
  if (is_overtaken_now) {
    TENURE_SOMETIMES(kubernetes_campaign_overtaken);
    const bool is_listed = of.slot == 0 || (of.lease && shared_.seen(a->which).has(*of.lease));
    return is_listed ? look_first(a) : look_at(a, of.slot);
  }
  if (!what) return fail(a, what.error().why);
  const lease_object& lease = what->lease;
  if (of.lease && lease.resource_version <= of.lease->resource_version) {
    return fail(a, shared_.servers.present() + " says that we hold the Lease " + lease.name +
                       ", and not since when");
  }
  held_term& held = shared_.hold(a->which, of.slot, core::version{lease.resource_version}, lease);
  held.is_clean = of.is_clean;
  won(a, held, what->sent_at);
  note_version(a, lease);
}

/// The write that took the slot could not know its own version. Until the Lease says it, a member
/// that sees it first after somebody else's write takes a larger one for it. If this fails, the
/// first renewal does it.
void campaigns::note_version(const attempt_ptr& a, const lease_object& lease) {
  shared_.change(a->which, lease, {},
                 notes_of_term(shared_.self, lease, core::version{lease.resource_version}),
                 a->deadline, [](const std::expected<written_lease, call_failure>&) {});
}

/// Takes over a term that an earlier call, or an earlier run of this agent, has begun. It is
/// renewed: only then it is known since when others wait. They never wait for less than before: if
/// the reply is lost, the guard of the earlier run still counts on that.
void campaigns::adopt(const attempt_ptr& a, const slot_holder& own) {
  const lease_object& lease =
      *shared_.seen(a->which).lease(slot_name(shared_.spec(a->which).name, own.slot));
  if (!may_write(a, lease.name, &lease)) return;
  const spec_change spec{.duration_s = std::max(lease.duration_s.value_or(0), shared_.ttl_s()),
                         .renewed_ms = renewal_time(shared_.with.wall_ms(), lease.renewed_ms)};
  shared_.change(
      a->which, lease, spec, notes_of_term(shared_.self, lease, own.version), a->deadline,
      [this, a, own](const std::expected<written_lease, call_failure>& what) {
        if (!what && is_overtaken(what.error(), true)) {
          TENURE_SOMETIMES(kubernetes_adoption_overtaken);
          return look_first(a);
        }
        if (!what) return fail(a, what.error().why);
        won(a, shared_.hold(a->which, own.slot, own.version, what->lease), what->sent_at);
      });
}

void campaigns::won(const attempt_ptr& a, const held_term& held, core::time_point sent_at) {
  finish(a, grant{.version = held.version,
                  .sequencer = held.sequencer,
                  .ttl = std::chrono::seconds(shared_.ttl_s()),
                  .sent_at = sent_at,
                  .released_cleanly = held.is_clean,
                  .slot = held.slot});
}

void campaigns::fail(const attempt_ptr& a, std::string why) {
  finish(a, unknown{std::move(why)});
}

void campaigns::finish(const attempt_ptr& a, acquire_outcome outcome) {
  shared_.answer(std::move(a->done), std::move(outcome));
  turns_.leave();
}

}  // namespace tenure::stores::kubernetes
