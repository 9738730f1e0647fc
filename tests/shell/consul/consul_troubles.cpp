#include "consul/consul_troubles.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "consul/foreign_locker.hpp"
#include "consul/foreign_semaphore.hpp"

namespace tenure::shell {
namespace {

using namespace std::chrono_literals;

/// No pod has such a number.
constexpr std::size_t first_client = 100;
constexpr std::size_t most_clients = 3;
constexpr std::uint32_t half = 500'000;
/// Nobody is active for so long, at most, because nobody looks.
constexpr core::duration longest_absence = 15s;
constexpr core::duration longest_lock_delay = 5s;

}  // namespace

consul_troubles::consul_troubles(stage& s, modelled_consul& of, std::uint64_t seed,
                                 std::function<void(const std::string&)> say)
    : store_troubles(s, seed, std::move(say)),
      consul_(of),
      restores_(dice_.chance(250'000)),
      has_clients_(dice_.chance(250'000)),
      has_nonsense_(dice_.chance(200'000)),
      forces_releases_(dice_.chance(300'000)),
      hides_releases_(dice_.chance(100'000)) {
  if (dice_.chance(300'000)) stage_.consul.lock_delay = dice_.between({}, longest_lock_delay);
  if (dice_.chance(250'000)) stage_.consul.behavior = settings::session_behavior::remove;
}

void consul_troubles::tell(std::vector<std::string>& traits) const {
  if (restores_) traits.emplace_back("restores");
  if (has_clients_) traits.emplace_back("clients");
  if (has_nonsense_) traits.emplace_back("nonsense");
  if (forces_releases_) traits.emplace_back("forced_releases");
  if (hides_releases_) traits.emplace_back("unseen_releases");
}

void consul_troubles::plan(world_time quiet) {
  if (restores_) {
    for (auto times = dice_.between(std::int64_t{1}, 2); times > 0; --times) plan_restore(quiet);
  }
  for (auto times = has_nonsense_ ? dice_.between(std::int64_t{1}, 8) : 0; times > 0; --times) {
    stage_.in.at(before(quiet), [this] { write_nonsense(); });
  }
  for (auto times = forces_releases_ ? dice_.between(std::int64_t{1}, 4) : 0; times > 0; --times) {
    stage_.in.at(before(quiet), [this] { force_release(); });
  }
  const std::size_t clients = has_clients_ ? 1 + dice_.below(most_clients) : 0;
  for (std::size_t i = 0; i < clients; ++i) {
    stage_.in.at(before(quiet),
                 [this, number = first_client + i, quiet] { add_client(number, quiet); });
  }
}

/// Some destroy the session as well, a moment later: that is too late for a lock-delay.
void consul_troubles::force_release() {
  const std::string& which = any_election();
  const auto session = consul_.release_one(which);
  if (!session) return;
  say_("an operator releases " + which + " by force");
  if (!dice_.chance(500'000)) return;
  stage_.in.after(dice_.spread(1ms, stage_.when.ttl), [this, id = *session] {
    if (consul_.destroy(id)) say_("an operator destroys the session " + id);
  });
}

void consul_troubles::granted(const std::string& which) {
  if (hides_releases_ && !is_well_ && dice_.chance(half)) release_unseen(which);
}

/// Soon after a grant, while watches are late.
void consul_troubles::release_unseen(const std::string& which) {
  const core::duration longest = stage_.when.ttl;
  say_("watches are late, and an operator is going to release " + which + " by force");
  for (std::size_t p = 0; p < most_pods; ++p) {
    stage_.network.answer_late(p, "/v1/kv", dice_.between(longest / 4, longest));
  }
  stage_.in.after(longest, [this] {
    for (std::size_t p = 0; p < most_pods; ++p) stage_.network.answer_late(p, "/v1/kv", {});
  });
  stage_.in.after(dice_.spread(1ms, longest / 3), [this, which, longest] {
    const auto session = consul_.release_one(which);
    if (!session || dice_.chance(300'000)) return;
    stage_.in.after(dice_.spread(1ms, longest / 3), [this, id = *session] { consul_.destroy(id); });
  });
}

/// `consul lock` for one slot, `consul lock -n` for several.
void consul_troubles::add_client(std::size_t number, world_time quiet) {
  // They wait for another kind of key than the next member makes (docs/consul.md).
  if (stage_.in.now >= quiet || !stage_.agrees) return;
  say_("another client contends");
  const std::string& which = any_election();
  const std::uint64_t seed = dice_.bits();
  if (stage_.slots == 1) {
    clients_.push_back(std::make_unique<foreign_locker>(stage_, number, which, seed));
  } else {
    clients_.push_back(std::make_unique<foreign_semaphore>(stage_, number, which, seed));
  }
  clients_.back()->contend();
}

void consul_troubles::plan_restore(world_time quiet) {
  const world_time when = before(quiet);
  const core::duration ago = dice_.spread(1ms, std::max(core::duration(2ms), when - stage_.in.now));
  stage_.in.at(when - ago, [this] {
    snapshot_ = consul_.state();
    say_("a snapshot is taken at index " + std::to_string(snapshot_.index()));
  });
  stage_.in.at(when, [this] {
    say_("the snapshot is restored at index " + std::to_string(consul_.revision()));
    consul_.restore(snapshot_);
    restored();
    stage_.in.after(dice_.between(core::duration(1s), longest_absence),
                    [this] { operator_comes(); });
  });
}

void consul_troubles::write_nonsense() {
  const std::string which = any_election();
  const std::string ours = which + "/.tenure/";
  const std::array values{std::string(),
                          std::string("\xff\xfe\0", 3),
                          std::string(R"({"Limit":-1,"Holders":[]})"),
                          std::string(R"({"Limit":2,"Holders":{"x":1}})"),
                          std::string("pod-0 tenure-0 0"),
                          std::string("pod-0 tenure-0 18446744073709551615"),
                          std::string("term=99999999 clean")};
  const std::array keys{which + "/",       which + "/nonsense",  which + "/.lock",
                        ours + "release",  ours + "agreement",   ours + "members/nonsense",
                        ours + "orders/x", ours + "orders/x/yz", which + "/.lock/x"};
  const std::string& key = keys[dice_.below(keys.size())];
  say_("an operator writes nonsense to " + key);
  consul_.write(key, values[dice_.below(values.size())], dice_.chance(500'000) ? 0 : 7);
}

void consul_troubles::mend() {
  is_well_ = true;
  for (const auto& one : clients_) one->retire();
  if (!has_nonsense_) return;
  // There may be no leader yet.
  stage_.in.after(5s, [this] {
    for (const std::string& which : stage_.elections) {
      const auto* const lock = consul_.state().find(which + "/.lock");
      const bool is_nonsense = lock != nullptr && (lock->flags == 0 || lock->flags == 7);
      if (is_nonsense) consul_.erase(which + "/.lock");
      for (const char* part : {"/nonsense", "/.tenure/members/", "/.tenure/orders/"}) {
        consul_.clean(which + part);
      }
    }
  });
}

}  // namespace tenure::shell
