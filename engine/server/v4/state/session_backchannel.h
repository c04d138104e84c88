// Callbacks of a session (RFC 8881 2.10.3.1, 20): the probe of its backchannel, and recalls.
#pragma once

#include "server/rpc/program.h"
#include "server/v4/state/tables.h"

namespace steertag::peer {

/// Takes the first credential of the list that we can use. False for none: RPCSEC_GSS only.
bool take_credential(Session& session, std::span<const nfs4::CallbackSecParms> parms);

/// The connection serves the backchannel from now on: probes it with CB_NULL, and sends again what
/// was not answered once the probe was.
void open_backchannel(StateTables& tables, Session& session, const ConnectionInfo& info);
/// The same for a session whose program or credential has changed.
void probe_backchannel(StateTables& tables, Session& session);

/// Whether a recall by this callback would reach the client, as far as is known, and be of a size
/// that it accepts.
bool has_backchannel(StateTables& tables, const Client& client,
                     nfs4::CbOpnum callback = nfs4::CbOpnum::OP_CB_RECALL);

/// SEQ4_STATUS_CB_PATH_DOWN, _CB_PATH_DOWN_SESSION, _BACKCHANNEL_FAULT (RFC 8881 18.46.3). Sessions
/// for which no backchannel was ever asked do not count.
std::uint32_t backchannel_flags(StateTables& tables, const Session& session);

/// Sends CB_SEQUENCE and the callback that recalls this state, or tells of this device. Any session
/// of the client serves with a free slot, and a channel that takes a call of that size. False when
/// none has one: try again later.
bool send_recall(StateTables& tables, RecallableState& state);

}  // namespace steertag::peer
