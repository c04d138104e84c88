// The callback program of a client.
#include "client/v4/callback_program.h"

#include <algorithm>

#include "rpc/message.h"
#include "wire/encoded.h"

namespace steertag::peer {
namespace {

using nfs4::CbOpnum;
using nfs4::Status;

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
    return wire::encoded(
        rpc::ReplyHeader::rpc_mismatch(header.xid, {rpc::kRpcVersion, rpc::kRpcVersion}));
  const auto accepted = [&](rpc::AcceptStatus status) {
    return wire::encoded(rpc::ReplyHeader::accepted(header.xid, status));
  };
  if (header.program != kCallbackProgram) return accepted(rpc::AcceptStatus::PROG_UNAVAIL);
  if (header.version != nfs4::kCallbackVersion)
    return wire::encoded(rpc::ReplyHeader::program_mismatch(
        header.xid, {nfs4::kCallbackVersion, nfs4::kCallbackVersion}));
  if (header.procedure == nfs4::CB_NULL) return accepted(rpc::AcceptStatus::SUCCESS);
  if (header.procedure != nfs4::CB_COMPOUND) return accepted(rpc::AcceptStatus::PROC_UNAVAIL);
  const auto results = compound(reader);
  if (!results) return accepted(rpc::AcceptStatus::GARBAGE_ARGS);
  Bytes reply = accepted(rpc::AcceptStatus::SUCCESS);
  reply.insert(reply.end(), results->begin(), results->end());
  return reply;
}

std::optional<Bytes> CallbackProgram::compound(wire::Reader& reader) {
  nfs4::CbCompoundArgs args;
  args.decode(reader);
  if (!reader.ok()) return std::nullopt;
  Bytes octets;
  Results results(octets, args.tag);
  if (args.minorversion != 1 && policy_.compares_minor_version) {
    results.set_status(Status::NFS4ERR_MINOR_VERS_MISMATCH);
    return octets;
  }
  // RFC 8881 2.10.2.1: callback_ident is ignored.
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
    results.add_status(*first, policy_.needs_sequence ? Status::NFS4ERR_OP_NOT_IN_SESSION
                                                      : perform(*first, sequence, reader));
    return octets;
  }
  sequence.decode(reader);
  const Status status = reader.ok() ? check(sequence, operations.count()) : Status::NFS4ERR_BADXDR;
  if (status != Status::NFS4_OK) {
    results.add_status(CbOpnum::OP_CB_SEQUENCE, status);
    return octets;
  }
  if (is_retry(sequence)) return slots_[sequence.csa_slotid].reply;
  execute(sequence, operations, reader, results);
  Slot& slot = slots_[sequence.csa_slotid];
  slot.sequence = sequence.csa_sequenceid;
  slot.reply = octets;
  return octets;
}

bool CallbackProgram::is_retry(const nfs4::CbSequenceArgs& args) const {
  const Slot& slot = slots_[args.csa_slotid];
  return args.csa_sequenceid == slot.sequence && !slot.reply.empty() && policy_.keeps_replies;
}

// RFC 8881 20.9.3: an error leaves the slot as it was.
Status CallbackProgram::check(const nfs4::CbSequenceArgs& args, std::uint32_t operations) const {
  const bool other = policy_.compares_session && args.csa_sessionid != session_;
  if (slots_.empty() || other) return Status::NFS4ERR_BADSESSION;
  if (args.csa_slotid >= slots_.size()) return policy_.bad_slot_status;
  return check_slot(args, operations);
}

Status CallbackProgram::check_slot(const nfs4::CbSequenceArgs& args,
                                   std::uint32_t operations) const {
  if (is_retry(args)) return Status::NFS4_OK;
  const Slot& slot = slots_[args.csa_slotid];
  const bool again = args.csa_sequenceid == slot.sequence && !slot.reply.empty();
  const bool next = args.csa_sequenceid == slot.sequence + 1;  // wraps around to 0
  const bool compared =
      slot.reply.empty() ? policy_.compares_first_sequence : policy_.compares_sequence;
  if (!next && !again && compared) return Status::NFS4ERR_SEQ_MISORDERED;
  return operations > policy_.most_operations ? Status::NFS4ERR_TOO_MANY_OPS : Status::NFS4_OK;
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
    if (results.status() != Status::NFS4_OK && policy_.ends_at_error) return;
  }
  // An argarray that ends before its count says so.
  if (!reader.ok()) results.set_status(Status::NFS4ERR_BADXDR);
}

nfs4::CbSequenceResult CallbackProgram::sequence_result(const nfs4::CbSequenceArgs& args) const {
  const auto highest = static_cast<std::uint32_t>(slots_.size() - 1);
  nfs4::CbSequenceResult ok;
  ok.resok4 = {args.csa_sessionid, args.csa_sequenceid, args.csa_slotid, highest, highest};
  return ok;
}

bool CallbackProgram::races(const nfs4::CbSequenceArgs& args) const {
  if (!policy_.heeds_referrals) return false;
  if (policy_.delays_any_referral) return !args.csa_referring_call_lists.empty();
  return std::ranges::any_of(args.csa_referring_call_lists, [this](const auto& list) {
    const std::size_t all = list.rcl_referring_calls.size();
    const std::size_t heeded = policy_.heeds_all_referrals ? all : std::min<std::size_t>(1, all);
    return list.rcl_sessionid == session_ &&
           std::ranges::any_of(std::span(list.rcl_referring_calls).first(heeded),
                               actions_.outstanding);
  });
}

template <class Args, class Action>
Status CallbackProgram::recall(const nfs4::CbSequenceArgs& sequence, wire::Reader& reader,
                               const Action& action) const {
  Args args;
  args.decode(reader);
  if (!reader.ok()) return Status::NFS4ERR_BADXDR;
  return races(sequence) ? Status::NFS4ERR_DELAY : action(args);
}

Status CallbackProgram::perform(CbOpnum number, const nfs4::CbSequenceArgs& sequence,
                                wire::Reader& reader) {
  switch (number) {
    case CbOpnum::OP_CB_SEQUENCE:
      return policy_.second_sequence_status;
    case CbOpnum::OP_CB_RECALL:
      return recall<nfs4::CbRecallArgs>(sequence, reader, actions_.recall);
    case CbOpnum::OP_CB_LAYOUTRECALL:
      return recall<nfs4::CbLayoutrecallArgs>(sequence, reader, actions_.recall_layout);
    case CbOpnum::OP_CB_NOTIFY_DEVICEID:
      return recall<nfs4::CbNotifyDeviceidArgs>(sequence, reader, actions_.notify_devices);
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
