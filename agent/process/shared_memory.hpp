#pragma once

#include <cstddef>

#include "base/unique_fd.hpp"

namespace tenure::process {

/// Memory that processes share by passing on its descriptor. Stays mapped while the object lives.
class shared_memory {
 public:
  shared_memory() = default;
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  /// Creates the memory, all zero, with its size sealed. `name` shows in /proc. False if the kernel
  /// refuses.
  [[nodiscard]] bool make(const char* name, std::size_t bytes);

  /// Maps `fd`. False unless it is a memfd that can be mapped for writing, with a sealed size of at
  /// least `bytes` and at most a page of memory.
  [[nodiscard]] bool map(base::unique_fd fd, std::size_t bytes);

  /// A read-only descriptor of the memory. Empty if the kernel refuses.
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
