// Reads calls and replies of NFS version 4.1 as far as layouts need it.
#include "conformance/pnfs/layout_calls.h"

#include <algorithm>
#include <utility>

#include "conformance/pnfs/pnfs_rules.h"
#include "conformance/text.h"
#include "nfs/binding.h"
#include "nfs/v4/client_ops.h"
#include "nfs/v4/session_ops.h"
#include "rpc/message.h"
#include "support/roundup.h"

namespace steertag::conformance {

namespace {

using nfs4::Opnum;

/// RFC 8881 12.7.2.
constexpr std::uint32_t kRevocations = nfs4::SEQ4_STATUS_EXPIRED_ALL_STATE_REVOKED |
                                       nfs4::SEQ4_STATUS_EXPIRED_SOME_STATE_REVOKED |
                                       nfs4::SEQ4_STATUS_ADMIN_STATE_REVOKED;

std::string text_of(View octets) {
  return {reinterpret_cast<const char*>(octets.data()), octets.size()};
}

View octets_of(const std::string& text) {
  return std::as_bytes(std::span(text));
}

bool is_compound(const RpcCall& rpc) {
  return rpc.program == nfs::kNfsProgram && rpc.version == nfs4::kVersion &&
         rpc.procedure == nfs4::NFSPROC4_COMPOUND && rpc.wrapping == rpc::Wrapping::plain;
}

/// Whether a COMPOUND may bring a session or the first layout of all. It looks at no more than the
/// numbers of its first operations, because most COMPOUNDs are of servers without layouts.
bool may_bring_layout(View payload) {
  constexpr std::size_t kCredentialAt = 24;
  constexpr std::size_t kSequenceOctets = nfs4::kSessionIdOctets + 4 * 4;
  std::size_t at = kCredentialAt;
  const auto word = [&](std::size_t offset) {
    const bool is_there = offset + 4 <= payload.size();
    return is_there ? wire::load_u32(payload.data() + offset) : UINT32_MAX;
  };
  const auto skip_opaque = [&] { at += 4 + roundup4(word(at)); };
  const auto number = [&] { return static_cast<Opnum>(word(at)); };
  at += 4;  // the flavour
  skip_opaque();
  at += 4;
  skip_opaque();
  skip_opaque();  // the tag
  at += 8;        // minorversion, and the number of operations
  if (number() != Opnum::OP_SEQUENCE) return true;
  at += 4 + kSequenceOctets;
  if (number() == Opnum::OP_PUTFH) {
    at += 4;
    skip_opaque();
  }
  return number() == Opnum::OP_LAYOUTGET || number() == Opnum::OP_OPEN ||
         number() == Opnum::OP_GETDEVICEINFO;
}

template <class Value>
bool decode(wire::Reader& reader, Value& value) {
  value.decode(reader);
  return reader.ok();
}

}  // namespace

const PnfsSession* LayoutCalls::find_session(const nfs4::SessionId& id) const {
  const auto own = std::ranges::find(sessions_, id, &PnfsSession::id);
  return own != sessions_.end() ? &*own : layouts_.find_session(id);
}

void LayoutCalls::take_call(const Message& message, const RpcCall& rpc, Connection& connection) {
  if (message.sender != trace::Role::client || !is_compound(rpc)) return;
  const bool is_idle = !at_data_server_ && !layouts_.has_files();
  if (is_idle && !may_bring_layout(message.payload)) return;
  wire::Reader reader(message.payload, wire::Values::any);
  rpc::CallHeader header;
  nfs4::CompoundArgs head;
  header.decode(reader);
  if (!decode(reader, head) || head.minorversion == 0) return;
  Operations operations(reader, "argarray");
  Pending call;
  while (const auto number = operations.next()) {
    if (!take_argument(*number, message, reader, call, connection)) break;
  }
  if (call.matters()) remember(message, call);
}

/// Returns false where the rest does not matter, or is not understood.
bool LayoutCalls::take_argument(Opnum number, const Message& message, wire::Reader& reader,
                                Pending& call, Connection& connection) {
  switch (number) {
    case Opnum::OP_SEQUENCE: {
      nfs4::SequenceArgs args;
      if (decode(reader, args)) take_sequence(args, call);
      return call.session.has_value();
    }
    case Opnum::OP_PUTFH:
      call.handle = reader.opaque(nfs4::kMostHandleOctets, "object");
      return reader.ok();
    case Opnum::OP_EXCHANGE_ID: {
      nfs4::ExchangeIdArgs args;
      if (!decode(reader, args)) return false;
      call.owner = text_of(args.eia_clientowner.co_ownerid);
      call.verifier = args.eia_clientowner.co_verifier;
      return false;
    }
    case Opnum::OP_CREATE_SESSION: {
      nfs4::CreateSessionArgs args;
      if (!decode(reader, args)) return false;
      call.clientid = args.csa_clientid;
      use_client_id(args.csa_clientid, message);
      return false;
    }
    case Opnum::OP_READ: {
      nfs4::ReadArgs args;
      if (!decode(reader, args)) return false;
      take_io(message, args.stateid, args.offset, args.count, number, call, connection);
      return true;
    }
    case Opnum::OP_WRITE: {
      nfs4::StateId stateid;
      stateid.decode(reader);
      const std::uint64_t offset = reader.u64("offset");
      reader.u32("stable");
      // Data in a read chunk has left only its count behind.
      const bool is_reduced = !message.header->read_list.empty();
      const std::size_t count =
          is_reduced ? reader.u32("data") : reader.opaque(nfs4::kMostDataOctets, "data").size();
      if (!reader.ok()) return false;
      take_io(message, stateid, offset, static_cast<std::uint32_t>(count), number, call,
              connection);
      return true;
    }
    case Opnum::OP_COMMIT: {
      nfs4::CommitArgs args;
      if (!decode(reader, args)) return false;
      take_io(message, {}, args.offset, args.count, number, call, connection);
      return true;
    }
    case Opnum::OP_GETATTR:
    case Opnum::OP_SETATTR:
      judge_attributes(number, message, call, connection);
      return nfs4::skip_arguments(reader, number);
    case Opnum::OP_LAYOUTGET: {
      nfs4::LayoutgetArgs args;
      call.asks_layout = decode(reader, args);
      return call.asks_layout;
    }
    case Opnum::OP_LAYOUTRETURN: {
      nfs4::LayoutreturnArgs args;
      if (!decode(reader, args)) return false;
      args.lora_layoutreturn.lr_layout.lrf_body = {};
      call.layoutreturn = args;
      return true;
    }
    case Opnum::OP_GETDEVICEINFO: {
      nfs4::GetdeviceinfoArgs args;
      if (decode(reader, args)) call.device = args.gdia_device_id;
      return reader.ok();
    }
    case Opnum::OP_TEST_STATEID:
      // The client asks which state is left.
      if (call.session) layouts_.revocation(call.session->client).reset();
      return false;
    default:
      return nfs4::skip_arguments(reader, number);
  }
}

void LayoutCalls::take_sequence(const nfs4::SequenceArgs& args, Pending& call) {
  call.moment = layouts_.next_moment();
  call.slot = args.sa_slotid;
  const PnfsSession* session = find_session(args.sa_sessionid);
  if (session == nullptr) return;
  call.session = *session;
  has_roles_ = true;
  at_data_server_ |= session->is_data_server();
  if (!session->is_metadata_server()) return;
  auto& revocation = layouts_.revocation(session->client);
  const bool is_next = revocation && !revocation->received &&
                       revocation->session == args.sa_sessionid &&
                       revocation->slot == args.sa_slotid;
  if (is_next) revocation->received = call.moment;
}

void LayoutCalls::take_io(const Message& message, const nfs4::StateId& stateid,
                          std::uint64_t offset, std::uint32_t count, Opnum number, Pending& call,
                          Connection& connection) {
  if (!call.session || call.io) return;
  if (!call.session->is_data_server() && !layouts_.has_files()) return;
  FileIo& io = call.io.emplace();
  io.operation = number;
  io.handle = text_of(call.handle);
  io.stateid = stateid;
  io.offset = offset;
  io.count = count;
  io.session = *call.session;
  io.moment = call.moment;
  const bool is_same = call.session->id == answered_session_;
  if (is_same && call.slot < answered_.size()) io.behind = answered_[call.slot];
  DataServerCheck(message, layouts_, server_end_, connection).take_call(io);
}

void LayoutCalls::judge_attributes(Opnum number, const Message& message, const Pending& call,
                                   Connection& connection) {
  if (!call.session || !call.session->is_data_server()) return;
  if (!call.session->is_data_server_only()) {
    const StripedFile* file = layouts_.find_striped(call.session->client, call.handle);
    if (file == nullptr || std::ranges::equal(octets_of(file->handle), call.handle)) return;
  }
  if (Finding* finding = open_finding(kAttributesAreOfTheMetadataServer, message, connection)) {
    finding->expected = "GETATTR and SETATTR at the metadata server";
    finding->observed = say(rpc::name(number), " at a data server");
  }
}

void LayoutCalls::remember(const Message& message, Pending& call) {
  const std::uint32_t xid = message.words.xid;
  if (calls_.size() >= kMostLayoutCalls && !calls_.contains(xid)) {
    if (call.asks_layout) layouts_.lose();
    return;
  }
  if (call.session) {
    StripedFile* file = layouts_.find_file(call.session->client, call.session->server, call.handle);
    if (file != nullptr && call.asks_layout) {
      ++file->asking;
      call.asked_file = file;
    }
    // Which of them the server does first is unknown.
    if (file != nullptr && call.layoutreturn && file->asking > 0) file->complete = false;
  }
  call.kept_handle = text_of(call.handle);
  reply_chunks_.erase(xid);
  if (message.header->has_reply_chunk && call.has_long_reply() &&
      reply_chunks_.size() < kMostReplyChunks) {
    reply_chunks_.emplace(xid, message.header->reply_chunk);
  }
  calls_.insert_or_assign(xid, std::move(call));
}

void LayoutCalls::take_reply(const Message& message, Connection& connection) {
  if (message.sender != trace::Role::server) return;
  auto found = calls_.extract(message.words.xid);
  if (found.empty() && !may_be_revoked()) return;
  Pending call;
  if (!found.empty()) {
    call = std::move(found.mapped());
    call.handle = octets_of(call.kept_handle);
  } else {
    const Call* asked = connection.direction(trace::Role::client).calls.find(message.words.xid);
    if (asked == nullptr || !asked->rpc || !is_compound(*asked->rpc)) return;
  }
  if (call.asked_file != nullptr) --call.asked_file->asking;
  View payload = message.payload;
  std::optional<Bytes> long_reply;
  const auto chunk = reply_chunks_.extract(message.words.xid);
  if (!message.inline_payload() && !chunk.empty()) {
    long_reply = chunk.mapped().message(message.header->reply_chunk);
    if (long_reply) payload = *long_reply;
  }
  wire::Reader reader(payload, wire::Values::any);
  rpc::ReplyHeader header;
  nfs4::CompoundResult head;
  header.decode(reader);
  if (!reader.ok()) {
    // Damaged, or in a reply chunk that was not seen.
    if (call.asks_layout || call.layoutreturn) layouts_.lose();
    return;
  }
  if (!header.success() || !decode(reader, head)) return;
  Operations operations(reader, "resarray");
  while (const auto number = operations.next()) {
    if (!take_result(*number, message, reader, call, connection)) return;
  }
}

/// Returns false at the last result that matters.
bool LayoutCalls::take_result(Opnum number, const Message& message, wire::Reader& reader,
                              Pending& call, Connection& connection) {
  const auto succeeds = [&](auto& result) {
    return decode(reader, result) && result.status == nfs4::Status::NFS4_OK;
  };
  switch (number) {
    case Opnum::OP_SEQUENCE: {
      nfs4::SequenceResult result;
      if (!succeeds(result)) return false;
      take_flags(result.resok4, message);
      if (call.io) note_answer(result.resok4);
      return call.matters();
    }
    case Opnum::OP_EXCHANGE_ID: {
      nfs4::ExchangeIdResult result;
      if (succeeds(result) && call.owner) take_exchange(result.resok4, call);
      return false;
    }
    case Opnum::OP_CREATE_SESSION: {
      nfs4::CreateSessionResult result;
      if (!succeeds(result) || !call.clientid) return false;
      const auto known = std::ranges::find(client_ids_, *call.clientid, &ClientId::id);
      if (known == client_ids_.end()) return false;
      PnfsSession session = known->session;
      session.id = result.resok4.csr_sessionid;
      if (sessions_.size() < kMostClientIds) sessions_.push_back(session);
      layouts_.add_session(session);
      return false;
    }
    case Opnum::OP_READ:
    case Opnum::OP_WRITE:
    case Opnum::OP_COMMIT:
      return call.io && call.io->operation == number &&
             take_io_result(message, reader, call, connection);
    case Opnum::OP_GETFH: {
      nfs4::GetfhResult result;
      if (!succeeds(result)) return false;
      call.kept_handle = text_of(result.resok4.object.view());
      call.handle = octets_of(call.kept_handle);
      return true;
    }
    case Opnum::OP_LAYOUTGET: {
      nfs4::LayoutgetResult result;
      if (!succeeds(result)) return false;
      take_layout(result, message, call);
      return true;
    }
    case Opnum::OP_LAYOUTRETURN: {
      nfs4::LayoutreturnResult result;
      if (!succeeds(result)) return false;
      take_return(result, message, call);
      return true;
    }
    case Opnum::OP_GETDEVICEINFO: {
      nfs4::GetdeviceinfoResult result;
      if (!succeeds(result) || !call.device || !call.session) return false;
      const nfs4::DeviceAddr& address = result.resok4.gdir_device_addr;
      if (address.da_layout_type == nfs4::LayoutType::LAYOUT4_NFSV4_1_FILES) {
        const std::size_t client = call.session->client;
        const bool is_new = layouts_.add_device(client, *call.device, address.da_addr_body);
        auto& revocation = layouts_.revocation(client);
        const bool is_same = revocation && revocation->place.connection == number_ &&
                             revocation->place.event == message.event;
        if (is_new && is_same) revocation->device = call.device;
      }
      return true;
    }
    default:
      return nfs4::skip_result(reader, number);
  }
}

void LayoutCalls::use_client_id(std::uint64_t id, const Message& message) {
  const auto known = std::ranges::find(client_ids_, id, &ClientId::id);
  if (known == client_ids_.end() || !known->session.is_metadata_server()) return;
  layouts_.use_client_id(known->session,
                         {id, known->verifier, place(message), layouts_.next_moment()});
}

void LayoutCalls::take_exchange(const nfs4::ExchangeIdOk& result, const Pending& call) {
  const auto client = layouts_.client_of(octets_of(*call.owner));
  const auto server = layouts_.server_of(result.eir_server_owner.so_major_id);
  if (!client || !server) return;
  const ClientId made{result.eir_clientid, {{}, *client, *server, result.eir_flags}, call.verifier};
  const bool uses_pnfs = made.session.is_data_server() || made.session.is_metadata_server();
  has_roles_ |= uses_pnfs;
  at_data_server_ |= made.session.is_data_server();
  is_plain_ = !has_roles_;
  const auto known = std::ranges::find(client_ids_, made.id, &ClientId::id);
  if (known != client_ids_.end()) {
    *known = made;
  } else if (client_ids_.size() < kMostClientIds) {
    client_ids_.push_back(made);
  }
}

void LayoutCalls::take_flags(const nfs4::SequenceOk& result, const Message& message) {
  const PnfsSession* session = find_session(result.sr_sessionid);
  if (session == nullptr || !session->is_metadata_server()) return;
  auto& revocation = layouts_.revocation(session->client);
  const std::uint32_t flags = result.sr_status_flags & kRevocations;
  if (revocation && (flags == 0 || revocation->is_shown)) {
    revocation->is_shown = flags != 0;
  } else if (flags != 0) {
    Revocation& made = revocation.emplace();
    made.flags = flags;
    made.session = result.sr_sessionid;
    made.slot = result.sr_slotid;
    made.place = place(message);
    made.moment = layouts_.next_moment();
  }
}

void LayoutCalls::note_answer(const nfs4::SequenceOk& result) {
  if (result.sr_slotid >= kMostSlotsFollowed) return;
  if (result.sr_sessionid != answered_session_) answered_.clear();
  answered_session_ = result.sr_sessionid;
  if (answered_.size() <= result.sr_slotid) answered_.resize(result.sr_slotid + 1);
  answered_[result.sr_slotid] = layouts_.next_moment();
}

/// READ's data may be in a write chunk, so nothing behind it is read.
bool LayoutCalls::take_io_result(const Message& message, wire::Reader& reader, const Pending& call,
                                 Connection& connection) {
  if (reader.u32("status") != 0) return false;
  IoResult result;
  if (call.io->is_commit()) {
    nfs4::CommitOk done;
    done.decode(reader);
    result.verifier = done.writeverf;
  } else if (call.io->is_write()) {
    nfs4::WriteOk done;
    done.decode(reader);
    result = {done.count, done.committed == nfs4::StableHow::UNSTABLE4, done.writeverf};
  } else {
    reader.u32("eof");
    result.count = reader.u32("data");
  }
  if (!reader.ok()) return false;
  DataServerCheck(message, layouts_, server_end_, connection).take_result(*call.io, result);
  return !call.io->is_commit() && call.io->is_write();
}

void LayoutCalls::take_layout(const nfs4::LayoutgetResult& result, const Message& message,
                              const Pending& call) {
  if (!call.session || call.handle.empty()) return layouts_.lose();
  StripedFile* file = layouts_.add_file(call.session->client, call.session->server, call.handle);
  if (file != nullptr) layouts_.grant(*file, result.resok4, place(message));
}

void LayoutCalls::take_return(const nfs4::LayoutreturnResult& result, const Message& message,
                              const Pending& call) {
  if (!call.session || !call.layoutreturn) return;
  const std::size_t client = call.session->client;
  const std::size_t server = call.session->server;
  const auto type = call.layoutreturn->lora_layoutreturn.lr_returntype;
  if (type != nfs4::LayoutreturnType::LAYOUTRETURN4_FILE) {
    const bool of_all = type == nfs4::LayoutreturnType::LAYOUTRETURN4_ALL;
    return layouts_.give_back_all(client, server, of_all, place(message), call.moment);
  }
  StripedFile* file = layouts_.find_file(client, server, call.handle);
  if (file == nullptr) return;
  layouts_.give_back(*file, *call.layoutreturn, result.resok4.lrs_present, place(message),
                     call.moment);
}

void LayoutCalls::forget_history() {
  calls_.clear();
  reply_chunks_.clear();
  answered_.clear();
  layouts_.lose();
}

}  // namespace steertag::conformance
