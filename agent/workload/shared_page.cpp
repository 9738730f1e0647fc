#include "workload/shared_page.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <new>
#include <utility>

namespace tenure::workload {

shared_page::~shared_page() {
  if (page_ != nullptr) ::munmap(page_, sizeof(guard_page));
}

void* shared_page::map_memory() const {
  void* memory =
      ::mmap(nullptr, sizeof(guard_page), PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

bool shared_page::make() {
  fd_.reset(::memfd_create("tenure-guard", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd_ || ::ftruncate(fd_.get(), sizeof(guard_page)) != 0) return false;
  // Sealed: memory that another process could cut off would end us with SIGBUS.
  ::fcntl(fd_.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
  void* memory = map_memory();
  if (memory == nullptr) return false;
  page_ = new (memory) guard_page;
  return true;
}

bool shared_page::map(os::unique_fd fd) {
  fd_ = std::move(fd);
  struct stat file{};
  if (::fstat(fd_.get(), &file) != 0 || file.st_size < static_cast<off_t>(sizeof(guard_page))) {
    return false;
  }
  page_ = static_cast<guard_page*>(map_memory());
  return page_ != nullptr && page_->magic == guard_page_magic && page_->layout == guard_page_layout;
}

}  // namespace tenure::workload
