#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>
#include <vector>

#include "base/unique_fd.hpp"

namespace tenure::tests {

/// A program on a terminal, by default of ten rows and sixty columns. Ended when it goes out of
/// scope.
class terminal_of {
 public:
  explicit terminal_of(const std::vector<std::string>& words, unsigned short columns = 60);
  ~terminal_of();
  terminal_of(const terminal_of&) = delete;
  terminal_of& operator=(const terminal_of&) = delete;

  /// Everything it has written so far.
  const std::string& shown();
  void type(std::string_view keys) const;
  /// True while the program reads single keys, as a shell does at its prompt: a Tab that is typed
  /// earlier does not complete.
  [[nodiscard]] bool takes_keys() const;
  /// The signal that ended it; 0 if it ended otherwise or still runs.
  int ended_by();

 private:
  pid_t pid_ = -1;
  base::unique_fd master_;
  std::string shown_;
};

}  // namespace tenure::tests
