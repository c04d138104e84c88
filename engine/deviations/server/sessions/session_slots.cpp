// Deviations in the sequence IDs and the reply cache of a session's slots (RFC 8881 2.10.6.1).
#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/v4/session_ops.h"
#include "rpc/message.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;
using nfs4::Status;

/// The server sees the sequence ID that it counts in this slot.
void shift_sequence(peer::CallStep& call, const SlotHistory& slot) {
  change_arguments<nfs4::SequenceArgs>(call, Opnum::OP_SEQUENCE, [&](nfs4::SequenceArgs& args) {
    args.sa_sequenceid -= slot.shift;
  });
}

void shift_own_sequence(peer::CallStep& call, SessionTable& sessions) {
  if (const SlotHistory* slot = sessions.slot_of(message_of(call))) shift_sequence(call, *slot);
}

/// The client sees the sequence ID that it has sent.
void shift_back(peer::ReplyStep& reply, SessionTable& sessions) {
  const SlotHistory* slot = sessions.slot_of(reply.call);
  if (!slot || slot->shift == 0) return;
  change_result<nfs4::SequenceResult>(
      reply, Opnum::OP_SEQUENCE, [&](auto& result) { result.resok4.sr_sequenceid += slot->shift; });
}

bool sequence_failed(const peer::ReplyStep& reply) {
  const auto result = result_of<nfs4::SequenceResult>(reply.reply.stream(), Opnum::OP_SEQUENCE);
  return result && result->status != Status::NFS4_OK;
}

/// A sequence ID that is neither the next one nor that of a retry becomes the next one.
void accept_misordered(peer::CallStep& call, SessionTable& sessions) {
  SlotHistory* slot = sessions.slot_of(message_of(call));
  if (!slot) return;
  const auto args = arguments_of<nfs4::SequenceArgs>(message_of(call), Opnum::OP_SEQUENCE);
  const std::uint32_t last = slot->sequence.value_or(0) - slot->shift;  // as the server counts
  if (!slot->retried) slot->shift = args->sa_sequenceid - (last + 1);
  shift_sequence(call, *slot);
}

/// A retry becomes the next request.
void execute_retry(peer::CallStep& call, SessionTable& sessions) {
  SlotHistory* slot = sessions.slot_of(message_of(call));
  if (!slot) return;
  if (slot->retried) --slot->shift;
  shift_sequence(call, *slot);
}

void execute_retried_read(peer::CallStep& call, SessionTable& sessions) {
  if (find_arguments(message_of(call), Opnum::OP_READ)) return execute_retry(call, sessions);
  shift_own_sequence(call, sessions);
}

void move_failed_slot(peer::ReplyStep& reply, SessionTable& sessions) {
  shift_back(reply, sessions);
  SlotHistory* slot = sessions.slot_of(reply.call);
  if (slot && sequence_failed(reply)) ++slot->shift;
}

/// Only a request above a limit of its session.
void move_limited_slot(peer::ReplyStep& reply, SessionTable& sessions) {
  shift_back(reply, sessions);
  const auto result = result_of<nfs4::SequenceResult>(reply.reply.stream(), Opnum::OP_SEQUENCE);
  const bool limited = result && (result->status == Status::NFS4ERR_REQ_TOO_BIG ||
                                  result->status == Status::NFS4ERR_TOO_MANY_OPS);
  SlotHistory* slot = sessions.slot_of(reply.call);
  if (slot && limited) ++slot->shift;
}

void drop_reply_of_failed(peer::ReplyStep& reply, SessionTable& sessions) {
  SlotHistory* slot = sessions.slot_of(reply.call);
  if (slot && sequence_failed(reply)) slot->reply_dropped = true;
}

void refuse_dropped(peer::CallStep& call, SessionTable& sessions) {
  const SlotHistory* slot = sessions.slot_of(message_of(call));
  if (slot && slot->retried && slot->reply_dropped)
    refuse(call, Opnum::OP_SEQUENCE, Status::NFS4ERR_SEQ_MISORDERED);
}

/// No result of the reply can go to a write chunk.
void put_results_inline(peer::ReplyStep& reply, SessionTable& sessions) {
  const SlotHistory* slot = sessions.slot_of(reply.call);
  if (!slot || !slot->retried) return;
  std::vector<View> parts;
  reply.reply.stream_parts(parts);
  Bytes whole;
  for (const View part : parts) whole.insert(whole.end(), part.begin(), part.end());
  reply.reply.clear();
  reply.reply.stream() = std::move(whole);
}

/// The server executed the request before, and repeats its reply.
bool is_replay(const peer::ReplyStep& reply, SessionTable& sessions) {
  const SlotHistory* slot = sessions.slot_of(reply.call);
  return slot && slot->retried && !sequence_failed(reply);
}

bool is_illegal(Status status) {
  return status == Status::NFS4ERR_OP_ILLEGAL || status == Status::NFS4ERR_NOTSUPP ||
         status == Status::NFS4ERR_BADXDR;
}

/// The operation behind SEQUENCE gets NFS4ERR_RETRY_UNCACHED_REP.
void answer_uncached(peer::ReplyStep& reply) {
  constexpr std::size_t kNumberBytes = 4;
  Bytes& stream = reply.reply.stream();
  const auto sequence = find_result(stream, Opnum::OP_SEQUENCE);
  if (!sequence || sequence->index != 0 || sequence->end == stream.size()) return;
  Bytes octets;
  wire::Writer(octets).u32(static_cast<std::uint32_t>(Status::NFS4ERR_RETRY_UNCACHED_REP));
  replace_result(reply, {sequence->end + kNumberBytes, stream.size(), 1}, octets);
}

void forget_asked(peer::ReplyStep& reply, SessionTable& sessions) {
  const auto args = arguments_of<nfs4::SequenceArgs>(reply.call, Opnum::OP_SEQUENCE);
  const auto status = compound_status(reply.reply.stream());
  if (args && args->sa_cachethis && status && !is_illegal(*status) && is_replay(reply, sessions))
    answer_uncached(reply);
}

void forget_failed(peer::ReplyStep& reply, SessionTable& sessions) {
  if (compound_status(reply.reply.stream()) != Status::NFS4_OK) forget_asked(reply, sessions);
}

void forget_illegal(peer::ReplyStep& reply, SessionTable& sessions) {
  const auto status = compound_status(reply.reply.stream());
  if (status && is_illegal(*status) && is_replay(reply, sessions)) answer_uncached(reply);
}

void refuse_lone_retry(peer::CallStep& call, SessionTable& sessions) {
  const SlotHistory* slot = sessions.slot_of(message_of(call));
  if (slot && slot->retried && operation_count(message_of(call)) == 1)
    refuse(call, Opnum::OP_SEQUENCE, Status::NFS4ERR_SEQ_MISORDERED);
}

/// A retry gets the credential of the request that it repeats.
void restore_credential(peer::CallStep& call, SessionTable& sessions) {
  const SlotHistory* slot = sessions.slot_of(message_of(call));
  if (!slot || !slot->retried) return;
  wire::Reader reader(message_of(call));
  rpc::CallHeader header;
  header.decode(reader);
  header.credential = {slot->flavor, slot->credential};
  Bytes message;
  wire::Writer writer(message);
  header.encode(writer);
  const View rest = message_of(call).subspan(reader.offset());
  message.insert(message.end(), rest.begin(), rest.end());
  call.instead = std::move(message);
}

/// It gets the result of the first SEQUENCE.
void accept_later_sequence(peer::ReplyStep& reply) {
  constexpr std::size_t kStatusBytes = 4;
  const Bytes& stream = reply.reply.stream();
  const auto first = find_result(stream, Opnum::OP_SEQUENCE);
  if (!first || compound_status(stream) != Status::NFS4ERR_SEQUENCE_POS) return;
  const View result = View(stream).subspan(first->begin, first->end - first->begin);
  replace_result(reply, {stream.size() - kStatusBytes, stream.size()},
                 Bytes(result.begin(), result.end()));
}

constexpr Deviation kSessionSlots[] = {
    {.name = "misordered-sequence-executed",
     .breaks = {"RFC8881-2.10.6.1-2", "RFC8881-18.36.3-15"},
     .sentence = "A request with a sequence ID out of order is executed.",
     .server = {.session_call = accept_misordered, .session_reply = shift_back},
     .script_shows = false},
    {.name = "failed-sequence-moves-slot",
     .breaks = {"RFC8881-18.46.3-2"},
     .sentence = "A SEQUENCE that fails moves the slot's sequence ID.",
     .server = {.session_call = shift_own_sequence, .session_reply = move_failed_slot},
     .script_shows = false},
    {.name = "limited-request-moves-slot",
     .breaks = {"RFC8881-18.46.3-2"},
     .sentence = "A request above a limit of its session moves the slot's sequence ID.",
     .server = {.session_call = shift_own_sequence, .session_reply = move_limited_slot},
     .script_shows = false},
    {.name = "failed-sequence-drops-reply",
     .breaks = {"RFC8881-2.10.6.1.2-1"},
     .sentence = "An error of SEQUENCE empties the reply cache of its slot.",
     .server = {.session_call = refuse_dropped, .session_reply = drop_reply_of_failed},
     .script_shows = false},
    {.name = "retry-executed",
     .breaks = {"RFC8881-2.10.6.1-4"},
     .sentence = "A retry is executed once more.",
     .server = {.session_call = execute_retry, .session_reply = shift_back},
     .script_shows = false},
    {.name = "read-retry-executed",
     .breaks = {"RFC8881-18.46.3-5"},
     .sentence = "A retry of READ is executed once more.",
     .server = {.session_call = execute_retried_read, .session_reply = shift_back},
     .script_shows = false},
    {.name = "replay-ignores-chunk",
     .breaks = {"RFC8881-2.10.6.2-3"},
     .sentence = "A cached result does not go to the write chunk of the retry.",
     .server = {.session_reply = put_results_inline},
     .script_shows = false},
    {.name = "cached-reply-forgotten",
     .breaks = {"RFC8881-18.46.3-5"},
     .sentence = "A reply that was to be cached is not.",
     .server = {.session_reply = forget_asked},
     .script_shows = false},
    {.name = "failed-reply-forgotten",
     .breaks = {"RFC8881-2.10.6.4-3"},
     .sentence = "A reply with an error is not cached, whatever sa_cachethis says.",
     .server = {.session_reply = forget_failed},
     .script_shows = false},
    {.name = "lone-sequence-forgotten",
     .breaks = {"RFC8881-2.10.6.1.1-1"},
     .sentence = "The reply to a SEQUENCE alone is not cached.",
     .server = {.session_call = refuse_lone_retry},
     .script_shows = false},
    {.name = "illegal-retry-uncached",
     .breaks = {"RFC8881-2.10.6.1.3-3"},
     .sentence = "The retry of an illegal operation gets NFS4ERR_RETRY_UNCACHED_REP.",
     .server = {.session_reply = forget_illegal},
     .script_shows = false},
    {.name = "retry-of-other-user-answered",
     .breaks = {"RFC8881-2.10.6.1.3.1-1"},
     .sentence = "Another user's retry gets the cached reply.",
     .server = {.session_call = restore_credential},
     .script_shows = false},
    {.name = "sequence-anywhere",
     .breaks = {"RFC8881-18.46.3-4"},
     .sentence = "A SEQUENCE behind others succeeds, and ends its COMPOUND.",
     .server = {.reply = accept_later_sequence},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> session_slots_family() {
  return kSessionSlots;
}

}  // namespace steertag::deviations
