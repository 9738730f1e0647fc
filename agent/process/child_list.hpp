#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <optional>

#include "base/unique_fd.hpp"
#include "process/process_scan.hpp"

namespace tenure::process {

/// The direct children of one single-threaded process, read from /proc without allocating.
///
/// For the children of the calling process the list is exact: a child that has ended stays in it
/// until it is reaped, so none is missed and no id in it belongs to another process. Therefore a
/// subreaper whose list is empty knows that its whole tree is gone.
///
/// Reads /proc/PID/task/PID/children, or, on kernels without CONFIG_PROC_CHILDREN, the parent of
/// every process. The file stays open, so that reading it again needs no new descriptor.
class child_list {
 public:
  /// Which of the two ways to read; `best` uses the first if the kernel has it.
  enum class way { best, scan };

  /// False if /proc is not mounted, or belongs to another PID namespace.
  [[nodiscard]] bool open(pid_t parent, way how = way::best);

  /// Starts again from the first child.
  void rewind();

  /// The next child; nothing at the end.
  [[nodiscard]] std::optional<pid_t> next();

  /// True if the end was reached without an error.
  [[nodiscard]] bool complete() const { return file_ ? ended_ : scan_.complete(); }

 private:
  [[nodiscard]] bool fill();

  pid_t parent_ = 0;
  base::unique_fd file_;
  alignas(8) std::array<char, 4096> buffer_;
  std::size_t used_ = 0;
  std::size_t at_ = 0;
  bool ended_ = false;
  process_scan scan_;  ///< used if there is no file
};

}  // namespace tenure::process
