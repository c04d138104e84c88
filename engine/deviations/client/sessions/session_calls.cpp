// Deviations of the client: slots, sequence ids and the operations of its COMPOUNDs.
// RFC 8881 2.10.6.
#include <limits>

#include "client/v4/callback_program.h"
#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "endpoint/session_request.h"
#include "nfs/v4/callback_ops.h"
#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

using nfs4::Opnum;

constexpr std::uint32_t kAnySlot = std::numeric_limits<std::uint32_t>::max();

std::string octets_of(const nfs4::SessionId& session) {
  const View view = std::as_bytes(std::span(session));
  return {reinterpret_cast<const char*>(view.data()), view.size()};
}

std::uint32_t xid_of(const peer::RequestStep& step) {
  return wire::load_u32(step.request.stream.data());
}

void take_first_slot(peer::RequestStep& step, ClientHistory& history) {
  if (step.again) return;
  change_request<nfs4::SequenceArgs>(step, Opnum::OP_SEQUENCE, [&](nfs4::SequenceArgs& args) {
    history.moved[xid_of(step)] = {args.sa_slotid, args.sa_sequenceid};
    args.sa_slotid = args.sa_highest_slotid = 0;
    args.sa_sequenceid = ++history.first_slots[octets_of(args.sa_sessionid)];
  });
}

void put_slot_back(ArrivingMessage& arriving) {
  ClientHistory& history = arriving.history;
  change_arrived<nfs4::SequenceResult>(arriving, Opnum::OP_SEQUENCE,
                                       [&](std::uint32_t xid, nfs4::SequenceOk& ok) {
                                         const auto found = history.moved.find(xid);
                                         if (found == history.moved.end()) return;
                                         ok.sr_slotid = found->second.slot;
                                         ok.sr_sequenceid = found->second.sequence;
                                         history.moved.erase(found);
                                       });
}

void skip_sequence_id(peer::RequestStep& step, ClientHistory& history) {
  constexpr std::uint32_t kSkipped = 4;  // behind RECLAIM_COMPLETE, which is made once
  if (step.again) return;
  change_request<nfs4::SequenceArgs>(step, Opnum::OP_SEQUENCE, [&](nfs4::SequenceArgs& args) {
    history.sessions.insert(octets_of(args.sa_sessionid));
    if (history.sessions.size() == 1 && args.sa_sequenceid >= kSkipped) ++args.sa_sequenceid;
  });
}

/// In sessions behind the first.
void start_with_two(peer::RequestStep& step, ClientHistory& history) {
  if (step.again) return;
  change_request<nfs4::SequenceArgs>(step, Opnum::OP_SEQUENCE, [&](nfs4::SequenceArgs& args) {
    history.sessions.insert(octets_of(args.sa_sessionid));
    if (history.sessions.size() > 1) ++args.sa_sequenceid;
  });
}

void understate_highest_slot(peer::RequestStep& step, ClientHistory& /*history*/) {
  change_request<nfs4::SequenceArgs>(step, Opnum::OP_SEQUENCE, [](nfs4::SequenceArgs& args) {
    args.sa_highest_slotid = args.sa_slotid;
  });
}

void keep_slots(ArrivingMessage& arriving) {
  change_arrived<nfs4::SequenceResult>(
      arriving, Opnum::OP_SEQUENCE,
      [](std::uint32_t, nfs4::SequenceOk& ok) { ok.sr_target_highest_slotid = kAnySlot; });
}

void take_more_slots(ArrivingMessage& arriving) {
  keep_slots(arriving);
  change_arrived<nfs4::CreateSessionResult>(arriving, Opnum::OP_CREATE_SESSION,
                                            [](std::uint32_t, nfs4::CreateSessionOk& ok) {
                                              ok.csr_fore_chan_attrs.ca_maxrequests = kAnySlot;
                                            });
}

/// CB_RECALL_SLOT comes to the client with a target that takes no slot back.
void keep_recalled_slots(ArrivingMessage& arriving) {
  keep_slots(arriving);
  Bytes message(arriving.message().begin(), arriving.message().end());
  const auto decoded = decode(message);
  if (!decoded || !decoded->is_call()) return;
  wire::Reader reader(decoded->payload);
  rpc::CallHeader header;
  header.decode(reader);
  nfs4::CbCompoundArgs compound;
  compound.decode(reader);
  nfs4::OperationReader<nfs4::CbOpnum> operations(reader, "argarray");
  if (header.program != peer::kCallbackProgram ||
      operations.next() != nfs4::CbOpnum::OP_CB_SEQUENCE)
    return;
  nfs4::CbSequenceArgs sequence;
  sequence.decode(reader);
  if (operations.next() != nfs4::CbOpnum::OP_CB_RECALL_SLOT) return;
  const std::size_t target_at = message.size() - decoded->payload.size() + reader.offset();
  if (!reader.ok() || message.size() < target_at + 4) return;
  wire::store_u32(message.data() + target_at, kAnySlot);
  arriving.replace(std::move(message));
}

/// Another COMPOUND goes behind the first of each session, under an XID that no call has. The
/// server refuses it before it comes to SEQUENCE, so that no slot moves.
void send_misplaced(DepartingCall& call) {
  const View stream = call.step.request.stream;
  const auto request = peer::session_request(stream);
  if (!request || !call.history.sessions.insert(request->session).second) return;
  const auto span = find_arguments(stream, Opnum::OP_SEQUENCE);
  if (!span) return;
  constexpr std::size_t kOpnumBytes = 4;
  const std::size_t sequence_at = span->begin - kOpnumBytes;
  const std::uint32_t xid = ~call.header().xid;
  wire::Header header;
  header.xid = xid;
  header.credit = call.header().credit;
  Bytes message;
  wire::encode(header, message);
  const std::size_t payload_at = message.size();
  const std::size_t count_at = payload_at + sequence_at - 4;
  message.insert(message.end(), stream.begin(),
                 stream.begin() + static_cast<std::ptrdiff_t>(sequence_at));
  wire::store_u32(message.data() + payload_at, xid);
  wire::store_u32(message.data() + count_at, 2);
  wire::Writer writer(message);
  writer.u32(static_cast<std::uint32_t>(Opnum::OP_PUTROOTFH));
  message.insert(message.end(), stream.begin() + static_cast<std::ptrdiff_t>(sequence_at),
                 stream.begin() + static_cast<std::ptrdiff_t>(span->end));
  call.step.behind.push_back(std::move(message));
}

void add_to_destroy(peer::RequestStep& step, ClientHistory& /*history*/) {
  if (!step.again && find_arguments(step.request.stream, Opnum::OP_DESTROY_SESSION))
    append_operation(step, Opnum::OP_PUTROOTFH);
}

constexpr Deviation kSessionCalls[] = {
    {.name = "slot-recall-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-20.8.3-1"},
     .sentence = "Slots are used on when CB_RECALL_SLOT, and SEQUENCE, take them back.",
     .client = {.arrival = keep_recalled_slots}},
    {.name = "slot-taken-twice",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.2-2"},
     .sentence = "All requests have the first slot, whether or not it is taken.",
     .client = {.request = take_first_slot, .arrival = put_slot_back}},
    {.name = "sequence-id-skipped",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.1-1"},
     .sentence = "In the first session the sequence id 4 of each slot is left out.",
     .client = {.request = skip_sequence_id}},
    {.name = "sequence-id-of-delayed-used",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.1-1"},
     .sentence = "The sequence id of a request whose SEQUENCE got NFS4ERR_DELAY counts as used.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.repeats_refused = false;
                    }}},
    {.name = "later-session-sizes-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.36.3-9"},
     .sentence = "Requests are as large as the first session has room for, in later ones too.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.heeds_later_sizes = false;
                    }}},
    {.name = "later-session-starts-with-two",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.1-1"},
     .sentence = "In sessions behind the first the sequence ids of slots start with 2.",
     .client = {.request = start_with_two}},
    {.name = "reclaim-completed-once",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.51.3-1"},
     .sentence = "RECLAIM_COMPLETE is sent for the first client ID alone.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.completes_again = false;
                    }}},
    {.name = "sequence-behind-others",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.2.1-2"},
     .sentence = "One COMPOUND of each session has another operation before SEQUENCE.",
     .client = {.departure = send_misplaced}},
    {.name = "slots-beyond-granted",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.1-6"},
     .sentence = "As many slots are used as were asked for.",
     .client = {.arrival = take_more_slots}},
    {.name = "highest-slot-understated",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.1-7"},
     .sentence = "sa_highest_slotid is the slot of the request, whatever else is under way.",
     .client = {.request = understate_highest_slot}},
    {.name = "handle-asked-apart",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.4-4"},
     .sentence = "A file is created without GETFH, and looked up afterwards.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.created_handle = peer::HandleQuery::apart;
                    }}},
    {.name = "handle-asked-late",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.4-5"},
     .sentence = "GETFH is the last operation of a COMPOUND that creates a file.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.created_handle = peer::HandleQuery::last;
                    }}},
    {.name = "operation-behind-destroy",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.37.3-1"},
     .sentence = "Another operation follows DESTROY_SESSION.",
     .client = {.request = add_to_destroy}},
    {.name = "destroyed-over-any-connection",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.37.3-2"},
     .sentence = "DESTROY_SESSION is sent without SEQUENCE, on whatever connection there is.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.destroys_in_session = false;
                    }}},
    {.name = "create-sequence-kept",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.36.4-5"},
     .sentence = "Every CREATE_SESSION has the csa_sequence of the first.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.numbers_sessions = false;
                    }}},
    {.name = "unanswered-slot-reused",
     .side = trace::Role::client,
     .breaks = {"RFC8881-2.10.6.1-1"},
     .sentence =
         "The slot of a request without a reply is used for another one under its sequence id.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.session.leaves_unanswered = false;
                    }}},
};

}  // namespace

std::span<const Deviation> session_calls_family() {
  return kSessionCalls;
}

}  // namespace steertag::deviations
