#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <iterator>

namespace tenure::http {

/// The traffic of one listener so far. Counted on the serving thread, read by any; lock-free.
class traffic {
 public:
  /// Every status that the agent answers with; any other is counted as 0.
  static constexpr std::array<unsigned, 14> statuses{0,   200, 202, 204, 304, 400, 401,
                                                     403, 404, 405, 409, 413, 431, 503};

  void answered(unsigned status) {
    const auto found = std::ranges::find(statuses, status);
    const auto at = found == statuses.end() ? 0 : std::distance(statuses.begin(), found);
    add(answers_[static_cast<std::size_t>(at)]);
  }
  void opened() { add(opened_); }
  void closed() { add(closed_); }
  /// One connection too many, which got a 503.
  void refused() { add(refused_); }

  /// By the index of the status in `statuses`.
  [[nodiscard]] std::uint64_t answers(std::size_t place) const { return read(answers_[place]); }
  [[nodiscard]] std::uint64_t connections_opened() const { return read(opened_); }
  [[nodiscard]] std::uint64_t connections_refused() const { return read(refused_); }
  /// Open now. The two counts are not read at one instant, but the result never wraps.
  [[nodiscard]] std::uint64_t connections() const {
    const std::uint64_t closed = read(closed_);
    return std::max(read(opened_), closed) - closed;
  }

 private:
  using count = std::atomic<std::uint64_t>;
  static void add(count& to) { to.fetch_add(1, std::memory_order_relaxed); }
  static std::uint64_t read(const count& from) { return from.load(std::memory_order_relaxed); }

  std::array<count, statuses.size()> answers_{};
  count opened_{};
  count closed_{};
  count refused_{};
};

}  // namespace tenure::http
