// The operations that the server has: their handlers, and where in a COMPOUND each may stand.
// Also what must be known before each runs.
#pragma once

#include "nfs/v4/compound.h"
#include "server/v4/compound_call.h"

namespace steertag::peer {

using CompoundReplyWriter = nfs4::ReplyWriter<nfs4::Opnum>;

/// Where an operation may stand in a COMPOUND of minor version 1 (RFC 8881 2.10.2, 18).
enum class OperationPosition : std::uint8_t {
  in_session,  // behind SEQUENCE
  first,       // SEQUENCE
  alone,       // the only operation: BIND_CONN_TO_SESSION
  either,      // behind SEQUENCE, or as the only operation
};

struct Operation {
  nfs4::Opnum number;
  OperationPosition position = OperationPosition::in_session;
  /// Decodes arguments, runs the handler, adds the result to the reply.
  void (*run)(wire::Reader& arguments, CompoundCall& call, CompoundReplyWriter& reply) = nullptr;
  /// Of an operation that cannot be taken back: octets of its largest result with NFS4_OK, together
  /// with what must be answered with it. 0 when running it again does no harm.
  std::size_t largest_result = 0;
  /// The highest minor version that has it, beyond which it is NFS4ERR_NOTSUPP.
  std::uint32_t last_minorversion = 1;
};

/// The row of that number; nullptr for a number without an operation, and for OP_ILLEGAL.
const Operation* find_operation(nfs4::Opnum number);

/// The same at a data server of pNFS; nullptr for what it does not have (RFC 8881 13.6).
const Operation* find_data_server_operation(nfs4::Opnum number);

}  // namespace steertag::peer
