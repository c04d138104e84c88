// The direction of an RPC message, call or reply, from its msg_type alone.
#pragma once

#include <cstdint>
#include <optional>

#include "rpc/message.h"
#include "support/bytes.h"

namespace steertag::rpc {

/// Whether an RPC message (payload stream from its first octet) is a call or a reply. RFC 8167 2:
/// both directions may use equal XIDs, so the XID says nothing. nullopt: fewer than eight octets,
/// or an undefined msg_type.
std::optional<MessageType> direction(View payload);

/// The XID in the first word; nullopt for fewer than four octets.
std::optional<std::uint32_t> xid(View payload);

}  // namespace steertag::rpc
