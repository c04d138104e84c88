// What the server announces in its private data, and what it makes of the client's (RFC 8797).
#pragma once

#include <optional>

#include "switches/switch.h"
#include "wire/private_data.h"

namespace steertag::peer {

/// The octets of the server's private data.
Bytes own_announcement(const wire::PrivateData& announced, const Deviations& deviations);

/// What the server reads out of the client's private data; nothing means the defaults of RFC 8166.
std::optional<wire::PrivateData> client_announcement(View private_data,
                                                     const Deviations& deviations);

}  // namespace steertag::peer
