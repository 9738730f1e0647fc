#include "etcd/lease_table.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/sometimes.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// etcd looks for leases that have run out twice a second.
constexpr core::duration expiry_interval = 500ms;

}  // namespace

lease_table::lease_table(world& in, raft_cluster& members, key_space& keys)
    : world_(in), members_(members), keys_(keys) {
  world_.after(expiry_interval, [this] { expire(); });
}

void lease_table::grant(std::int64_t id, core::duration ttl) {
  leases_[id] = {.ttl = ttl, .expires = world_.now + ttl};
  // A restored cluster may not know of a lease of this id that was promised for longer.
  const world_time until = std::max(promised(id), world_.now + ttl);
  lives_[id] = {.ttl = ttl, .since = world_.now, .promised = until};
}

void lease_table::end(std::int64_t id, erased_by how) {
  if (leases_.erase(id) == 0) return;
  lives_[id].ended = world_.now;
  const std::vector<std::string> attached = keys_.keys_of(id);
  if (attached.empty()) return;
  keys_.begin();
  for (const std::string& key : attached) keys_.erase(key, how);
  keys_.end();
  members_.commit(keys_.revision());
}

/// The leader alone counts leases, and asks nobody. One that was cut off or stopped goes on to
/// answer until it notices.
void lease_table::keep_alive(std::size_t asked, std::int64_t id, answer done, world::task failed) {
  if (members_.believes_to_lead(asked)) {
    const auto known = lives_.find(id);
    const world_time alone = members_.alone_since(asked);
    const bool was_there =
        known != lives_.end() && known->second.since < alone && known->second.ended > alone;
    if (!was_there) return done(std::nullopt);
    if (!members_.leads(asked)) {
      TENURE_SOMETIMES(model_replaced_leader_renews_a_lease);
    }
    // Until there is another leader its promise counts: a later leader extends all leases.
    const auto here = leases_.find(id);
    if (members_.leads(asked) && here != leases_.end()) {
      here->second.expires = world_.now + here->second.ttl;
      known->second.promised = here->second.expires;
    }
    return done(known->second.ttl);
  }
  if (!members_.led() || !members_.well(asked)) return failed();
  world_.after(world_.dice.between(core::duration(20us), 1ms),
               [this, asked, id, to = std::move(done), failed = std::move(failed)]() mutable {
                 if (!members_.led() || !members_.well(asked)) return failed();
                 const auto found = leases_.find(id);
                 if (found == leases_.end() || found->second.expires <= world_.now) {
                   return to(std::nullopt);
                 }
                 found->second.expires = world_.now + found->second.ttl;
                 lives_[id].promised = found->second.expires;
                 to(found->second.ttl);
               });
}

void lease_table::extend_all() {
  for (auto& [id, one] : leases_) {
    one.expires = world_.now + one.ttl;
    lives_[id].promised = std::max(lives_[id].promised, one.expires);
  }
}

lease_table::backup lease_table::back_up() const {
  backup out;
  for (const auto& [id, one] : leases_) out[id] = one.ttl;
  return out;
}

void lease_table::restore(const backup& from) {
  for (const auto& [id, one] : leases_) {
    if (!from.contains(id)) lives_[id].ended = world_.now;
  }
  leases_.clear();
  for (const auto& [id, ttl] : from) {
    leases_[id] = {.ttl = ttl, .expires = world_.now + ttl};
    lives_[id].ended = sim::world_never;
  }
  extend_all();
}

void lease_table::expire() {
  if (members_.led()) {
    std::vector<std::int64_t> over;
    for (const auto& [id, one] : leases_) {
      if (one.expires <= world_.now) over.push_back(id);
    }
    for (const std::int64_t id : over) end(id, erased_by::expiry);
  }
  world_.after(expiry_interval, [this] { expire(); });
}

world_time lease_table::promised(std::int64_t id) const {
  const auto found = lives_.find(id);
  return found == lives_.end() ? world_time{} : found->second.promised;
}

}  // namespace tenure::shell
