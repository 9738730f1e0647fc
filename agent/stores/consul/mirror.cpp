#include "stores/consul/mirror.hpp"

#include <algorithm>
#include <utility>

#include "core/sometimes.hpp"
#include "stores/consul/layout.hpp"
#include "stores/consul/requests.hpp"
#include "stores/free_slot.hpp"
#include "stores/records/agreement_text.hpp"
#include "stores/records/order_text.hpp"
#include "stores/records/release_record_text.hpp"

namespace tenure::stores::consul {
namespace {

/// How many contenders of ended sessions one transaction deletes. The next one goes on.
constexpr std::size_t most_erased = 8;

bool is_among(std::span<const slot_holder> all, const slot_holder& one) {
  return std::ranges::any_of(all, [&](const slot_holder& other) {
    return other.version == one.version && other.session == one.session;
  });
}

}  // namespace

mirror::mirror(settings::election election, const own_run& self)
    : election_(std::move(election)),
      self_(&self),
      prefix_(prefix_of(election_.name)),
      lock_key_(lock_key(election_.name)),
      vacancies_(election_.slots) {}

void mirror::replace(std::span<const key_value> all, std::uint64_t index) {
  index_ = index;
  read(all);
  vacancies_ = core::vacancies(free_slots());
  began_clean_ = core::no_version;
}

void mirror::follow(std::span<const key_value> all, std::uint64_t index) {
  const std::vector<slot_holder> before = holders_;
  const std::uint64_t created_before = created_;
  const std::uint64_t turns_before = turns();
  const std::uint32_t slots_before = slots();
  const bool counted_before = shape_ != lock_shape::semaphore || body_.changes.has_value();
  const lock_shape shape_before = shape_;
  index_ = std::max(index_, index);
  read(all);

  std::uint64_t seen = 0;
  for (const slot_holder& gone : before) {
    if (is_among(holders_, gone)) continue;
    vacancies_.freed(gone.version == released_);
    // Only the release of a semaphore is a write: neither a lock's is, nor the end of a session.
    const bool said = last_release_ && last_release_->version == gone.version;
    if (said && shape_ == lock_shape::semaphore) ++seen;
  }
  std::uint32_t came = 0;
  for (const slot_holder& one : holders_) came += is_among(before, one) ? 0U : 1U;
  seen += came;
  // The first to lock has made the key.
  const bool made = shape_before == lock_shape::none && shape_ != lock_shape::none;
  const bool same_key = made ? created_ == written_ : created_ == created_before;
  const bool counted = counted_before && (shape_ != lock_shape::semaphore || body_.changes);
  const bool saw_all = same_key && counted && (made || shape_ == shape_before) &&
                       slots() == slots_before && turns() - (made ? 0 : turns_before) <= seen;
  // Others may have held meanwhile, and nobody knows how they ended.
  if (!saw_all) vacancies_ = core::vacancies(free_slots() + came);
  if (came > 0) {
    const bool is_clean = shape_ == lock_shape::single && vacancies_.doubtful() == 0;
    began_clean_ = is_clean ? holders_.front().version : core::no_version;
  }
  for (std::uint32_t i = 0; i < came; ++i) vacancies_.taken();
  vacancies_.limit(free_slots());
}

/// Grows with each holder, so that it shows whether one was missed.
std::uint64_t mirror::turns() const {
  if (shape_ == lock_shape::single) return lock_index_;
  return body_.changes.value_or(0);
}

void mirror::read(std::span<const key_value> all) {
  shape_ = lock_shape::none;
  trouble_.clear();
  lock_text_.clear();
  lock_index_ = created_ = written_ = 0;
  flags_ = semaphore_flags;
  body_ = {};
  limit_ = 0;
  holders_.clear();
  dead_.clear();
  ousted_.clear();
  members_.clear();
  ready_.clear();
  listed_members_.reset();
  answers_.clear();
  offers_.clear();
  orders_.clear();
  accepted_ = {};
  agreement_index_ = 0;
  last_release_.reset();
  released_ = core::no_version;
  for (const key_value& kv : all) {
    index_ = std::max(index_, kv.modify_index);
    if (kv.key == lock_key_) read_lock(kv);
  }
  for (const key_value& kv : all) {
    if (kv.key.starts_with(prefix_) && kv.key != lock_key_) read_record(kv);
  }
  read_contenders(all);
  std::ranges::sort(holders_, {}, &slot_holder::version);
  // The holders that are alive, for the next write.
  std::erase_if(body_.holders, [this](const std::string& session) {
    return std::ranges::find(holders_, session, &slot_holder::session) == holders_.end();
  });
  if (!holders_.empty()) retry_at_ = core::never;
  if (index_ >= expected_.index) expected_ = {};
}

std::vector<std::string> mirror::vanished(std::span<const key_value> all,
                                          std::uint64_t index) const {
  const auto find = [all](std::string_view key) {
    const auto at = std::ranges::lower_bound(all, key, {}, &key_value::key);
    return at != all.end() && at->key == key ? &*at : nullptr;
  };
  const key_value* const lock = find(lock_key_);
  if (lock == nullptr && written_ > 0) {
    TENURE_SOMETIMES(consul_lock_key_missing);
    return {lock_key_};
  }
  std::vector<std::string> out;
  const bool is_news = !expected_.key.empty() && index >= expected_.index;
  if (is_news && find(expected_.key) == nullptr) out.push_back(expected_.key);
  // Who releases a semaphore takes itself out of it in the same step.
  const auto body = lock == nullptr ? std::nullopt : parse_semaphore(lock->value);
  for (const slot_holder& one : holders_) {
    if (!body || one.key == lock_key_ || find(one.key) != nullptr) continue;
    if (std::ranges::find(body->holders, one.session) != body->holders.end()) {
      out.push_back(one.key);
    }
  }
  return out;
}

void mirror::read_lock(const key_value& kv) {
  lock_index_ = kv.lock_index;
  created_ = kv.create_index;
  written_ = kv.modify_index;
  const auto is_foreign = [&](const std::string& what) {
    shape_ = lock_shape::foreign;
    trouble_ = "the key " + kv.key + " " + what +
               "; let that program end, then delete the key, or choose another name";
  };
  if (kv.flags == lock_flags) {
    shape_ = lock_shape::single;
    limit_ = 1;
    if (kv.session.empty()) {
      lock_text_ = kv.value;
    } else {
      holders_.push_back(holder_of(kv));
    }
    return;
  }
  // An operator who forces a release, as with `consul kv put -release`, leaves nothing else.
  if (kv.flags == 0 && kv.session.empty() && kv.value.empty()) return;
  auto body =
      kv.flags == 0 || kv.flags == semaphore_flags ? parse_semaphore(kv.value) : std::nullopt;
  if (!body && kv.flags == semaphore_flags) {
    return is_foreign("is not a semaphore, although its flags say so");
  }
  if (!body) {
    return is_foreign("is not a lock: its flags are " + std::to_string(kv.flags) +
                      ", so another program has written it");
  }
  shape_ = lock_shape::semaphore;
  flags_ = kv.flags;
  body_ = std::move(*body);
  limit_ = body_.limit;
}

/// A holder of a semaphore counts while its session is alive. As the official client does, we take
/// each session for alive that locks any key below the prefix, with any name and any flags: who
/// prunes one that others count lets more hold than may. We hold by our contender's key alone.
void mirror::read_contenders(std::span<const key_value> all) {
  std::map<std::string_view, const key_value*> alive;
  for (const key_value& kv : all) {
    if (!kv.key.starts_with(prefix_) || kv.session.empty()) continue;
    const bool is_contender = name_below(kv) == kv.session;
    if (!is_contender && self_->sessions.contains(kv.session)) continue;
    const key_value*& its = alive[kv.session];
    if (its == nullptr || is_contender) its = &kv;
  }
  const std::set<std::string_view> listed(body_.holders.begin(), body_.holders.end());
  for (const key_value& kv : all) {
    if (!kv.key.starts_with(prefix_) || kv.key == lock_key_) continue;
    const std::string_view name = name_below(kv);
    const bool is_own = self_->sessions.contains(name);
    if (kv.session.empty() && is_session_id(name) && !is_own && !alive.contains(name)) {
      // Nobody can know of anything else whether it is a contender's key.
      const bool is_contender = kv.flags == semaphore_flags || listed.contains(name);
      if (is_contender && dead_.size() < most_erased) {
        TENURE_SOMETIMES(consul_contender_of_an_ended_session);
        dead_.push_back({.key = kv.key, .index = kv.modify_index});
      }
    } else if (is_own && name == kv.session && !listed.contains(name)) {
      ousted_.push_back(kv.session);
    }
  }
  for (const std::string& session : body_.holders) {
    const auto found = alive.find(session);
    if (found == alive.end()) continue;
    const key_value& its = *found->second;
    holders_.push_back(name_below(its) == session ? holder_of(its) : stranger_by(its));
  }
}

/// What comes after the prefix.
std::string_view mirror::name_below(const key_value& kv) const {
  return std::string_view(kv.key).substr(prefix_.size());
}

void mirror::read_record(const key_value& kv) {
  if (kv.key == release_key(election_.name)) {
    auto note = parse_release_record(kv.value);
    released_ = note && note->clean ? note->said.version : core::no_version;
    if (note) last_release_ = std::move(note->said);
  } else if (kv.key == agreement_key(election_.name)) {
    accepted_ = parse_agreement(kv.value).value_or(core::agreement{});
    last_accepted_unix_ms_ = std::max(last_accepted_unix_ms_, accepted_.accepted_unix_ms);
    agreement_index_ = kv.modify_index;
  } else if (const std::string prefix = order_prefix(election_.name); kv.key.starts_with(prefix)) {
    if (auto order = parse_order(kv.key.substr(prefix.size()), kv.value)) {
      orders_.insert_or_assign(kv.key,
                               kept_order{.order = std::move(*order), .index = kv.modify_index});
    }
  } else if (kv.key.starts_with(member_prefix(election_.name)) && !kv.session.empty()) {
    signature by = parse_signature(kv.value);
    members_[kv.key] = {.identity = std::move(by.identity),
                        .session = kv.session,
                        .mark = by.mark,
                        .create_index = kv.create_index,
                        .ours = by.mark == self_->mark};
  } else if (kv.key.starts_with(ready_prefix(election_.name)) && !kv.session.empty()) {
    const auto says = parse_readiness(kv.value);
    if (!says) return;
    ready_.insert_or_assign(kv.session, *says);
    if (const auto answers = answers_in(kv.value)) answers_[kv.session] = *answers;
    std::string session = peer_in(kv.value);
    if (says->since_unix_ms == 0 || !is_session_id(session)) return;
    offers_[kv.session] = {.session = std::move(session), .index = kv.modify_index};
  }
}

slot_holder mirror::holder_of(const key_value& kv) const {
  signature by = parse_signature(kv.value);
  slot_holder out{.key = kv.key,
                  .session = kv.session,
                  .identity = std::move(by.identity),
                  .mark = by.mark,
                  .version = core::version{kv.modify_index},
                  .index = kv.modify_index,
                  .lock_index = kv.lock_index,
                  .ours = by.mark == self_->mark || self_->sessions.contains(kv.session),
                  .slot = by.slot};
  // Anything else is not a version of the past, and was not written by us.
  if (by.version != core::no_version && by.version < out.version) out.version = by.version;
  // `consul lock` writes no name.
  if (out.identity.empty()) out.identity = "session " + kv.session;
  return out;
}

/// A holder of whom another key shows that it is alive.
slot_holder mirror::stranger_by(const key_value& kv) {
  return {.key = kv.key,
          .session = kv.session,
          .identity = "session " + kv.session,
          .version = core::version{kv.modify_index},
          .index = kv.modify_index,
          .lock_index = kv.lock_index};
}

const slot_holder* mirror::find_own() const {
  const auto own = std::ranges::find(holders_, true, &slot_holder::ours);
  return own == holders_.end() ? nullptr : &*own;
}

const slot_holder* mirror::find_term(const core::holder& whose) const {
  const auto found = std::ranges::find_if(holders_, [&](const slot_holder& one) {
    return !one.ours && !one.mark.empty() && one.version == whose.version &&
           sequencer_of(one) == whose.sequencer;
  });
  return found == holders_.end() ? nullptr : &*found;
}

basis mirror::basis_now() const {
  return {.shape = shape_,
          .index = written_,
          .flags = flags_,
          .body = body_,
          .dead = dead_,
          .ousted = ousted_,
          .is_clean = vacancies_.doubtful() == 0,
          .slot = free_slot(holders_, &slot_holder::slot)};
}

std::optional<place_offer> mirror::offer_of(std::string_view heir) const {
  if (shape_ != lock_shape::single) return {};
  std::optional<place_offer> out;
  std::uint64_t first = UINT64_MAX;
  for (const auto& [key, one] : members_) {
    const auto its = offers_.find(one.session);
    const bool is_meant = heir.empty() || one.identity == heir;
    if (one.ours || !is_meant || its == offers_.end() || its->second.index >= first) continue;
    first = its->second.index;
    out = {.session = its->second.session, .identity = one.identity, .mark = one.mark};
  }
  return out;
}

bool mirror::lock_is_left_as(std::string_view text, std::uint64_t lock_index) const {
  return shape_ == lock_shape::single && holders_.empty() && lock_text_ == text &&
         lock_index_ == lock_index;
}

core::agreement mirror::agreed() const {
  core::agreement out = accepted_;
  out.slots = limit_;
  return out;
}

const kept_order* mirror::order(std::string_view key) const {
  const auto found = orders_.find(key);
  return found == orders_.end() ? nullptr : &found->second;
}

std::uint32_t mirror::free_slots() const {
  const auto taken = static_cast<std::uint32_t>(holders_.size());
  return taken < slots() ? slots() - taken : 0;
}

names_like_ours mirror::names() const {
  return find_names_like_ours(
      members_, self_->identity, &listed::create_index,
      [this](std::string_view /*key*/, const listed& one) -> std::optional<std::uint64_t> {
        const auto its = answers_.find(one.session);
        return its == answers_.end() ? std::nullopt : std::optional(its->second);
      });
}

bool mirror::identity_in_use() const {
  const auto is_namesake = [&](const auto& one) {
    return !one.ours && one.identity == self_->identity;
  };
  if (std::ranges::any_of(holders_, is_namesake)) return true;
  std::uint64_t first = UINT64_MAX;
  bool ours = false;
  for (const auto& [key, one] : members_) {
    if (one.identity != self_->identity || one.create_index >= first) continue;
    if (self_->namesakes != nullptr && self_->namesakes->is_over(key)) continue;
    first = one.create_index;
    ours = one.ours;
  }
  return first != UINT64_MAX && !ours;
}

core::observation mirror::observe() const {
  core::observation out;
  out.as_of = core::version{index_};
  for (const slot_holder& one : holders_) {
    out.holders.push_back({.identity = one.identity,
                           .version = one.version,
                           .ours = one.ours,
                           .slot = one.slot,
                           .sequencer = sequencer_of(one)});
  }
  if (holders_.empty()) out.retry_at = retry_at_;
  out.last_release = last_release_;
  out.agreed = agreed();
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
    all.push_back(member_with(one.identity, ready_, one.session));
  }
  return listed_members_.emplace(std::move(all));
}

}  // namespace tenure::stores::consul
