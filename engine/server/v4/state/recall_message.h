// The messages of callbacks (RFC 8881 20): what recalls state, and what tells of devices.
#pragma once

#include "server/v4/state/tables.h"

namespace steertag::peer {

// CB_SEQUENCE and the recall.
inline constexpr std::uint32_t kRecallOperations = 2;

/// The header of a call of the session's program.
Bytes callback_header(const Session& session, std::uint32_t procedure);

/// CB_SEQUENCE in this slot, and the callback that recalls this state or tells of this device.
Bytes recall_message(StateTables& tables, const Session& session, std::uint32_t number,
                     const RecallableState& state);

/// Octets of the largest message with this callback.
std::size_t most_recall_octets(const Session& session, nfs4::CbOpnum callback);

}  // namespace steertag::peer
