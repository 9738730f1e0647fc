#include "malloc_trap.hpp"

#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string_view>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define TENURE_TEST_SANITIZED 1
#endif
#endif

namespace tenure::tests {
namespace {

bool allocation_allowed = true;

}  // namespace

void allow_no_allocation() {
  allocation_allowed = false;
}

#ifdef TENURE_TEST_SANITIZED

bool can_trap_allocations() {
  return false;
}

}  // namespace tenure::tests

#else

bool can_trap_allocations() {
  return true;
}

namespace {

void check_allocation() {
  if (allocation_allowed) return;
  constexpr std::string_view text = "malloc trap: the guard has allocated after start-up\n";
  [[maybe_unused]] const ssize_t sent = ::write(STDERR_FILENO, text.data(), text.size());
  std::abort();
}

}  // namespace
}  // namespace tenure::tests

// This program's allocator functions; they replace glibc's.
extern "C" {

void* __libc_malloc(std::size_t);
void* __libc_calloc(std::size_t, std::size_t);
void* __libc_realloc(void*, std::size_t);

void* malloc(std::size_t size) {
  tenure::tests::check_allocation();
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  tenure::tests::check_allocation();
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  tenure::tests::check_allocation();
  return __libc_realloc(old, size);
}
}

#endif
