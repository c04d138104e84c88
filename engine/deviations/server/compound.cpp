// Finds the operations of a COMPOUND and puts other octets in their place.
#include "deviations/server/compound.h"

#include "nfs/binding.h"
#include "nfs/v4/compound.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

bool is_compound(const rpc::CallHeader& header) {
  return header.program == nfs::kNfsProgram && header.version == nfs::kNfsVersion4 &&
         header.procedure == nfs4::NFSPROC4_COMPOUND;
}

/// Behind the RPC header of an accepted reply.
bool skip_reply_header(wire::Reader& reader) {
  rpc::ReplyHeader header;
  header.decode(reader);
  return reader.ok() && header.status == rpc::ReplyStatus::MSG_ACCEPTED &&
         header.accept_status == rpc::AcceptStatus::SUCCESS;
}

std::optional<OperationSpan> find(wire::Reader& reader, nfs4::Opnum wanted, bool is_call) {
  nfs4::OperationReader<nfs4::Opnum> operations(reader, is_call ? "argarray" : "resarray");
  while (const auto number = operations.next()) {
    const std::size_t begin = reader.offset();
    nfs4::with_signature(*number, [&]<class Args, class Result>(nfs4::Signature<Args, Result>) {
      if (is_call) {
        Args{}.decode(reader);
      } else {
        Result{}.decode(reader);
      }
    });
    if (!reader.ok()) return std::nullopt;
    if (*number == wanted) return OperationSpan{begin, reader.offset(), operations.taken() - 1};
  }
  return std::nullopt;
}

}  // namespace

std::optional<OperationSpan> find_arguments(View call, nfs4::Opnum wanted) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || !is_compound(header)) return std::nullopt;
  nfs4::CompoundArgs compound;
  compound.decode(reader);
  return reader.ok() ? find(reader, wanted, true) : std::nullopt;
}

std::optional<OperationSpan> find_result(View reply, nfs4::Opnum wanted) {
  wire::Reader reader(reply);
  if (!skip_reply_header(reader)) return std::nullopt;
  nfs4::CompoundResult compound;
  compound.decode(reader);
  return reader.ok() ? find(reader, wanted, false) : std::nullopt;
}

std::uint32_t operation_count(View call) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || !is_compound(header)) return 0;
  nfs4::CompoundArgs compound;
  compound.decode(reader);
  const std::uint32_t count = reader.u32("argarray");
  return reader.ok() ? count : 0;
}

void keep_first_alone(peer::CallStep& call, nfs4::Opnum first) {
  constexpr std::size_t kNumberBytes = 4;
  const View message = message_of(call);
  const auto span = find_arguments(message, first);
  if (!span || span->index != 0) return;
  Bytes alone(message.begin(), message.begin() + static_cast<std::ptrdiff_t>(span->end));
  wire::store_u32(alone.data() + span->begin - kNumberBytes - 4, 1);
  call.instead = std::move(alone);
}

std::optional<nfs4::Status> compound_status(View reply) {
  wire::Reader reader(reply);
  if (!skip_reply_header(reader)) return std::nullopt;
  nfs4::CompoundResult compound;
  compound.decode(reader);
  return reader.ok() ? std::optional(compound.status) : std::nullopt;
}

void replace_arguments(peer::CallStep& call, const OperationSpan& span, const Bytes& octets) {
  const View before = message_of(call);
  Bytes after(before.begin(), before.begin() + static_cast<std::ptrdiff_t>(span.begin));
  after.insert(after.end(), octets.begin(), octets.end());
  after.insert(after.end(), before.begin() + static_cast<std::ptrdiff_t>(span.end), before.end());
  call.instead = std::move(after);
}

void replace_result(peer::ReplyStep& reply, const OperationSpan& span, const Bytes& octets) {
  peer::ReplyPayload& payload = reply.reply;
  Bytes& stream = payload.stream();
  const std::uint32_t status = wire::load_u32(octets.data());
  wire::Reader reader(stream);
  skip_reply_header(reader);
  const std::size_t status_at = reader.offset();
  nfs4::CompoundResult compound;
  compound.decode(reader);
  const std::size_t count_at = reader.offset();
  if (span.end == stream.size()) wire::store_u32(stream.data() + status_at, status);
  if (status != static_cast<std::uint32_t>(nfs4::Status::NFS4_OK)) {
    payload.rewind(span.begin);
    stream.insert(stream.end(), octets.begin(), octets.end());
    wire::store_u32(stream.data() + status_at, status);
    wire::store_u32(stream.data() + count_at, span.index + 1);
    return;
  }
  const auto begin = stream.begin() + static_cast<std::ptrdiff_t>(span.begin);
  stream.erase(begin, begin + static_cast<std::ptrdiff_t>(span.end - span.begin));
  stream.insert(stream.begin() + static_cast<std::ptrdiff_t>(span.begin), octets.begin(),
                octets.end());
  for (peer::ReplyPayload::Item& item : payload.items()) {
    if (item.at >= span.end) item.at = item.at - (span.end - span.begin) + octets.size();
  }
}

void refuse(peer::CallStep& call, nfs4::Opnum first, nfs4::Status status) {
  wire::Reader reader(message_of(call));
  rpc::CallHeader header;
  header.decode(reader);
  nfs4::CompoundArgs compound;
  compound.decode(reader);
  if (!reader.ok()) return;
  call.reply.clear();
  peer::put(rpc::ReplyHeader::accepted(header.xid, rpc::AcceptStatus::SUCCESS), call.reply);
  wire::Writer writer(call.reply.stream());
  nfs4::CompoundResult{status, compound.tag}.encode(writer);
  writer.u32(1);
  writer.u32(static_cast<std::uint32_t>(first));
  writer.u32(static_cast<std::uint32_t>(status));
  call.outcome = peer::Outcome::reply;
}

}  // namespace steertag::deviations
