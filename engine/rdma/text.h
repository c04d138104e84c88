// Parts of sentences with values, for errors.
#pragma once

#include <string>

namespace steertag::rdma {

/// The same text as printf. The compiler checks the values against the format.
[[gnu::format(printf, 1, 2)]] std::string text(const char* format, ...);

}  // namespace steertag::rdma
