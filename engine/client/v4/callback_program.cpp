// The callback program of a client.
#include "client/v4/callback_program.h"

#include <algorithm>

#include "rpc/message.h"

namespace steertag::peer {
namespace {

using nfs4::CbOpnum;
using nfs4::Status;

Bytes encoded(const rpc::ReplyHeader& header) {
  Bytes reply;
  wire::Writer writer(reply);
  header.encode(writer);
  return reply;
}

}  // namespace

void CallbackProgram::reset(const nfs4::SessionId& session, std::uint32_t slots) {
  session_ = session;
  slots_.assign(slots, Slot{});
}

Bytes CallbackProgram::answer(View call) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok()) return {};
  if (header.rpcvers != rpc::kRpcVersion)
    return encoded(
        rpc::ReplyHeader::rpc_mismatch(header.xid, {rpc::kRpcVersion, rpc::kRpcVersion}));
  const auto accepted = [&](rpc::AcceptStatus status) {
    return encoded(rpc::ReplyHeader::accepted(header.xid, status));
  };
  if (header.program != kCallbackProgram) return accepted(rpc::AcceptStatus::PROG_UNAVAIL);
  if (header.version != nfs4::kCallbackVersion)
    return encoded(rpc::ReplyHeader::program_mismatch(
        header.xid, {nfs4::kCallbackVersion, nfs4::kCallbackVersion}));
  if (header.procedure == nfs4::CB_NULL) return accepted(rpc::AcceptStatus::SUCCESS);
  if (header.procedure != nfs4::CB_COMPOUND) return accepted(rpc::AcceptStatus::PROC_UNAVAIL);
  const auto results = compound(reader);
  if (!results) return accepted(rpc::AcceptStatus::GARBAGE_ARGS);
  if (results->empty()) return {};  // Deviation::referring_call_awaited
  Bytes reply = accepted(rpc::AcceptStatus::SUCCESS);
  reply.insert(reply.end(), results->begin(), results->end());
  if (deviates(Deviation::callback_replies_too_long)) reply.resize(2 * kShortCallbackReply);
  return reply;
}

std::optional<Bytes> CallbackProgram::compound(wire::Reader& reader) {
  nfs4::CbCompoundArgs args;
  args.decode(reader);
  if (!reader.ok()) return std::nullopt;
  Bytes octets;
  Results results(octets, args.tag);
  if (args.minorversion != 1) {
    results.set_status(Status::NFS4ERR_MINOR_VERS_MISMATCH);
    return octets;
  }
  // RFC 8881 2.10.2.1: callback_ident is ignored.
  if (args.callback_ident != 0 && deviates(Deviation::callback_ident_refused)) {
    results.set_status(Status::NFS4ERR_INVAL);
    return octets;
  }
  Operations operations(reader, "argarray");
  const auto first = operations.next();
  if (!reader.ok()) {
    results.set_status(nfs4::status_of(reader.fault(), args.minorversion));
    return octets;
  }
  if (!first) return octets;
  if (rpc::name(*first).empty() || *first == CbOpnum::OP_CB_ILLEGAL) {
    results.add_status(CbOpnum::OP_CB_ILLEGAL, Status::NFS4ERR_OP_ILLEGAL);
    return octets;
  }
  nfs4::CbSequenceArgs sequence;
  if (*first != CbOpnum::OP_CB_SEQUENCE) {
    results.add_status(*first, deviates(Deviation::callback_without_sequence_executed)
                                   ? perform(*first, sequence, reader)
                                   : Status::NFS4ERR_OP_NOT_IN_SESSION);
    return octets;
  }
  sequence.decode(reader);
  const Status status = reader.ok() ? check(sequence, operations.count()) : Status::NFS4ERR_BADXDR;
  if (status != Status::NFS4_OK) {
    if (sequence.csa_slotid < slots_.size() && deviates(Deviation::callback_error_drops_reply))
      slots_[sequence.csa_slotid].reply.clear();
    results.add_status(CbOpnum::OP_CB_SEQUENCE, status);
    return octets;
  }
  if (is_retry(sequence)) return slots_[sequence.csa_slotid].reply;
  if (races(sequence) && deviates(Deviation::referring_call_awaited)) return Bytes{};
  execute(sequence, operations, reader, results);
  keep(sequence, args, octets, results.status());
  return octets;
}

void CallbackProgram::keep(const nfs4::CbSequenceArgs& args, const nfs4::CbCompoundArgs& call,
                           View reply, Status status) {
  Slot& slot = slots_[args.csa_slotid];
  slot.sequence = args.csa_sequenceid;
  slot.reply.assign(reply.begin(), reply.end());
  if (args.csa_cachethis && deviates(Deviation::kept_callback_reply_forgotten)) slot.reply.clear();
  if (status != Status::NFS4ERR_OP_ILLEGAL || !deviates(Deviation::illegal_callback_retry_uncached))
    return;
  slot.reply.clear();
  Results results(slot.reply, call.tag);
  results.add(CbOpnum::OP_CB_SEQUENCE, sequence_result(args));
  results.add_status(CbOpnum::OP_CB_ILLEGAL, Status::NFS4ERR_RETRY_UNCACHED_REP);
}

bool CallbackProgram::is_retry(const nfs4::CbSequenceArgs& args) const {
  const Slot& slot = slots_[args.csa_slotid];
  return args.csa_sequenceid == slot.sequence && !slot.reply.empty() &&
         !deviates(Deviation::callback_retry_executed) &&
         !deviates(Deviation::callback_retry_refused);
}

// RFC 8881 20.9.3: an error leaves the slot as it was.
Status CallbackProgram::check(const nfs4::CbSequenceArgs& args, std::uint32_t operations) const {
  const bool other = args.csa_sessionid != session_;
  if (slots_.empty() || (other && !deviates(Deviation::other_session_callback_executed)))
    return Status::NFS4ERR_BADSESSION;
  if (args.csa_slotid < slots_.size()) return check_slot(args, operations);
  return deviates(Deviation::bad_callback_slot_misordered) ? Status::NFS4ERR_SEQ_MISORDERED
                                                           : Status::NFS4ERR_BADSLOT;
}

Status CallbackProgram::check_slot(const nfs4::CbSequenceArgs& args,
                                   std::uint32_t operations) const {
  if (is_retry(args)) return Status::NFS4_OK;
  const Slot& slot = slots_[args.csa_slotid];
  const bool again = args.csa_sequenceid == slot.sequence && !slot.reply.empty();
  if (again && deviates(Deviation::callback_retry_refused)) return Status::NFS4ERR_SEQ_MISORDERED;
  const bool next =
      args.csa_sequenceid == slot.sequence + 1 ||  // wraps around to 0
      (slot.sequence == 0 && slot.reply.empty() && deviates(Deviation::first_callback_any_number));
  if (!next && !again && !deviates(Deviation::misordered_callback_executed))
    return Status::NFS4ERR_SEQ_MISORDERED;
  const bool many = operations > kMostCallbackOperations;
  return many && !deviates(Deviation::callback_operations_unlimited) ? Status::NFS4ERR_TOO_MANY_OPS
                                                                     : Status::NFS4_OK;
}

void CallbackProgram::execute(const nfs4::CbSequenceArgs& sequence, Operations& operations,
                              wire::Reader& reader, Results& results) {
  results.add(CbOpnum::OP_CB_SEQUENCE, sequence_result(sequence));
  while (const auto number = operations.next()) {
    if (rpc::name(*number).empty() || *number == CbOpnum::OP_CB_ILLEGAL) {
      results.add_status(CbOpnum::OP_CB_ILLEGAL, Status::NFS4ERR_OP_ILLEGAL);
    } else {
      results.add_status(*number, perform(*number, sequence, reader));
    }
    if (results.status() != Status::NFS4_OK) return;
  }
  // An argarray that ends before its count says so.
  if (!reader.ok()) results.set_status(Status::NFS4ERR_BADXDR);
}

nfs4::CbSequenceResult CallbackProgram::sequence_result(const nfs4::CbSequenceArgs& args) const {
  const auto highest = static_cast<std::uint32_t>(slots_.size() - 1);
  const std::uint32_t enforced = deviates(Deviation::callback_highest_slot_low) ? 0 : highest;
  nfs4::CbSequenceResult ok;
  ok.resok4 = {args.csa_sessionid, args.csa_sequenceid, args.csa_slotid, enforced, highest};
  return ok;
}

bool CallbackProgram::races(const nfs4::CbSequenceArgs& args) const {
  if (deviates(Deviation::unknown_referring_call_delayed))
    return !args.csa_referring_call_lists.empty();
  return std::ranges::any_of(args.csa_referring_call_lists, [this](const auto& list) {
    return list.rcl_sessionid == session_ &&
           std::ranges::any_of(list.rcl_referring_calls, actions_.outstanding);
  });
}

Status CallbackProgram::perform(CbOpnum number, const nfs4::CbSequenceArgs& sequence,
                                wire::Reader& reader) {
  switch (number) {
    case CbOpnum::OP_CB_SEQUENCE:
      return deviates(Deviation::second_callback_sequence_invalid) ? Status::NFS4ERR_INVAL
                                                                   : Status::NFS4ERR_SEQUENCE_POS;
    case CbOpnum::OP_CB_RECALL: {
      nfs4::CbRecallArgs args;
      args.decode(reader);
      if (!reader.ok()) return Status::NFS4ERR_BADXDR;
      return races(sequence) ? Status::NFS4ERR_DELAY : actions_.recall(args);
    }
    case CbOpnum::OP_CB_RECALL_SLOT: {
      nfs4::CbRecallSlotArgs args;
      args.decode(reader);
      if (!reader.ok()) return Status::NFS4ERR_BADXDR;
      actions_.recall_slot(args.rsa_target_highest_slotid);
      return Status::NFS4_OK;
    }
    default:
      return Status::NFS4ERR_NOTSUPP;
  }
}

}  // namespace steertag::peer
