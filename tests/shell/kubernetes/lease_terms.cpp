#include "kubernetes/lease_terms.hpp"

#include <algorithm>
#include <sstream>
#include <utility>

#include "base/digest.hpp"
#include "base/number_text.hpp"

namespace tenure::shell {
namespace {

using nlohmann::json;

constexpr std::string_view mark_prefix = "tenure-";
constexpr std::string_view slot_suffix = ".slot-";
constexpr std::string_view order_annotations = "tenure.dev/order-";
/// The judge takes what is above that of a lease's number for the session of an agent.
constexpr int session_shift = 24;
constexpr std::uint64_t most_of_a_session = 0x7fffffff;
/// Of a contender's clock against another one's.
constexpr int clock_part = 100;
constexpr std::int64_t usual_duration_s = 1;

std::string election_in(const std::string& name) {
  return name.substr(0, name.find('.'));
}

/// Nothing if the Lease with this name is not a slot.
std::optional<std::uint32_t> slot_in(const std::string& name) {
  const std::string rest = name.substr(election_in(name).size());
  if (rest.empty()) return 0;
  if (!rest.starts_with(slot_suffix)) return std::nullopt;
  return base::read_number<std::uint32_t>(rest.substr(slot_suffix.size()));
}

std::string text_in(const json& from, const char* name) {
  const auto found = from.find(name);
  return found == from.end() || !found->is_string() ? "" : found->get<std::string>();
}
std::int64_t number_in(const json& from, const char* name, std::int64_t otherwise) {
  const auto found = from.find(name);
  return found == from.end() ? otherwise : found->get<std::int64_t>();
}
const json& spec_of(const lease_state& of) {
  static const json nothing = json::object();
  const auto found = of->object.find("spec");
  return found == of->object.end() ? nothing : *found;
}
std::string note_in(const lease_state& of, const char* name) {
  const json& metadata = of->object.at("metadata");
  const auto found = metadata.find("annotations");
  return found == metadata.end() ? "" : text_in(*found, name);
}
std::string holder_of(const lease_state& of) {
  return of == nullptr ? "" : text_in(spec_of(of), "holderIdentity");
}

/// "pod-0" and "tenure-5f…" of "pod-0_tenure-5f…"; a client has no mark.
std::string owner_in(const std::string& holder) {
  return holder.substr(0, holder.rfind('_'));
}
std::string mark_in(const std::string& holder) {
  const auto joint = holder.rfind('_');
  const std::string mark = joint == std::string::npos ? "" : holder.substr(joint + 1);
  return mark.starts_with(mark_prefix) ? mark : "";
}

/// The version that the Lease says its term has; nothing: it does not say, or speaks of another.
std::optional<std::uint64_t> noted_version(const lease_state& of) {
  std::istringstream words(note_in(of, "tenure.dev/term"));
  std::int64_t transitions = 0;
  std::uint64_t version = 0;
  std::string mark;
  if (!(words >> transitions >> version >> mark)) return std::nullopt;
  const bool is_its = mark == mark_in(holder_of(of)) && !mark.empty() &&
                      transitions == number_in(spec_of(of), "leaseTransitions", 0) &&
                      version <= of->revision;
  return is_its ? std::optional(version) : std::nullopt;
}

/// The epoch and the numbers of the slots that may be held; empty: nothing is agreed on.
std::vector<std::uint64_t> open_slots_in(const lease_state& first) {
  std::vector<std::uint64_t> out;
  if (first == nullptr) return out;
  std::istringstream words(note_in(first, "tenure.dev/slots"));
  for (std::uint64_t one = 0; words >> one;) out.push_back(one);
  return out.size() < 2 || !words.eof() ? std::vector<std::uint64_t>() : out;
}

/// True if slot 0 may not be held.
bool is_first_closed(const lease_state& first) {
  const auto open = open_slots_in(first);
  return !open.empty() && std::find(open.begin() + 1, open.end(), 0) == open.end();
}

/// By their ids.
std::map<std::string, std::string> orders_on(const lease_state& first) {
  std::map<std::string, std::string> out;
  if (first == nullptr) return out;
  const json& metadata = first->object.at("metadata");
  if (!metadata.contains("annotations")) return out;
  for (const auto& [name, text] : metadata.at("annotations").items()) {
    if (name.starts_with(order_annotations)) {
      out.emplace(name.substr(order_annotations.size()), text.get<std::string>());
    }
  }
  return out;
}

}  // namespace

void lease_terms::changed(const lease_change& what, writer by) {
  const std::string election = election_in(what.name);
  if (what.name == election) {
    orders_changed(what, by);
    agree(election, what.after);
  }
  if (!slot_in(what.name)) return;
  const auto found = present_.find(what.name);
  const std::string holder = holder_of(what.after);
  if (found == present_.end()) {
    if (!holder.empty()) begin(what, by);
    return;
  }
  const term& before = found->second;
  const bool goes_on = !holder.empty() && holder == before.holder &&
                       text_in(what.after->object.at("metadata"), "uid") == before.uid &&
                       number_in(spec_of(what.after), "leaseTransitions", 0) == before.transitions;
  if (goes_on) return go_on(found->second, what, by);
  const term ended = before;
  present_.erase(found);
  // Who closes the slot of one whose time is over clears it; its holder's release leaves the epoch.
  constexpr const char* epoch = "tenure.dev/epoch";
  const bool is_cleared = holder.empty() && what.after != nullptr && what.before != nullptr &&
                          note_in(what.after, epoch) != note_in(what.before, epoch);
  const bool is_taken = (!holder.empty() || is_cleared) && by == writer::client;
  // Of two Go programs one does not see what the other writes twice in a second.
  const bool is_ours = !mark_in(ended.holder).empty() || !mark_in(holder).empty();
  const world_time about_now =
      world_.now + core::duration(std::chrono::seconds(ended.counted_s)) / clock_part;
  const bool has_waited = ended.is_put_there || ended.is_restored;
  const bool is_early = is_taken && is_ours && about_now < ended.lasts_until;
  if (is_early && !has_waited) {
    judge_.broke(rule::taken_too_early, what.name + " of " + ended.holder + " by " + holder);
  }
  // A Go program may write what it has read before a restore, if the number of that change has come
  // again.
  const bool is_of_before =
      judge_.was_restored() && what.after != nullptr &&
      number_in(spec_of(what.after), "leaseTransitions", 0) < ended.transitions;
  end(ended, by == writer::operator_ || is_early || is_of_before ? erased_by::somebody
             : is_taken                                          ? erased_by::expiry
                                                                 : erased_by::transaction);
  if (!holder.empty()) begin(what, by);
}

/// An order is taken off when nobody shows it any more, whether or not it was answered since:
/// nobody waits for the answer then.
void lease_terms::orders_changed(const lease_change& what, writer by) {
  const auto before = orders_on(what.before);
  const auto after = orders_on(what.after);
  for (const auto& [id, text] : after) {
    if (!before.contains(id)) orders_[id] = world_.now;
  }
  for (const auto& [id, text] : before) {
    if (after.contains(id)) continue;
    const bool is_shown = world_.now < orders_[id] + stores::order_stays;
    judge_.order_gone(text, by == writer::operator_ ? erased_by::somebody
                            : is_shown              ? erased_by::transaction
                                                    : erased_by::expiry);
  }
}

void lease_terms::agree(const std::string& election, const lease_state& first) {
  std::vector<std::uint64_t> list = open_slots_in(first);
  if (!list.empty()) list.erase(list.begin());  // the epoch
  judge_.agreed(election, static_cast<std::uint32_t>(list.size()));
  lists_[election] = std::move(list);
}

/// A Lease of a slot outside the list is none of the election's (docs/kubernetes.md), even if an
/// operator has written the list while it was held.
bool lease_terms::counts(const term& one) const {
  const auto found = lists_.find(one.election);
  return one.slot == 0 || found == lists_.end() || found->second.empty() ||
         std::ranges::find(found->second, one.slot) != found->second.end();
}

/// Who holds may still give up a term that was over, as long as nobody has taken its Lease.
void lease_terms::end(const term& one, erased_by how) {
  if (one.is_gone && how != erased_by::transaction) return;
  if (one.is_gone) judge_.put_back(one.key, one.version, true);
  judge_.erased(one.key, one.version, how);
}

bool lease_terms::is_of_an_agent(const term& one) {
  return one.lease >> session_shift != 0;
}

void lease_terms::begin(const lease_change& what, writer by) {
  const json& spec = spec_of(what.after);
  const auto noted = noted_version(what.after);
  term made{.election = election_in(what.name),
            .key = {},
            .owner = owner_in(holder_of(what.after)),
            .holder = holder_of(what.after),
            .uid = text_in(what.after->object.at("metadata"), "uid"),
            .transitions = number_in(spec, "leaseTransitions", 0),
            .slot = *slot_in(what.name),
            .version = noted.value_or(what.revision),
            .written = what.revision,
            .is_noted = noted.has_value(),
            .is_touched = by == writer::operator_,
            .is_put_there = by == writer::operator_};
  made.key = made.election + "/" + what.name + "/" + made.uid;
  const term_looks looks{made.key, made.holder, made.transitions};
  const std::uint64_t first = first_.try_emplace(looks, made.version).first->second;
  made.looks_like = made.is_put_there ? std::min(first, made.version) : made.version;
  const std::string mark = mark_in(made.holder);
  // What an operator makes is no deed of an agent's.
  const bool is_agents = by == writer::client && !mark.empty();
  made.lease = static_cast<std::int64_t>((is_agents ? base::digest(mark) & most_of_a_session : 0)
                                         << session_shift);
  made.lease += ++numbers_;
  made.counted_s = number_in(spec, "leaseDurationSeconds", usual_duration_s);
  if (is_agents) {
    relied_on_s_[mark] = made.counted_s;
    check_taking(made, what);
  }
  if (mark.empty() && made.slot == 0 && is_first_closed(what.after)) {
    judge_.closed_slot_taken(made.election);
  }
  tell_beginning(made, noted && *noted != what.revision);
  term& kept = present_[what.name] = std::move(made);
  const std::int64_t lasts_s = kept.counted_s;
  kept.counted_s = known_.at(name_of(kept)).counted_s;
  // Somebody has shortened it, and has put it back like that.
  if (lasts_s < kept.counted_s && is_of_an_agent(kept)) {
    end(kept, erased_by::somebody);
    kept.is_gone = true;
  }
  lasts(what.name, kept, lasts_s);
}

/// `may_be_back`: somebody may have written it again as it was.
void lease_terms::tell_beginning(term& one, bool may_be_back) {
  const known_term here{.lease = one.lease, .counted_s = one.counted_s};
  const auto [known, is_new] = known_.emplace(name_of(one), here);
  if (is_new || !may_be_back) {
    known->second = here;
    return judge_.created(one.key, one.version, one.lease, one.owner);
  }
  one.lease = known->second.lease;
  judge_.put_back(one.key, one.version, false);
}

/// What nobody may do who has read all that the Lease says, as this write was carried out only
/// because the Lease was as it was read.
void lease_terms::check_taking(const term& made, const lease_change& what) {
  if (what.before == nullptr) return;
  const json& spec = spec_of(what.before);
  const std::string preferred = text_in(spec, "preferredHolder");
  const bool is_chosen = !text_in(spec, "strategy").empty() && preferred.empty();
  const bool is_for_another =
      !preferred.empty() && preferred != made.holder && preferred != made.owner;
  if (made.slot == 0 && (is_chosen || is_for_another)) {
    judge_.broke(rule::taken_from_preferred, what.name + " by " + made.holder);
  }
}

void lease_terms::go_on(term& one, const lease_change& what, writer by) {
  const std::uint64_t before = std::exchange(one.written, what.revision);
  if (by == writer::operator_) one.is_touched = true;
  const auto noted = noted_version(what.after);
  const bool was_noted = std::exchange(one.is_noted, noted.has_value());
  // Whoever has not seen it before somebody has written the Lease takes a later version for it.
  const bool is_later =
      noted && *noted != one.version && (one.is_touched || (!was_noted && *noted <= before));
  if (is_later) {
    end(one, erased_by::somebody);
    one.version = *noted;
    one.is_gone = false;
    tell_beginning(one, true);
    one.counted_s = known_.at(name_of(one)).counted_s;
  }
  const json& spec = spec_of(what.after);
  if (spec == spec_of(what.before)) return;
  const std::int64_t duration_s = number_in(spec, "leaseDurationSeconds", usual_duration_s);
  one.is_put_there = by == writer::operator_;
  one.is_restored = false;
  // An agent relies on its own ttl, however much longer the Lease lasts.
  if (by == writer::client && !is_of_an_agent(one)) {
    const auto known = relied_on_s_.find(mark_in(one.holder));
    one.counted_s = known == relied_on_s_.end() ? duration_s : std::min(duration_s, known->second);
  }
  // Not by whoever renews it, though an operator has made it last longer before.
  const bool is_shortened = duration_s < one.counted_s;
  if (is_shortened && !one.is_gone) {
    end(one, erased_by::somebody);
    one.is_gone = true;
    one.has_run_out = false;
  } else if (!is_shortened && one.is_gone) {
    one.is_gone = false;
    judge_.put_back(one.key, one.version, one.has_run_out);
  }
  lasts(what.name, one, duration_s);
}

/// From now on, as its spec has changed.
void lease_terms::lasts(const std::string& name, term& one, std::int64_t duration_s) {
  one.lasts = std::chrono::seconds(duration_s);
  one.lasts_until = world_.now + one.lasts;
  world_time& most = promised_[one.lease];
  most = std::max(most, one.lasts_until);
  watch_for_end(name, one);
}

void lease_terms::watch_for_end(const std::string& name, const term& one) {
  world_.at(one.lasts_until, [this, name, lease = one.lease] {
    const auto found = present_.find(name);
    if (found == present_.end() || found->second.lease != lease) return;
    term& its = found->second;
    if (its.is_gone || world_.now < its.lasts_until) return;
    end(its, erased_by::expiry);
    its.is_gone = its.has_run_out = true;
  });
}

/// All API servers have been started again, so each agent that hears of that reads everything anew,
/// and waits from then on. One that was cut off, and a Go program, may find a Lease as they have
/// seen it last, and do not wait again.
void lease_terms::restore(const all_terms& backup, const lease_objects& objects) {
  present_ = backup;
  std::vector<restored_key> there;
  for (auto& [name, one] : present_) {
    one.is_gone = one.is_gone && !one.has_run_out;
    one.is_restored = true;
    if (!one.is_gone) {
      there.push_back({.key = one.key, .create_revision = one.version, .lease = one.lease});
    }
  }
  judge_.restored(there, objects.revision());
  for (const auto& [name, one] : objects.all()) {
    if (name == election_in(name)) agree(name, one);
  }
  // As its Lease says, which an operator may have changed before the backup.
  for (auto& [name, one] : present_) {
    lasts(name, one, std::chrono::duration_cast<std::chrono::seconds>(one.lasts).count());
  }
}

// What is true ------------------------------------------------------------------------------------

world_time lease_terms::promised(std::int64_t lease) const {
  const auto found = promised_.find(lease);
  return found == promised_.end() ? world_time{} : found->second;
}

std::vector<std::uint64_t> lease_terms::holders(const std::string& election) const {
  std::vector<std::uint64_t> out;
  for (const auto& [name, one] : present_) {
    if (one.election == election && !one.is_gone) out.push_back(one.version);
  }
  std::ranges::sort(out);
  return out;
}

/// Who has not seen a term begin, and whose Lease does not say its version, takes a later one; or
/// the one that it had before, if an operator has taken the Lease away and put it back unseen. A
/// term that is over is shown by whoever holds it, as its agent knows better, and where others
/// still wait. A member that looks on only since then waits from its own first look.
bool lease_terms::may_show(const std::string& election, const std::string& identity,
                           const std::vector<std::uint64_t>& shown, world_time since) const {
  // Who holds has to be there; those of whose versions less can be known choose from what is left.
  std::vector<const term*> terms;
  for (const auto& [name, one] : present_) {
    if (one.election == election) terms.push_back(&one);
  }
  const auto last_version = [](const term& one) {
    return one.is_noted ? one.version : one.written;
  };
  std::ranges::sort(terms, {}, [&](const term* one) {
    return std::pair(one->is_gone, last_version(*one) - one->version);
  });
  std::vector<std::uint64_t> left = shown;
  for (const term* one : terms) {
    const auto found = std::ranges::find_if(left, [&](std::uint64_t version) {
      return (version >= one->version && version <= last_version(*one)) ||
             version == one->looks_like;
    });
    if (found == left.end()) {
      if (!one->is_gone && counts(*one)) return false;
    } else if (!one->is_gone || one->owner == identity ||
               world_.now < std::max(one->lasts_until, since + one->lasts)) {
      left.erase(found);
    }
  }
  return left.empty();
}

}  // namespace tenure::shell
