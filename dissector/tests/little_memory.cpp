// A preloaded library that lets allocations of STEERTAG_MOST_BYTES or more fail.
#include <dlfcn.h>

#include <cstdlib>
#include <new>

void* operator new(std::size_t size) {
  using New = void* (*)(std::size_t);
  static const auto next = reinterpret_cast<New>(dlsym(RTLD_NEXT, "_Znwm"));
  static const char* most = std::getenv("STEERTAG_MOST_BYTES");
  if (most != nullptr && size >= std::strtoul(most, nullptr, 10)) throw std::bad_alloc();
  return next(size);
}
