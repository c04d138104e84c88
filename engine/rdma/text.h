// Sentence parts with values in them, for errors.
#pragma once

#include <string>

namespace steertag::rdma {

/// What printf would print; the compiler checks the values against the format.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

}  // namespace steertag::rdma
