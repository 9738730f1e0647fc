#pragma once

#include <cstdint>
#include <expected>
#include <functional>
#include <memory>
#include <string>

#include "base/unique_fd.hpp"
#include "stores/sqlite/lease_path.hpp"
#include "stores/sqlite/surroundings.hpp"

namespace tenure::stores::sqlite {

/// Reports that a commit of any program may have changed the lease file, or that its name leads to
/// another file. Event-driven: it wakes nobody while nothing happens.
///
/// It watches for changes of the file's times, with which each commit of ours ends, and for the
/// last close by a program that has written, as other programs do not change the times. It ignores
/// writes to the -wal file: they happen before the commit is visible.
///
/// Used on the loop's thread only. No handler is called after its destruction.
class file_watch {
 public:
  /// `changed`: look again. `broken`: no more changes will be reported, and why.
  file_watch(surroundings& in, const std::string& path, std::function<void()> changed,
             std::function<void(std::string)> broken);

  /// Starts the watch. The error names the limit to raise if the system has no more watches.
  std::expected<void, std::string> start();

 private:
  void drain();
  bool concerns_us(std::uint32_t mask, int watch, const char* name) const;
  std::expected<void, std::string> watch_file();

  surroundings& surroundings_;
  base::unique_fd events_;
  std::unique_ptr<readiness> readable_;
  std::string path_;
  split_path parts_;
  std::function<void()> changed_;
  std::function<void(std::string)> broken_;
  int directory_watch_ = -1;
  int file_watch_ = -1;
  int members_watch_ = -1;  ///< the watch of the directory beside the file; -1: none
};

}  // namespace tenure::stores::sqlite
