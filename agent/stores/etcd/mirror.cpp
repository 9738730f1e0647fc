#include "stores/etcd/mirror.hpp"

#include <algorithm>
#include <utility>

#include "stores/etcd/layout.hpp"
#include "stores/records/agreement_text.hpp"
#include "stores/records/order_text.hpp"
#include "stores/records/release_record_text.hpp"

namespace tenure::stores::etcd {

mirror::mirror(settings::election election, const own_run& self)
    : election_(std::move(election)),
      self_(&self),
      prefix_(prefix_of(election_.name)),
      record_(release_record(election_.name)),
      agreement_key_(agreement_key(election_.name)),
      member_prefix_(member_prefix(election_.name)),
      ready_prefix_(ready_prefix(election_.name)),
      seal_prefix_(seal_prefix(election_.name)),
      order_prefix_(order_prefix(election_.name)),
      vacancies_(election_.slots) {}

void mirror::replace(std::span<const key_value> all, std::uint64_t revision) {
  revision_ = revision;
  ++changes_;
  const std::vector<contender> before = std::exchange(contenders_, {});
  note_release("");
  note_agreement("", 0);
  members_.clear();
  ready_.clear();
  listed_members_.reset();
  beside_.clear();
  seals_.clear();
  orders_.clear();
  for (const key_value& kv : all) note(kv);
  for (const key_value& kv : all) add(kv);
  for (contender& one : contenders_) {
    const auto known = std::ranges::find(before, one.create_revision, &contender::create_revision);
    one.after_release = known != before.end() && known->key == one.key && known->after_release;
  }
  // A restore may bring back what is gone.
  const auto is_there = [this](std::uint64_t revision) {
    return std::ranges::find(contenders_, revision, &contender::create_revision) !=
           contenders_.end();
  };
  if (!is_there(passed_.ended) || !is_there(passed_.ours)) passed_ = {};
  // Holders may have come and gone unseen. The same revision proves nothing: a restored store may
  // have reached it by another way.
  vacancies_ = core::vacancies(free_slots());
}

void mirror::apply(std::span<const watch_event> events) {
  std::size_t next = 0;
  while (next < events.size()) {
    // The events of one revision are one transaction: the record in it describes the deletion.
    const std::uint64_t revision = events[next].kv.mod_revision;
    std::size_t end = next;
    while (end < events.size() && events[end].kv.mod_revision == revision) ++end;
    const auto batch = events.subspan(next, end - next);
    next = end;
    if (revision <= revision_) continue;
    revision_ = revision;
    for (const watch_event& e : batch) {
      if (is_of_members(e.kv.key)) {
        listed_members_.reset();
      } else {
        ++changes_;
      }
    }
    const std::uint32_t slots_before = slots();
    for (const watch_event& e : batch) {
      if (!e.erased) note(e.kv);
      if (e.erased && e.kv.key == record_) note_release("");
      if (e.erased && e.kv.key == agreement_key_) note_agreement("", 0);
    }
    // Nobody knows who was in slots that are new, unless nothing ran in any of them before.
    const bool was_idle = contenders_.empty() && vacancies_.doubtful() == 0;
    if (slots() != slots_before && !was_idle) vacancies_ = core::vacancies(free_slots());
    // Who waited and went in the same step has not held in between.
    const auto has_held = [this](const watch_event& e) {
      const auto it = std::ranges::find(contenders_, e.kv.key, &contender::key);
      return it != contenders_.end() && holds(*it);
    };
    std::vector<std::string_view> held;
    for (const watch_event& e : batch) {
      if (!e.erased) continue;
      has_held(e) ? held.push_back(e.kv.key) : remove(e.kv.key);
    }
    for (const std::string_view key : held) remove(key);
    for (const watch_event& e : batch) {
      if (!e.erased) add(e.kv);
    }
  }
}

bool mirror::is_of_members(std::string_view key) const {
  return key.starts_with(member_prefix_) || key.starts_with(ready_prefix_);
}

/// Takes note of keys beside the contenders, which must be known before the contenders are judged.
void mirror::note(const key_value& kv) {
  if (kv.key == record_) note_release(kv.value);
  if (kv.key == agreement_key_) note_agreement(kv.value, kv.mod_revision);
}

void mirror::note_release(std::string_view record) {
  auto note = parse_release_record(record);
  released_ = note && note->clean ? core::number(note->said.version) : 0;
  told_ = note ? core::number(note->told) : 0;
  last_release_ = note ? std::optional(std::move(note->said)) : std::nullopt;
}

/// An unreadable agreement counts as none; the next campaign writes it anew.
void mirror::note_agreement(std::string_view text, std::uint64_t revision) {
  agreed_ = parse_agreement(text).value_or(core::agreement{});
  last_accepted_unix_ms_ = std::max(last_accepted_unix_ms_, agreed_.accepted_unix_ms);
  agreed_revision_ = revision;
}

void mirror::add(const key_value& kv) {
  if (kv.key.starts_with(member_prefix_)) {
    members_[kv.key] = {.identity = kv.value,
                        .create_revision = kv.create_revision,
                        .ours = self_->ids.made(kv.key)};
  }
  if (kv.key.starts_with(ready_prefix_)) {
    if (const auto says = parse_readiness(kv.value)) ready_.insert_or_assign(kv.key, *says);
    beside_.insert_or_assign(
        kv.key, said_beside{.peer = peer_in(kv.value), .answers = answers_in(kv.value)});
  }
  if (kv.key.starts_with(seal_prefix_)) {
    seals_.insert_or_assign(kv.key, seal{.public_key = kv.value, .revision = kv.mod_revision});
  }
  if (kv.key.starts_with(order_prefix_)) {
    if (auto order = parse_order(kv.key.substr(order_prefix_.size()), kv.value)) {
      orders_.insert_or_assign(kv.key, kept_order{.order = std::move(*order), .lease = kv.lease});
    }
  }
  if (!kv.key.starts_with(prefix_)) return;
  const std::string& shown = kv.value.empty() ? kv.key : kv.value;
  const auto known = std::ranges::find(contenders_, kv.key, &contender::key);
  if (known != contenders_.end()) {
    known->identity = shown;
    known->lease = kv.lease;
    return;
  }
  contender one{.key = kv.key,
                .identity = shown,
                .create_revision = kv.create_revision,
                .lease = kv.lease,
                .ours = self_->ids.made(kv.key),
                .slot = slot_in(kv.key)};
  const auto behind =
      std::ranges::upper_bound(contenders_, one.create_revision, {}, &contender::create_revision);
  const bool holds_at_once = has_room();
  const auto place = contenders_.insert(behind, std::move(one));
  // A contender that waits gets its slot, and the doubt that goes with it, in `remove`.
  place->after_release = holds_at_once && vacancies_.taken();
  vacancies_.limit(free_slots());
}

void mirror::remove(std::string_view key) {
  const auto forget = [&](auto& all) {
    if (const auto one = all.find(key); one != all.end()) all.erase(one);
  };
  forget(members_);
  forget(ready_);
  forget(beside_);
  forget(seals_);
  forget(orders_);
  const auto gone = std::ranges::find(contenders_, key, &contender::key);
  if (gone == contenders_.end()) return;
  const bool held = holds(*gone);
  // A restore may bring it back.
  if (gone->create_revision == passed_.ended || gone->create_revision == passed_.ours) passed_ = {};
  const bool cleanly = gone->create_revision == released_ && may_be_followed(*gone);
  contenders_.erase(gone);
  if (held) vacancies_.freed(cleanly);
  // A contender that waited takes the slot at once, clean or not; that slot is not for us.
  const std::size_t last = slots() - 1;
  if (held && last < contenders_.size()) contenders_[last].after_release = vacancies_.taken();
  vacancies_.limit(free_slots());
}

const contender* mirror::find(std::string_view key, std::uint64_t create_revision) const {
  const auto found = std::ranges::find(contenders_, create_revision, &contender::create_revision);
  return found == contenders_.end() || found->key != key ? nullptr : &*found;
}

const contender* mirror::find_term(const core::holder& whose) const {
  const auto found = std::ranges::find_if(contenders_, [&](const contender& one) {
    return !one.ours && core::version{one.create_revision} == whose.version &&
           sequencer_of(one) == whose.sequencer;
  });
  return found == contenders_.end() ? nullptr : &*found;
}

void mirror::passed_on() {
  ++changes_;
  passed_ = {.ended = contenders_[0].create_revision, .ours = contenders_[1].create_revision};
  vacancies_.freed(true);
  contenders_[1].after_release = vacancies_.taken();
  vacancies_.limit(free_slots());
}

/// Which contender is the first that counts.
std::ptrdiff_t mirror::first_holder() const {
  const bool is_passed = passed_.ended != 0 && slots() == 1 && contenders_.size() > 1 &&
                         contenders_[0].create_revision == passed_.ended && contenders_[1].ours &&
                         contenders_[1].create_revision == passed_.ours;
  return is_passed ? 1 : 0;
}

/// False if the member that was told of the end of this term is gone before it: it may have begun a
/// term, and nobody knows how that ended.
bool mirror::may_be_followed(const contender& gone) const {
  return told_ == 0 || std::ranges::any_of(contenders_, [&](const contender& one) {
           return one.create_revision == told_ && one.create_revision != gone.create_revision;
         });
}

const std::string* mirror::seal_of(const contender& one) const {
  const auto found = seals_.find(seal_key(election_.name, one.lease));
  const bool is_its = found != seals_.end() && found->second.revision == one.create_revision;
  return is_its ? &found->second.public_key : nullptr;
}

std::string mirror::peer_of(std::string_view identity) const {
  const auto is_its = [&](const auto& entry) { return entry.second.identity == identity; };
  if (std::ranges::count_if(members_, is_its) != 1) return {};
  const std::string& key = std::ranges::find_if(members_, is_its)->first;
  const auto at = beside_.find(ready_prefix_ + key.substr(member_prefix_.size()));
  return at == beside_.end() ? std::string() : at->second.peer;
}

std::vector<std::string> mirror::places_besides(std::string_view heir) const {
  std::vector<std::string> out;
  for (const contender& one : contenders_) {
    const auto is_its = [&](const auto& entry) { return entry.second.identity == one.identity; };
    const bool is_member = std::ranges::any_of(members_, is_its);
    if (!holds(one) && is_member && one.identity != heir) out.push_back(one.key);
  }
  return out;
}

const contender* mirror::find_own() const {
  const auto own = std::ranges::find(contenders_, true, &contender::ours);
  return own == contenders_.end() ? nullptr : &*own;
}

const kept_order* mirror::order(std::string_view key) const {
  const auto found = orders_.find(key);
  return found == orders_.end() ? nullptr : &found->second;
}

bool mirror::holds(const contender& one) const {
  const std::ptrdiff_t behind = &one - contenders_.data() - first_holder();
  return behind >= 0 && behind < static_cast<std::ptrdiff_t>(slots());
}

std::uint32_t mirror::free_slots() const {
  const auto taken = static_cast<std::uint32_t>(contenders_.size());
  return taken < slots() ? slots() - taken : 0;
}

names_like_ours mirror::names() const {
  return find_names_like_ours(
      members_, self_->identity, &listed::create_revision,
      [this](std::string_view key, const listed& /*one*/) -> std::optional<std::uint64_t> {
        const auto its =
            beside_.find(ready_prefix_ + std::string(key.substr(member_prefix_.size())));
        return its == beside_.end() ? std::nullopt : its->second.answers;
      });
}

bool mirror::identity_in_use() const {
  const auto is_namesake = [&](const auto& one) {
    return !one.ours && one.identity == self_->identity;
  };
  if (std::ranges::any_of(contenders_, is_namesake)) return true;
  std::uint64_t first = UINT64_MAX;
  bool ours = false;
  for (const auto& [key, one] : members_) {
    if (one.identity != self_->identity || one.create_revision >= first) continue;
    if (self_->namesakes != nullptr && self_->namesakes->is_over(key)) continue;
    first = one.create_revision;
    ours = one.ours;
  }
  return first != UINT64_MAX && !ours;
}

bool mirror::shows(std::span<const key_value> all) const {
  std::size_t count = 0;
  for (const key_value& kv : all) {
    if (!kv.key.starts_with(prefix_)) continue;
    if (find(kv.key, kv.create_revision) == nullptr) return false;
    ++count;
  }
  return count == contenders_.size();
}

std::string sequencer_of(const contender& one) {
  return one.key + "@" + std::to_string(one.create_revision);
}

core::observation mirror::observe() const {
  core::observation out;
  out.as_of = core::version{revision_};
  for (const contender& one : contenders_) {
    if (!holds(one)) continue;
    out.holders.push_back({.identity = one.identity,
                           .version = core::version{one.create_revision},
                           .ours = one.ours,
                           .slot = one.slot,
                           .sequencer = sequencer_of(one)});
  }
  out.last_release = last_release_;
  out.agreed = agreed_;
  out.identity_in_use = identity_in_use();
  for (const auto& [key, kept] : orders_) out.orders.push_back(kept.order);
  // Without member keys, nobody announces itself.
  if (!members_.empty()) out.members = listed_members();
  return out;
}

const core::member_list& mirror::listed_members() const {
  if (listed_members_) return *listed_members_;
  std::vector<core::member> all;
  all.reserve(members_.size());
  for (const auto& [key, one] : members_) {
    const std::string beside = ready_prefix_ + key.substr(member_prefix_.size());
    all.push_back(member_with(one.identity, ready_, beside));
  }
  return listed_members_.emplace(std::move(all));
}

}  // namespace tenure::stores::etcd
