// Checks what the owner asks for.
#include "fabric/provider/connection_options.h"

namespace steertag::fabric {

Expected<void, Error> check_options(const ConnectionOptions& options, std::size_t most,
                                    std::string_view why) {
  if (options.raw_startup || !options.crc || options.mpa_revision != 2 ||
      !options.local_host.empty()) {
    return tl::unexpected(Error{Errc::unsupported, std::string(why)});
  }
  if (options.private_data.size() > most) {
    return tl::unexpected(Error{Errc::too_large, std::to_string(options.private_data.size()) +
                                                     " octets of private data, " +
                                                     std::to_string(most) + " at most"});
  }
  return {};
}

}  // namespace steertag::fabric
