// Fills notes from the judge's state of a connection; does not judge.
#pragma once

#include "conformance/connection_state.h"
#include "conformance/message.h"
#include "grade/note.h"

namespace steertag::grade {

/// The requester of a message's transaction: the sender of a call, or the receiver of an answer.
/// Nothing for other messages.
std::optional<trace::Role> requester_of(const conformance::Message& message);

/// Fills in everything except credits and thresholds. Call it before the judge sees the Send.
void fill(MessageNote& note, const conformance::Message& message,
          const conformance::Connection& connection);

/// The note on an RDMA Write, Read or Read Response; nothing for other events. Call it before the
/// judge sees the event.
std::optional<OperationNote> operation_note(const trace::Event& event,
                                            const conformance::Connection& connection);

/// The same on an optimistic connection. Call it after the judge saw the event.
std::optional<OperationNote> optimistic_note(const trace::Event& event,
                                             const conformance::OptimisticConnection& connection);

}  // namespace steertag::grade
