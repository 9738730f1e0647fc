#include "base/memory.hpp"

#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>

namespace tenure::base {
namespace {

/// The first object is the program itself. Its code is never written to, so nothing is lost.
int forget(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  const auto page_bytes = static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
  for (std::size_t i = 0; i < object->dlpi_phnum; ++i) {
    const auto& segment = object->dlpi_phdr[i];
    if (segment.p_type != PT_LOAD || (segment.p_flags & PF_W) != 0) continue;
    if ((segment.p_flags & PF_X) == 0) continue;
    const std::uintptr_t begin = (object->dlpi_addr + segment.p_vaddr) & ~(page_bytes - 1);
    const std::uintptr_t end = object->dlpi_addr + segment.p_vaddr + segment.p_memsz;
    ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_DONTNEED);
  }
  return 1;
}

/// Larger than frequent allocations, much smaller than an answer about ten thousand elections.
constexpr int large_block_bytes = 256 * 1024;

}  // namespace

void forget_code_pages() {
  ::dl_iterate_phdr(forget, nullptr);
}

void keep_memory_private() {
  ::prctl(PR_SET_DUMPABLE, 0);
}

void give_back_large_blocks() {
  ::mallopt(M_MMAP_THRESHOLD, large_block_bytes);
}

}  // namespace tenure::base
