// Fills in notes from what the judge knows of a connection; nothing is judged here.
#pragma once

#include "conformance/connection_state.h"
#include "conformance/message.h"
#include "grade/note.h"

namespace steertag::grade {

/// Which side's calls a message belongs to: the sender's own, or those that it answers. Nothing for
/// messages that are neither call nor answer.
std::optional<trace::Role> requester_of(const conformance::Message& message);

/// All that is known of a Send before the judge takes it in: everything but credits and thresholds.
void fill(MessageNote& note, const conformance::Message& message,
          const conformance::Connection& connection);

/// The note on an RDMA Write, Read or Read Response, from before the judge takes it in; nothing for
/// other events.
std::optional<OperationNote> operation_note(const trace::Event& event,
                                            const conformance::Connection& connection);

}  // namespace steertag::grade
