// Private data of an optimistic connection: what it is, and the ticket that opens it.
#pragma once

#include <optional>

#include "nfs/direct/messages.h"
#include "support/bytes.h"

namespace steertag::direct {

/// Format id, version, flags and two reserved octets.
inline constexpr std::size_t kPrivateHeaderOctets = 8;

/// What the client sends. `recoverable`: refusals of RDMA Reads may be recoverable
/// (fabric::Connection::recover_read_faults); they are if both sides say so.
void encode(const Ticket& ticket, Bytes& out, bool recoverable = false);
/// What the server answers: the header alone.
void encode_answer(Bytes& out, bool recoverable = false);

/// Whether the private data are those of an optimistic connection, with or without a good ticket.
bool is_optimistic(View private_data);
/// Whether private data of an optimistic connection say that refusals may be recoverable.
bool is_recoverable(View private_data);
/// The ticket, if the private data begin with the header of this version and a ticket. Octets
/// behind it are ignored: a connection manager may have padded them.
std::optional<Ticket> find_ticket(View private_data);

}  // namespace steertag::direct
