#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "virtual_time.hpp"

namespace tenure::sim {

/// What is going to happen.
enum class happening : std::uint8_t {
  agent_wakes,     ///< the timer of an agent
  agent_receives,  ///< message `arg` reaches an agent
  agent_hears,     ///< its guard tells an agent `detail` about term `value`
  agent_starts,    ///< a container (re)starts its agent
  watch_opens,     ///< an agent opens the watch of `election`
  stream_breaks,   ///< an agent notices that stream `arg` is dead
  stream_checked,  ///< a heartbeat of stream `arg` is due
  guard_told,      ///< an agent tells its guard `detail`, `value` being an instant
  guard_timer,
  workload_dies,
  workload_writes,
  store_receives,  ///< message `arg` reaches the store
  store_expires,   ///< a lease may have run out
  fault_begins,    ///< fault `arg` of the plan
  fault_ends,
  quiet_begins,  ///< from here on nothing goes wrong
  run_ends,
};

/// One entry of the agenda. Plain data: the simulator handles some ten million a second.
struct entry {
  world_time at{};
  std::uint32_t order = 0;  ///< entries of one instant happen in the order of their making
  happening what{};
  std::uint8_t pod = 0;
  std::uint8_t election = 0;
  std::uint8_t detail = 0;
  std::uint32_t stamp = 0;  ///< of the process that it is meant for; others ignore it
  std::uint32_t arg = 0;
  std::int64_t value = 0;
};

/// What is going to happen, soonest first: a heap with four children a node, which touches
/// fewer cache lines than two.
class agenda {
 public:
  agenda() { heap_.reserve(1024); }

  void add(entry e) {
    e.order = next_order_++;
    std::size_t hole = heap_.size();
    heap_.push_back(e);
    while (hole > 0) {
      const std::size_t parent = (hole - 1) / 4;
      if (!before(e, heap_[parent])) break;
      heap_[hole] = heap_[parent];
      hole = parent;
    }
    heap_[hole] = e;
  }

  /// Precondition: not empty.
  entry take() {
    const entry first = heap_.front();
    const entry last = heap_.back();
    heap_.pop_back();
    if (!heap_.empty()) sink(last);
    return first;
  }

  [[nodiscard]] bool empty() const { return heap_.empty(); }

 private:
  static bool before(const entry& a, const entry& b) {
    return a.at != b.at ? a.at < b.at : a.order < b.order;
  }

  void sink(const entry& e) {
    const std::size_t size = heap_.size();
    std::size_t hole = 0;
    while (true) {
      const std::size_t first = hole * 4 + 1;
      if (first >= size) break;
      std::size_t least = first;
      const std::size_t end = first + 4 < size ? first + 4 : size;
      for (std::size_t child = first + 1; child < end; ++child) {
        if (before(heap_[child], heap_[least])) least = child;
      }
      if (!before(heap_[least], e)) break;
      heap_[hole] = heap_[least];
      hole = least;
    }
    heap_[hole] = e;
  }

  std::vector<entry> heap_;
  std::uint32_t next_order_ = 0;
};

}  // namespace tenure::sim
