#include "search.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

namespace tenure::explore {
namespace {

/// The states that were gone on from, with what was left of the bounds then. A state that comes
/// back with more of either is gone on from once more.
class known_states {
 public:
  known_states() : shards_(shard_count) {
    for (shard& s : shards_) s.slots.resize(first_size);
  }

  enum class verdict : std::uint8_t { fresh, again, known };

  verdict visit(std::uint64_t digest, std::uint8_t ticks, std::uint8_t faults) {
    shard& s = shards_[digest % shard_count];
    const std::lock_guard lock(s.mutex);
    if (s.used * 4 > s.slots.size() * 3) grow(s);
    slot& at = find(s.slots, digest);
    if (at.digest == digest) {
      if (at.ticks >= ticks && at.faults >= faults) return verdict::known;
      // Neither covers the other: the one that is kept is the one with more ways to go wrong.
      if (faults > at.faults || (faults == at.faults && ticks > at.ticks)) {
        at.ticks = ticks;
        at.faults = faults;
      }
      return verdict::again;
    }
    at = {.digest = digest, .ticks = ticks, .faults = faults};
    ++s.used;
    return verdict::fresh;
  }

 private:
  static constexpr std::size_t shard_count = 256;
  static constexpr std::size_t first_size = 1U << 10U;

  struct slot {
    std::uint64_t digest = 0;  ///< 0: empty
    std::uint8_t ticks = 0;
    std::uint8_t faults = 0;
  };
  struct shard {
    std::mutex mutex;
    std::vector<slot> slots;
    std::size_t used = 0;
  };

  static slot& find(std::vector<slot>& in, std::uint64_t digest) {
    std::size_t i = (digest >> 8U) & (in.size() - 1);
    while (in[i].digest != 0 && in[i].digest != digest) i = (i + 1) & (in.size() - 1);
    return in[i];
  }

  static void grow(shard& s) {
    std::vector<slot> larger(s.slots.size() * 2);
    for (const slot& each : s.slots) {
      if (each.digest != 0) find(larger, each.digest) = each;
    }
    s.slots = std::move(larger);
  }

  std::vector<shard> shards_;
};

/// How a state was reached.
struct way {
  std::shared_ptr<const way> before;
  move last;
  std::uint32_t length = 0;
};

struct visit {
  world state;
  std::shared_ptr<const way> by;
};

/// Depth first, by several threads, of which each gives of its oldest work to one that has none.
class searcher {
 public:
  explicit searcher(const bounds& within) : within_(within) {
    shared_.push_back({.state = beginning(), .by = nullptr});
  }

  findings run() {
    const auto began = std::chrono::steady_clock::now();
    {
      std::vector<std::jthread> threads;
      for (unsigned i = 0; i < within_.jobs; ++i) threads.emplace_back([this] { work(); });
    }
    found_.complete = !stop_;
    found_.seconds =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    return std::move(found_);
  }

 private:
  [[nodiscard]] world beginning() const {
    world out;
    out.ticks_left = within_.ticks;
    out.faults_left = within_.faults;
    out.kinds = within_.kinds;
    return out;
  }

  void work() {
    std::vector<visit> stack;
    std::vector<move> moves;
    findings mine;
    while (take_work(stack)) {
      while (!stack.empty() && !stop_) {
        if (idle_ > 0 && stack.size() > 1) give_work(stack);
        visit one = std::move(stack.back());
        stack.pop_back();
        go_on_from(one, stack, moves, mine);
      }
      stack.clear();
    }
    const std::lock_guard lock(mutex_);
    found_.states += mine.states;
    found_.moves += mine.moves;
    found_.depth = std::max(found_.depth, mine.depth);
  }

  void go_on_from(const visit& one, std::vector<visit>& stack, std::vector<move>& moves,
                  findings& mine) {
    moves.clear();
    one.state.moves(moves);
    for (const move& m : moves) {
      visit next{.state = one.state, .by = nullptr};
      next.state.apply(m);
      ++mine.moves;
      const auto by = std::make_shared<const way>(
          way{.before = one.by, .last = m, .length = one.by ? one.by->length + 1 : 1});
      if (next.state.broken != rule::none) {
        broken(next.state.broken, by);
        return;
      }
      const auto seen =
          known_.visit(next.state.digest(), next.state.ticks_left, next.state.faults_left);
      if (seen == known_states::verdict::known) continue;
      if (seen == known_states::verdict::fresh) {
        ++mine.states;
        mine.depth = std::max(mine.depth, by->length);
        if (within_.states != 0 && ++states_ >= within_.states) stop_ = true;
      }
      next.by = by;
      stack.push_back(std::move(next));
    }
  }

  bool take_work(std::vector<visit>& stack) {
    std::unique_lock lock(mutex_);
    ++idle_;
    if (idle_ == within_.jobs && shared_.empty()) done_ = true;
    if (done_) more_.notify_all();
    more_.wait(lock, [&] { return done_ || stop_ || !shared_.empty(); });
    if (stop_ || shared_.empty()) {
      more_.notify_all();
      return false;
    }
    --idle_;
    stack.push_back(std::move(shared_.back()));
    shared_.pop_back();
    return true;
  }

  void give_work(std::vector<visit>& stack) {
    const std::lock_guard lock(mutex_);
    if (!shared_.empty()) return;
    shared_.push_back(std::move(stack.front()));
    stack.erase(stack.begin());
    more_.notify_one();
  }

  void broken(rule what, const std::shared_ptr<const way>& by) {
    const std::lock_guard lock(mutex_);
    stop_ = true;
    more_.notify_all();
    if (found_.broken != rule::none) return;
    found_.broken = what;
    std::vector<move> moves;
    for (const way* w = by.get(); w != nullptr; w = w->before.get()) moves.push_back(w->last);
    std::ranges::reverse(moves);
    world again = beginning();
    for (const move& m : moves) {
      found_.trace.push_back(again.text(m));
      again.apply(m);
    }
  }

  bounds within_;
  known_states known_;
  std::mutex mutex_;
  std::condition_variable more_;
  std::vector<visit> shared_;
  std::atomic<unsigned> idle_ = 0;
  std::atomic<std::uint64_t> states_ = 0;
  std::atomic<bool> stop_ = false;
  bool done_ = false;
  findings found_;
};

}  // namespace

findings search(const bounds& within) {
  return searcher(within).run();
}

}  // namespace tenure::explore
