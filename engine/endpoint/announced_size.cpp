// Sizes of private data.
#include "endpoint/announced_size.h"

#include "wire/private_data.h"

namespace steertag::peer {

Expected<void, std::string> check_announced_size(std::string_view what, std::uint32_t bytes) {
  if (bytes < wire::kDefaultInlineBytes || bytes > wire::kLargestInlineBytes ||
      bytes % wire::kDefaultInlineBytes != 0)
    return Unexpected<std::string>(
        "an announced " + std::string(what) + " size of " + std::to_string(bytes) +
        " octets: private data can only say multiples of 1024 from 1024 to 262144 (RFC 8797 4.2)");
  return {};
}

}  // namespace steertag::peer
