#include "stores/etcd/mirror.hpp"

#include <algorithm>
#include <utility>

#include "stores/etcd/farewell_text.hpp"
#include "stores/etcd/layout.hpp"

namespace tenure::stores::etcd {

mirror::mirror(election_spec election)
    : election_(std::move(election)),
      prefix_(prefix_of(election_.name)),
      record_(release_record(election_.name)),
      member_prefix_(member_prefix(election_.name)),
      doubtful_(election_.slots) {}

void mirror::replace(std::span<const key_value> all, std::uint64_t revision) {
  if (revision == revision_) return;
  revision_ = revision;
  const std::vector<contender> before = std::exchange(contenders_, {});
  note_release("");
  members_.clear();
  for (const key_value& kv : all) {
    if (is_record(kv.key)) note_release(kv.value);
  }
  doubtful_ = election_.slots;
  for (const key_value& kv : all) add(kv);
  for (contender& one : contenders_) {
    const auto known = std::ranges::find(before, one.create_revision, &contender::create_revision);
    one.after_release = known != before.end() && known->after_release;
  }
  // Holders may have come and gone unseen.
  doubtful_ = free_slots();
}

void mirror::apply(std::span<const watch_event> events) {
  std::size_t next = 0;
  while (next < events.size()) {
    // The events of one revision were one transaction: the record in it speaks of the deletion.
    const std::uint64_t revision = events[next].kv.mod_revision;
    std::size_t end = next;
    while (end < events.size() && events[end].kv.mod_revision == revision) ++end;
    const auto batch = events.subspan(next, end - next);
    next = end;
    if (revision <= revision_) continue;
    revision_ = revision;
    for (const watch_event& e : batch) {
      if (is_record(e.kv.key)) note_release(e.erased ? "" : e.kv.value);
    }
    for (const watch_event& e : batch) {
      if (e.erased) remove(e.kv.key);
    }
    for (const watch_event& e : batch) {
      if (!e.erased) add(e.kv);
    }
  }
}

void mirror::note_release(std::string_view record) {
  auto note = parse_release_note(record);
  released_ = note && note->clean ? core::number(note->said.term) : 0;
  parting_ = note ? std::optional(std::move(note->said)) : std::nullopt;
}

void mirror::add(const key_value& kv) {
  if (kv.key.starts_with(member_prefix_)) members_[kv.key] = kv.value;
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
                .after_release = doubtful_ == 0};
  const auto behind =
      std::ranges::upper_bound(contenders_, one.create_revision, {}, &contender::create_revision);
  contenders_.insert(behind, std::move(one));
  // Whoever comes into a doubtful slot waits for lock_delay, and with that for what ran there.
  if (doubtful_ > 0) --doubtful_;
  doubtful_ = std::min(doubtful_, free_slots());
}

void mirror::remove(std::string_view key) {
  if (const auto member = members_.find(key); member != members_.end()) members_.erase(member);
  const auto gone = std::ranges::find(contenders_, key, &contender::key);
  if (gone == contenders_.end()) return;
  const bool in_doubt = holds(*gone) && gone->create_revision != released_;
  contenders_.erase(gone);
  // One that waited takes the place at once, whatever state that is in; it is not of ours.
  if (in_doubt) doubtful_ = std::min(doubtful_ + 1, free_slots());
}

const contender* mirror::find(std::string_view key, std::uint64_t create_revision) const {
  const auto found = std::ranges::find(contenders_, create_revision, &contender::create_revision);
  return found == contenders_.end() || found->key != key ? nullptr : &*found;
}

bool mirror::holds(const contender& one) const {
  return &one - contenders_.data() < static_cast<std::ptrdiff_t>(election_.slots);
}

std::uint32_t mirror::free_slots() const {
  const auto taken = static_cast<std::uint32_t>(contenders_.size());
  return taken < election_.slots ? election_.slots - taken : 0;
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

core::observation mirror::observe() const {
  core::observation out;
  out.as_of = core::version{revision_};
  for (const contender& one : contenders_) {
    if (!holds(one)) break;
    out.holders.push_back({.identity = one.identity, .term = core::version{one.create_revision}});
  }
  out.parting = parting_;
  // Without any, there is nobody who announces itself.
  if (!members_.empty()) {
    std::vector<std::string>& names = out.members.emplace();
    for (const auto& [key, name] : members_) names.push_back(name);
    std::ranges::sort(names);
    names.erase(std::ranges::unique(names).begin(), names.end());
  }
  return out;
}

}  // namespace tenure::stores::etcd
