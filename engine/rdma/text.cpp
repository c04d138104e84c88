// Formats text for errors.
#include "rdma/text.h"

#include <cstdarg>
#include <cstdio>

namespace steertag::rdma {

std::string text(const char* format, ...) {
  std::va_list values;
  va_start(values, format);
  std::va_list again;
  va_copy(again, values);
  const int length = std::vsnprintf(nullptr, 0, format, values);
  va_end(values);
  std::string result(length > 0 ? static_cast<std::size_t>(length) : 0, '\0');
  // The string has room for the terminating zero too.
  std::vsnprintf(result.data(), result.size() + 1, format, again);
  va_end(again);
  return result;
}

}  // namespace steertag::rdma
