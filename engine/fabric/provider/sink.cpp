// Checks the bounds of a sink.
#include "fabric/provider/sink.h"

#include <string>

namespace steertag::fabric {

Expected<void, Error> check_sink(Region& sink, std::uint64_t offset, std::uint32_t length) {
  const std::size_t room = sink.bytes().size();
  if (offset <= room && length <= room - offset) {
    return {};
  }
  return tl::unexpected(Error{Errc::bad_region, std::to_string(length) + " octets from " +
                                                    std::to_string(offset) + " leave a sink of " +
                                                    std::to_string(room)});
}

}  // namespace steertag::fabric
