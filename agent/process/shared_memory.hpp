#pragma once

#include <cstddef>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// A mapping of memory that processes share by handing its descriptor on. Stays mapped while the
/// object lives.
class shared_memory {
 public:
  shared_memory() = default;
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  /// Makes it, all zero, sealed against changes of its size. `name` shows in /proc. False if the
  /// kernel refuses.
  [[nodiscard]] bool make(const char* name, std::size_t bytes);

  /// Maps what is behind `fd`. False unless that is a memfd whose size is sealed, no smaller, and
  /// no larger than a page of memory, which can be mapped for writing.
  [[nodiscard]] bool map(base::unique_fd fd, std::size_t bytes);

  /// Another descriptor of it, through which nobody can write. Nothing if the kernel refuses.
  [[nodiscard]] base::unique_fd open_read_only() const;

  [[nodiscard]] const base::unique_fd& fd() const { return fd_; }
  /// Null before `make` or `map`.
  [[nodiscard]] void* data() const { return data_; }

 private:
  [[nodiscard]] bool map_writable();

  base::unique_fd fd_;
  std::size_t bytes_ = 0;
  void* data_ = nullptr;
};

}  // namespace tenure::process
