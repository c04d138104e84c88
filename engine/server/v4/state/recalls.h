// Recalls of delegations and layouts, and what becomes of state that does not come back.
#pragma once

#include "server/v4/state/tables.h"

namespace steertag::peer {

/// Keeps which request granted the state last, so that a recall can refer to it (RFC 8881
/// 2.10.6.3). `slot` is that of the request.
void note_grant(StateTables& tables, RecallableState& state, const std::optional<SlotInUse>& slot);

/// Recalls state that is not being recalled yet: at once, or as soon as a callback can be sent.
void start_recall(StateTables& tables, RecallableState& state);

/// Sends recalls that wait and revokes what is overdue by a lease (RFC 8881 10.4.5, 12.5.5).
void process_recalls(StateTables& tables);

}  // namespace steertag::peer
