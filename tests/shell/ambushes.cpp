#include "ambushes.hpp"

#include <utility>

#include "modelled_cluster.hpp"

namespace tenure::shell {

using namespace std::chrono_literals;

ambushes::ambushes(stage& s, std::uint64_t seed, std::size_t pods,
                   std::function<void(const std::string&)> say)
    : stage_(s),
      dice_(seed),
      pods_(pods),
      say_(std::move(say)),
      overtakes_(dice_.chance(150'000) && s.host == nullptr) {}

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

void ambushes::mend() {
  is_overtaken_ = {};
  for (std::size_t p = 0; p < pods_; ++p) stage_.network.answer_late(p, "txn", {});
}

}  // namespace tenure::shell
