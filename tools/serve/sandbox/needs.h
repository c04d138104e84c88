// What the server still needs once it listens.
#pragma once

#include <optional>
#include <string>

namespace steertag::serve {

struct SandboxNeeds {
  std::optional<std::string> export_directory;  // none: memory
  bool read_only = false;
  std::string recovery_file;  // empty: there is none
  bool has_devices = false;   // it listens at a verbs:// URL
};

/// Compiled with a sanitizer, whose report at the end traces the process and reads its binary.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif
#else
inline constexpr bool kSanitized = false;
#endif

}  // namespace steertag::serve
