#pragma once

#include <fcntl.h>
#include <sys/stat.h>

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "process/shared_memory.hpp"
#include "process/side_process.hpp"

/// Reading files that may make the reader wait for ever: a pid file on a mount that hangs, or the
/// command line of a process, which is memory of its own and locked while the process maps some.
namespace tenure::guard {

/// The longest path that can be read, and the most that is read of a file.
inline constexpr std::size_t most_read_bytes = 4096;

class file_reader {
 public:
  struct answer {
    int error = 0;            ///< an errno value; ETIMEDOUT: its reader still waits, or is dead
    struct stat about{};      ///< also if it was opened and cannot be read; zeros: not opened
    std::string_view text{};  ///< in `room`; the rest of a longer file is cut off
  };

  virtual ~file_reader() = default;

  /// Opens the file for reading, with `flags` of open(2) in addition, and reads it.
  [[nodiscard]] virtual answer read(const char* path, int flags, std::span<char> room) = 0;
};

/// Reads in this thread, and waits: for an agent and for commands. Thread-safe.
[[nodiscard]] file_reader& reader_that_waits();

/// Reads by other processes, so that the guard waits for a moment only. A process that hangs is
/// left alone until it comes back, and what it hangs at is not asked for again until then.
///
/// Not thread-safe. Only `open` allocates.
class side_reader final : public file_reader {
 public:
  /// What its processes call themselves.
  static constexpr const char* process_name = "tenure-look";
  /// The longest time that one `read` takes.
  static constexpr int most_waited_ms = 20;
  /// So many files can hang before all count as hanging. No process is started before it is needed,
  /// but for the first.
  static constexpr std::size_t most_processes = 4;

  ~side_reader() override;

  /// Returns 0 or an errno value. Precondition: all signals are blocked.
  [[nodiscard]] int open();

  [[nodiscard]] answer read(const char* path, int flags, std::span<char> room) override;

  /// One of its processes; `at` < `most_processes`.
  [[nodiscard]] process::side_process& process(std::size_t at) { return desks_[at].process; }

 private:
  /// What reader and guard share; the one writes while the other waits.
  struct order {
    std::array<char, most_read_bytes> path;
    int flags;
    int error;
    struct stat about;
    std::size_t size;
    std::array<char, most_read_bytes> text;
  };
  struct desk {
    process::side_process process;
    process::shared_memory memory;
    bool hangs = false;  ///< at the file whose path is in its order

    [[nodiscard]] order& present() { return *static_cast<order*>(memory.data()); }
    [[nodiscard]] bool has_answered(int within_ms);
  };

  static void serve(void* of, int socket);

  std::array<desk, most_processes> desks_;
};

}  // namespace tenure::guard
