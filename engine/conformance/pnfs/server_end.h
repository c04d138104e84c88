// Finds the data server of a device that an end of a connection is.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "nfs/v4/file_layout.h"

namespace steertag::conformance {

/// The lists of addresses that have this end: "192.0.2.1:20049", "[2001:db8::1]:20049", or an
/// address followed by a space and other text, whose port is unknown. None if several servers have
/// an address without its port.
std::vector<std::size_t> lists_with(std::string_view end, const nfs4::FileLayoutDevice& device);

/// "192.0.2.1:20049" of a universal address (RFC 5665 5.2.3.3), or the address as it is.
std::string readable_address(std::string_view universal);

}  // namespace steertag::conformance
