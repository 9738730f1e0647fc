#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

namespace tenure::log {

/// Writes lines to a descriptor on a thread of its own, so that nobody waits for a reader that is
/// slow, stands still or is gone.
///
/// Lines that cannot be written are lost, and so is the oldest that waits when more than
/// `most_waiting` do. As soon as lines can be written again, one of them says how many were lost,
/// where they are missing. A line that was cut off never runs into the next one.
///
/// Thread-safe.
class line_writer {
 public:
  static constexpr std::size_t most_waiting = 256;
  /// How long the end waits for a reader.
  static constexpr std::chrono::milliseconds patience{500};

  /// Makes the line that says how many were lost, without its end. `error` is why the last of them
  /// was: an errno value, or 0 if too many waited. The thread of the writer calls it.
  using notice = std::function<std::string(std::uint64_t lost, int error)>;

  /// The descriptor stays open as long as the process: a write to it may never end.
  line_writer(int fd, notice of_lost);
  /// Waits until all lines are written, but not longer than `patience`. A thread that hangs in a
  /// write is left behind, and ends with the process.
  ~line_writer();
  line_writer(const line_writer&) = delete;
  line_writer& operator=(const line_writer&) = delete;

  /// Queues a line, given without its end. Never waits for the descriptor.
  void write(std::string line);

  /// How many lines were lost so far.
  [[nodiscard]] std::uint64_t lost() const;

 private:
  struct state;
  std::shared_ptr<state> state_;  ///< also of the thread, which may outlive us
};

}  // namespace tenure::log
