#include "base/memory.hpp"

#include <fcntl.h>
#include <link.h>
#include <malloc.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "base/unique_fd.hpp"

namespace tenure::base {
namespace {

std::uintptr_t bytes_of_a_page() {
  return static_cast<std::uintptr_t>(::sysconf(_SC_PAGESIZE));
}

/// The first object is the program itself. Its code is never written to, so nothing is lost.
int forget(dl_phdr_info* object, std::size_t /*size*/, void* /*unused*/) {
  const std::uintptr_t page_bytes = bytes_of_a_page();
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

/// Locks those pages from `begin` to `end` that are in memory now.
void lock_present(int pagemap, std::uintptr_t begin, std::uintptr_t end) {
  constexpr std::size_t most_entries = 512;
  constexpr std::uint64_t is_present = std::uint64_t{1} << 63;
  const std::uintptr_t page_bytes = bytes_of_a_page();
  std::uint64_t entries[most_entries];
  std::uintptr_t run = begin;  // of pages that are present, up to the one looked at
  const auto lock_run = [&](std::uintptr_t to) {
    if (run != to) ::mlock(reinterpret_cast<const void*>(run), to - run);
  };
  for (std::uintptr_t at = begin; at < end;) {
    const std::size_t wanted = std::min<std::size_t>((end - at) / page_bytes, most_entries);
    const auto from = static_cast<off_t>(at / page_bytes * sizeof entries[0]);
    const ssize_t got = ::pread(pagemap, entries, wanted * sizeof entries[0], from);
    if (got <= 0) return;
    for (std::size_t i = 0; i < static_cast<std::size_t>(got) / sizeof entries[0]; ++i) {
      if ((entries[i] & is_present) == 0) {
        lock_run(at);
        run = at + page_bytes;
      }
      at += page_bytes;
    }
  }
  lock_run(end);
}

/// Larger than frequent allocations, much smaller than an answer about ten thousand elections.
constexpr int large_block_bytes = 256 * 1024;

}  // namespace

void forget_code_pages() {
  ::dl_iterate_phdr(forget, nullptr);
}

void lock_memory() {
  if (::mlockall(MCL_CURRENT | MCL_ONFAULT) == 0) return;
  const unique_fd pagemap(::open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC));
  const unique_fd maps(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC));
  // A small program has a few dozen mappings; locking splits them, so they are read before.
  char text[16384];
  std::size_t size = 0;
  for (ssize_t got = 0; pagemap && size < sizeof text - 1; size += static_cast<std::size_t>(got)) {
    got = ::read(maps.get(), text + size, sizeof text - 1 - size);
    if (got <= 0) break;
  }
  text[size] = '\0';
  for (const char* line = text; *line != '\0';) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    char rights[5] = "";
    const bool read = std::sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s", &begin, &end, rights) == 3;
    const char* const line_end = std::strchr(line, '\n');
    if (read && rights[0] == 'r' && line_end != nullptr) {
      // The kernel's own pages, "[vvar]" and the like, are never taken away.
      const bool of_the_kernel = std::string_view(line, line_end).contains(" [v");
      if (!of_the_kernel) lock_present(pagemap.get(), begin, end);
    }
    line = line_end == nullptr ? "" : line_end + 1;
  }
}

void keep_memory_private() {
  ::prctl(PR_SET_DUMPABLE, 0);
}

void give_back_large_blocks() {
  ::mallopt(M_MMAP_THRESHOLD, large_block_bytes);
}

}  // namespace tenure::base
