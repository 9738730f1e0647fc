#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "process/exec_child.hpp"

namespace tenure::process {

/// Starts a program, again and again, each time in a new child.
///
/// Until it executes the program, the child uses our memory instead of a copy of it, on a stack of
/// its own: a start takes half as long as with `fork`. Unlike with `vfork` we go on meanwhile, so a
/// slow disk from which the program is read delays nobody but the program.
///
/// Not thread-safe; in a process of one thread. Move it only before the first start.
class program_starter {
 public:
  /// `program` is looked up as execvp does: in the present PATH if it has no slash. `arguments`:
  /// how many `argv` will have, its null not counted.
  void prepare(const std::string& program, std::size_t arguments);

  /// As `fork_and_exec`; `program` and `search_path` of the request are not used. Preconditions:
  /// prepared, all signals are blocked, and the child before this one has executed its program or
  /// is dead. What the request points to must stay as it is until the same is true of this child.
  /// Allocates nothing.
  [[nodiscard]] pid_t start(const exec_request& what);

 private:
  static int run(void* of);
  [[nodiscard]] int become();
  [[nodiscard]] long execute();
  [[nodiscard]] long execute_by_shell(const std::string& script);

  std::vector<std::string> paths_;     ///< where the program may be, the best first
  std::vector<const char*> of_shell_;  ///< for what is a script without a first line that says so
  std::unique_ptr<std::byte[]> stack_;
  exec_request what_;
  std::optional<rlimit> file_limit_;
  pid_t parent_ = 0;
};

}  // namespace tenure::process
