// The direction of an RPC message: call or reply, by its msg_type and by nothing else.
#pragma once

#include <cstdint>
#include <optional>

#include "rpc/message.h"
#include "support/bytes.h"

namespace steertag::rpc {

/// Whether an RPC message (payload stream from its first octet) is a call or a reply. RFC 8167 2:
/// equal XIDs may be in use in both directions, so the XID says nothing. nullopt: fewer than eight
/// octets, or a msg_type that RFC 5531 does not define.
std::optional<MessageType> direction(View payload);

/// The XID in the first word; nullopt when there are fewer than four octets.
std::optional<std::uint32_t> xid(View payload);

}  // namespace steertag::rpc
