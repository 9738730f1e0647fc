#include "ambushes.hpp"

#include <utility>

#include "modelled_cluster.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

ambushes::ambushes(stage& s, std::uint64_t seed, bool is_swarm, std::size_t pods,
                   std::function<void(const std::string&)> say)
    : stage_(s),
      dice_(seed),
      dice_of_doubts_(~seed),
      pods_(pods),
      say_(std::move(say)),
      overtakes_(dice_.chance(150'000) && s.host == nullptr),
      doubts_(is_swarm && dice_of_doubts_.chance(150'000) && s.host == nullptr) {}

void ambushes::plan(world_time quiet) {
  for (auto times = overtakes_ ? dice_.between(std::int64_t{2}, 6) : 0; times > 0; --times) {
    stage_.in.after(dice_.between(core::duration{}, quiet - stage_.in.now),
                    [this] { is_overtaken_[dice_.below(pods_)] = true; });
  }
}

void ambushes::granted(std::size_t pod, const std::string& which) {
  if (std::exchange(is_overtaken_[pod], false)) overtake(pod, which);
}

/// The answer to the campaign is late, and an operator deletes the key before it comes: the watch
/// is faster.
void ambushes::overtake(std::size_t pod, const std::string& which) {
  const core::duration late = dice_.spread(10ms, stage_.when.try_timeout());
  say_("the answer to pod " + std::to_string(pod) + " is late, and an operator deletes a key of " +
       which);
  stage_.network.answer_late(pod, "txn", late);
  stage_.in.after(late, [this, pod] { stage_.network.answer_late(pod, "txn", {}); });
  stage_.in.after(dice_.spread(1ms, late), [this, which] { stage_.servers.delete_one(which); });
}

/// The member that is told answers in the store, and hears no more of that in the time that an
/// order has: its watch alone shows that its answer counts.
void ambushes::ordered() {
  if (!doubts_ || !dice_of_doubts_.chance(800'000)) return;
  say_("nobody hears whether an answer to it counts");
  answer_all_late(stage_.longest_order() + 1s);
  stage_.in.after(dice_of_doubts_.spread(5ms, 1s), [this] { answer_all_late({}); });
}

void ambushes::answer_all_late(core::duration by) {
  const char* const target = stage_.store == kept_in::kubernetes ? "/leases/" : "txn";
  for (std::size_t p = 0; p < pods_; ++p) stage_.network.answer_late(p, target, by);
}

void ambushes::mend() {
  is_overtaken_ = {};
  answer_all_late({});
}

}  // namespace tenure::shell
