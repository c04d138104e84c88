// What the handlers of state operations share: who acts, and how replies are kept.
// The replies are those to owners of minor version 0.
#pragma once

#include "server/v4/compound_call.h"
#include "server/v4/state/stateids.h"

namespace steertag::peer {

inline StateUser user_of(const CompoundCall& call) {
  return {call.minorversion, call.clientid};
}

/// The client that an operation acts for. In minor version 1 it is that of the session. In minor
/// version 0 it is the one that the arguments name, whose lease this renews. NFS4ERR_EXPIRED or
/// NFS4ERR_STALE_CLIENTID in minor version 0. NFS4ERR_DEADSESSION when an earlier operation of the
/// COMPOUND removed the session's client.
Expected<Client*, nfs4::Status> acting_client(CompoundCall& call, std::uint64_t named);

/// Whether an owner's seqid is the one that comes next, or repeats the last (RFC 7530 9.1.7).
enum class SeqidOrder : std::uint8_t { next, repeated, wrong };
SeqidOrder order_of(const OwnerSequence& sequence, std::uint32_t seqid);

/// Whether a request with this outcome uses up a seqid (RFC 7530 9.1.7).
bool moves_seqid(nfs4::Status status, const CompoundCall& call);

/// Keeps the result for a retry, and moves the seqid on, if its status says so.
template <class Result>
void keep_reply(OwnerSequence& sequence, std::uint32_t seqid, nfs4::Opnum operation,
                const Result& result, const CompoundCall& call) {
  if (!moves_seqid(result.status, call)) return;
  SavedReply reply;
  reply.operation = operation;
  wire::Writer writer(reply.result);
  result.encode(writer);
  if (call.current) reply.current = call.current->handle;
  sequence.seqid = seqid;
  sequence.reply = std::move(reply);
}

/// Gives the kept result again: NFS4ERR_BAD_SEQID when it was of another operation. The result
/// points into the kept reply.
template <class Result>
void repeat_reply(const OwnerSequence& sequence, nfs4::Opnum operation, CompoundCall& call,
                  Result& result) {
  if (!sequence.reply || sequence.reply->operation != operation) {
    result.status = nfs4::Status::NFS4ERR_BAD_SEQID;
    return;
  }
  wire::Reader reader(sequence.reply->result);
  result.decode(reader);
  const bool opened = operation == nfs4::Opnum::OP_OPEN && result.status == nfs4::Status::NFS4_OK;
  if (opened && sequence.reply->current) {
    CurrentFile current;
    current.handle = *sequence.reply->current;
    call.current = current;
  }
}

/// Checks the seqid of minor version 0. True: the operation goes on; otherwise `result` is set.
template <class Result>
bool admit_seqid(const OwnerSequence& sequence, std::uint32_t seqid, nfs4::Opnum operation,
                 CompoundCall& call, Result& result) {
  if (call.minorversion > 0) return true;
  switch (order_of(sequence, seqid)) {
    case SeqidOrder::next:
      return true;
    case SeqidOrder::repeated:
      repeat_reply(sequence, operation, call, result);
      return false;
    case SeqidOrder::wrong:
      break;
  }
  result.status = nfs4::Status::NFS4ERR_BAD_SEQID;
  return false;
}

}  // namespace steertag::peer
