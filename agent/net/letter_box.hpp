#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "os/unique_fd.hpp"

namespace tenure::net {

/// Where other threads leave word for the thread of a server. Outlives it for those that come too
/// late.
class letter_box {
 public:
  letter_box();

  /// There may be news. Thread-safe, and cheap: what was said once is not said again until it was
  /// heard.
  void news();
  /// An answer has come for the connection of this number. Thread-safe.
  void answered(std::uint64_t connection);
  /// The server is to end. Thread-safe.
  void end();

  struct letters {
    bool news = false;
    bool end = false;
    std::vector<std::uint64_t> answered;
  };
  /// What was left since the last time.
  letters take();

  /// Readable while there is something to take.
  [[nodiscard]] int fd() const { return event_.get(); }

 private:
  void ring() const;

  os::unique_fd event_;
  std::atomic<bool> news_{false};
  std::mutex mutex_;  ///< for all below
  bool end_ = false;
  std::vector<std::uint64_t> answered_;
};

}  // namespace tenure::net
