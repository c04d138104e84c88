// Whether a sanitizer watches this process.
#pragma once

namespace steertag {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define STEERTAG_SANITIZED true
#elif defined(__has_feature)
#define STEERTAG_SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define STEERTAG_SANITIZED false
#endif

/// Compiled with AddressSanitizer or ThreadSanitizer, by GCC or Clang.
#if STEERTAG_SANITIZED
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#undef STEERTAG_SANITIZED

}  // namespace steertag
