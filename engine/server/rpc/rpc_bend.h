// What deviations do to RPC calls and to their replies, whatever is called.
#pragma once

#include <optional>

#include "server/rdma/reply_payload.h"
#include "switches/switch.h"

namespace steertag::peer {

/// Whether a deviation denies the call; `reply` says so then.
bool denies_call(const Deviations& deviations, View call, ReplyPayload& reply);
/// The call with a credential of no length in place of one that is too long; nothing if it is not.
std::optional<Bytes> without_long_credential(View call);
void bend_rpc_reply(const Deviations& deviations, ReplyPayload& reply);

}  // namespace steertag::peer
