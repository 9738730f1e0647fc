#pragma once

namespace tenure::tests {

/// True in a build of `./dev sanitize`.
inline constexpr bool sanitized =
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
    true;
#else
    false;
#endif

}  // namespace tenure::tests
