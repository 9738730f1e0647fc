#include "consul/sessions.hpp"

#include <algorithm>
#include <vector>

#include "core/sometimes.hpp"

namespace tenure::shell {
namespace {

constexpr int lives_in_ttls = 2;
constexpr core::duration looks_again_after = std::chrono::milliseconds(100);

}  // namespace

void consul_sessions::kept(const std::string& id) {
  const auto* const one = state_.find_session(id);
  if (one == nullptr) return;
  if (!one->ttl) {
    promised_[one->number] = sim::world_never;
    return;
  }
  latest_[id] = world_.now + lives_in_ttls * *one->ttl;
  promise(one->number, world_.now + *one->ttl);
  end_at(id, world_.now + world_.dice.between(*one->ttl, lives_in_ttls * *one->ttl));
}

void consul_sessions::end_at(const std::string& id, world_time when) {
  ends_[id] = when;
  world_.at(when, [this, id] { check(id); });
}

void consul_sessions::kept_by_replaced(const std::string& id, std::uint64_t number) {
  if (!ends_.contains(id)) return;
  promise(number, latest_[id]);
  end_at(id, latest_[id]);
}

void consul_sessions::promise(std::uint64_t number, world_time until) {
  world_time& promised = promised_[number];
  promised = std::max(promised, until);
}

void consul_sessions::check(const std::string& id) {
  const auto found = ends_.find(id);
  if (found == ends_.end() || found->second > world_.now) return;
  if (!members_.led()) return world_.after(looks_again_after, [this, id] { check(id); });
  if (world_.now < latest_[id] && members_.has_replaced_leader()) return end_at(id, latest_[id]);
  ends_.erase(found);
  if (state_.find_session(id) != nullptr) on_.ended(id);
}

void consul_sessions::begin_all_anew() {
  ends_.clear();
  latest_.clear();
  for (const auto& [id, one] : state_.sessions()) kept(id);
}

void consul_sessions::delay_keys_of(const std::string& id) {
  const core::duration delay = state_.find_session(id)->lock_delay;
  if (delay == core::duration::zero()) return;
  for (const std::string& key : state_.keys_of(id)) {
    on_.delayed(key, world_.now + delay);
    for (std::size_t m = 0; m < raft_cluster::most_members; ++m) {
      if (members_.well(m)) delays_[m][key] = world_.now + delay;
    }
  }
}

bool consul_sessions::is_delayed(const std::string& key) const {
  if (members_.leader() < 0) return false;
  const auto& at_leader = delays_[static_cast<std::size_t>(members_.leader())];
  const auto found = at_leader.find(key);
  const bool is = found != at_leader.end() && found->second > world_.now;
  if (is) {
    TENURE_SOMETIMES(model_lock_delay_refuses);
  }
  return is;
}

world_time consul_sessions::promised(std::uint64_t number) const {
  const auto found = promised_.find(number);
  return found == promised_.end() ? world_time{} : found->second;
}

}  // namespace tenure::shell
