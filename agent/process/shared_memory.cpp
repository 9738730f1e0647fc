#include "process/shared_memory.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

namespace tenure::process {
namespace {

constexpr int size_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

}  // namespace

shared_memory::~shared_memory() {
  if (data_ != nullptr) ::munmap(data_, bytes_);
}

bool shared_memory::make(const char* name, std::size_t bytes) {
  bytes_ = bytes;
  fd_.reset(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd_ || ::ftruncate(fd_.get(), static_cast<off_t>(bytes)) != 0) return false;
  // Sealed, because a process that shrinks the memory would end us with SIGBUS.
  ::fcntl(fd_.get(), F_ADD_SEALS, size_seals);
  return map_writable();
}

bool shared_memory::map(base::unique_fd fd, std::size_t bytes) {
  bytes_ = bytes;
  fd_ = std::move(fd);
  // Without the seals, its creator could shrink it while we use it.
  const int seals = ::fcntl(fd_.get(), F_GET_SEALS);
  if (seals < 0 || (seals & size_seals) != size_seals) return false;
  struct stat file{};
  if (::fstat(fd_.get(), &file) != 0) return false;
  // A later release may have a larger page than this one.
  if (file.st_size < static_cast<off_t>(bytes) || file.st_size > ::sysconf(_SC_PAGESIZE)) {
    return false;
  }
  return map_writable();
}

bool shared_memory::map_writable() {
  void* memory = ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (memory == MAP_FAILED) return false;
  data_ = memory;
  return true;
}

base::unique_fd shared_memory::open_read_only() const {
  // Opening it again through /proc must not give more rights.
  if (::fchmod(fd_.get(), S_IRUSR | S_IRGRP | S_IROTH) != 0) return {};
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", fd_.get());
  return base::unique_fd(::open(path, O_RDONLY | O_CLOEXEC));
}

}  // namespace tenure::process
