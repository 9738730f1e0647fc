#pragma once

#include <sched.h>

#include <type_traits>

namespace tenure::process {

/// The flag of clone(2) for a child that uses our memory and makes bare calls only.
/// Sanitizers keep notes of a thread in its memory, and the child's would be among them.
#if __has_feature(thread_sanitizer) || __has_feature(address_sanitizer)
inline constexpr int shares_memory = 0;
#else
inline constexpr int shares_memory = CLONE_VM;
#endif

namespace detail {

inline long bare_call(long number, long a, long b, long c, long d, long e) {
#if defined(__x86_64__)
  long out = number;
  register long fourth asm("r10") = d;
  register long fifth asm("r8") = e;
  asm volatile("syscall"
               : "+a"(out)
               : "D"(a), "S"(b), "d"(c), "r"(fourth), "r"(fifth)
               : "rcx", "r11", "memory");
  return out;
#elif defined(__aarch64__)
  register long which asm("x8") = number;
  register long out asm("x0") = a;
  register long second asm("x1") = b;
  register long third asm("x2") = c;
  register long fourth asm("x3") = d;
  register long fifth asm("x4") = e;
  asm volatile("svc 0"
               : "+r"(out)
               : "r"(which), "r"(second), "r"(third), "r"(fourth), "r"(fifth)
               : "memory");
  return out;
#else
#error "say here how a system call is made on this architecture"
#endif
}

template <class Value>
long as_argument(Value value) {
  if constexpr (std::is_null_pointer_v<Value>) {
    return 0;
  } else if constexpr (std::is_pointer_v<Value>) {
    return reinterpret_cast<long>(value);
  } else {
    return static_cast<long>(value);
  }
}

}  // namespace detail

/// A system call with up to five arguments, numbers or pointers. Returns what the kernel does:
/// a result, or the negative of an errno. Unlike the functions of the C library it does not touch
/// `errno`, so it may be used where that is another process's (see program_starter).
template <class... Arguments>
  requires(sizeof...(Arguments) <= 5)
long bare_call(long number, Arguments... arguments) {
  const long all[] = {detail::as_argument(arguments)..., 0, 0, 0, 0, 0};
  return detail::bare_call(number, all[0], all[1], all[2], all[3], all[4]);
}

}  // namespace tenure::process
