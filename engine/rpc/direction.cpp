// Reads the first two words of an RPC message.
#include "rpc/direction.h"

#include "wire/xdr.h"

namespace steertag::rpc {

std::optional<std::uint32_t> xid(View payload) {
  if (payload.size() < 4) return std::nullopt;
  return wire::load_u32(payload.data());
}

std::optional<MessageType> direction(View payload) {
  if (payload.size() < 8) return std::nullopt;
  const auto type = static_cast<MessageType>(wire::load_u32(payload.data() + 4));
  if (name(type).empty()) return std::nullopt;
  return type;
}

}  // namespace steertag::rpc
