#pragma once

#include <array>

#include "guard/guard_log.hpp"
#include "process/side_process.hpp"

namespace tenure::guard {

/// Writes the guard's lines to stderr, by a process that waits there in the guard's place.
///
/// Stderr is shared with the workload and with our parent, so its flags are not ours to
/// change, and a write to it waits for as long as it is a pipe that nobody empties, a terminal that
/// was stopped, or a file on a mount that hangs. The guard only sends a line over a socket, which
/// takes it or refuses it at once.
///
/// The process keeps a line that cannot be written (no reader, a full disk) and tries again every
/// second. So what is lost is lost at the socket, where `guard_log` counts it.
///
/// Not thread-safe. Only `open` allocates.
class log_writer final : public line_sink {
 public:
  /// What its process calls itself.
  static constexpr const char* process_name = "tenure-log";
  /// How long `close` waits for lines that are not written yet.
  static constexpr int most_waited_ms = 500;

  /// Starts the process. Returns 0 or an errno value. Precondition: all signals are blocked.
  [[nodiscard]] int open();

  /// If somebody has killed the process, starts another one first.
  [[nodiscard]] bool write(std::string_view line) override;
  [[nodiscard]] std::int64_t unix_ms() const override;

  /// The last call: gives the process a moment for what it still has, and ends it.
  void close();

  [[nodiscard]] process::side_process& process() { return process_; }

 private:
  static void carry_lines(void* of, int socket);
  void carry(std::size_t size, int socket) const;

  process::side_process process_;
  bool used_ = false;
  std::array<char, most_line_bytes> line_{};  ///< used by the process alone
};

}  // namespace tenure::guard
