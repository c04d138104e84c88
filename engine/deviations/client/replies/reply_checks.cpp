// Deviations of the client: what of a reply it does not compare with its call.
// RFC 8166 6.1. Also verifiers that it does not compare with those before.
#include <algorithm>

#include "deviations/client/client_compound.h"
#include "deviations/families.h"
#include "nfs/nfs3_procedures.h"
#include "nfs/nfs3_types.h"
#include "nfs/v4/io_ops.h"
#include "rpc/message.h"
#include "wire/xdr.h"

namespace steertag::deviations {
namespace {

/// From this octet on the client sees zeros in each write verifier.
template <std::size_t kFrom>
void hide_verifier(ArrivingMessage& arriving) {
  const auto hide = [](std::uint32_t, auto& ok) {
    std::fill(ok.writeverf.begin() + kFrom, ok.writeverf.end(), std::byte{0});
  };
  change_arrived<nfs4::WriteResult>(arriving, nfs4::Opnum::OP_WRITE, hide);
  change_arrived<nfs4::CommitResult>(arriving, nfs4::Opnum::OP_COMMIT, hide);
}

/// Data of a long reply is looked for in the reply chunk alone.
void fail_long_with_data(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  if (!decoded || decoded->header.proc != wire::Procedure::nomsg) return;
  const wire::WriteList& chunks = decoded->header.write_list;
  const bool has_data = !chunks.empty() && wire::chunk_length(chunks[0]) > 0;
  if (has_data && arriving.history.find(decoded->header.xid)) arriving.fail(decoded->header.xid);
}

/// Octets that the call brings in read chunks behind its own.
std::uint32_t brought_by(const SentCall& call) {
  std::uint32_t sum = 0;
  for (const wire::ReadSegment& each : call.header.read_list) {
    if (each.position != 0) sum += each.target.length;
  }
  return sum;
}

/// Whether the call is one of NFS version 3, of this procedure.
bool is_nfs3(const SentCall& call, nfs3::Procedure procedure) {
  const auto sent = decode(call.message);
  if (!sent) return false;
  wire::Reader reader(sent->payload);
  rpc::CallHeader header;
  header.decode(reader);
  return reader.ok() && header.program == nfs3::kProgram && header.version == nfs3::kVersion &&
         header.procedure == static_cast<std::uint32_t>(procedure);
}

/// Whether the reply of version 3 begins with NFS3_OK.
bool has_succeeded(View reply) {
  wire::Reader reader(reply);
  rpc::ReplyHeader header;
  header.decode(reader);
  return reader.u32("status") == 0 && reader.ok() && header.success();
}

/// A WRITE that brought its data in a read chunk seems to have taken all of them.
void take_for_whole(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  const SentCall* call = decoded ? arriving.history.find(decoded->header.xid) : nullptr;
  const std::uint32_t whole = call ? brought_by(*call) : 0;
  if (whole == 0) return;
  if (is_nfs3(*call, nfs3::Procedure::NFSPROC3_WRITE)) {
    constexpr std::size_t kFromEnd = 16;  // count, committed and verf
    if (!has_succeeded(decoded->payload)) return;
    Bytes message(arriving.message().begin(), arriving.message().end());
    wire::store_u32(message.data() + message.size() - kFromEnd, whole);
    return arriving.replace(std::move(message));
  }
  change_arrived<nfs4::WriteResult>(arriving, nfs4::Opnum::OP_WRITE,
                                    [&](std::uint32_t, auto& ok) { ok.count = whole; });
}

/// CREATE of version 3.
void fail_without_handle(ArrivingMessage& arriving) {
  const auto decoded = decode(arriving.message());
  const SentCall* call = decoded ? arriving.history.find(decoded->header.xid) : nullptr;
  if (!call || !decoded->is_reply() || !is_nfs3(*call, nfs3::Procedure::NFSPROC3_CREATE)) return;
  wire::Reader reader(decoded->payload);
  rpc::ReplyHeader header;
  header.decode(reader);
  const bool is_ok = reader.u32("status") == 0;
  const bool has_handle = reader.u32("handle_follows") != 0;
  if (reader.ok() && is_ok && !has_handle) arriving.fail(decoded->header.xid);
}

constexpr Deviation kReplyChecks[] = {
    {.name = "short-write-taken-for-whole",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.32.4-1", "RFC1813-3.3.7-3"},
     .sentence = "A WRITE with a read chunk counts as done, whatever it has taken of it.",
     .client = {.arrival = take_for_whole}},
    {.name = "created-handle-needed",
     .side = trace::Role::client,
     .breaks = {"RFC1813-2.5-1"},
     .sentence = "A CREATE of version 3 without a filehandle counts as failed.",
     .client = {.arrival = fail_without_handle}},
    {.name = "returned-length-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.6.1-1", "RFC8166-4.3.2.2-5"},
     .sentence = "A write chunk counts as filled, whatever length comes back.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.compares_length = false;
                    }}},
    {.name = "inline-result-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8166-6.1-6"},
     .sentence = "A result that came inline despite its write chunk is taken.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.refuses_inline = false;
                    }}},
    {.name = "reduced-ineligible-taken",
     .side = trace::Role::client,
     .breaks = {"RFC8166-6.1-5"},
     .sentence = "What a write chunk holds beside an empty result is overlooked.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.refuses_ineligible = false;
                    }}},
    {.name = "long-reply-with-data-refused",
     .side = trace::Role::client,
     .breaks = {"RFC8166-4.3.2.1-1"},
     .sentence = "A reply in the reply chunk is refused if its data is in the write chunk.",
     .client = {.arrival = fail_long_with_data}},
    {.name = "write-verifier-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.32.3-2"},
     .sentence = "Verifiers of WRITE and COMMIT are not compared.",
     .client = {.arrival = hide_verifier<0>}},
    {.name = "write-verifier-half-compared",
     .side = trace::Role::client,
     .breaks = {"RFC8881-18.32.3-2"},
     .sentence = "Of the verifiers of WRITE and COMMIT the first four octets are compared.",
     .client = {.arrival = hide_verifier<4>}},
    {.name = "returned-segments-ignored",
     .side = trace::Role::client,
     .breaks = {"RFC8166-3.4.3-2"},
     .sentence = "Handles and offsets of chunks that come back are not compared.",
     .client = {.options =
                    [](peer::FileClientOptions& options) {
                      options.requester.reply.compares_segments = false;
                    }}},
};

}  // namespace

std::span<const Deviation> reply_checks_family() {
  return kReplyChecks;
}

}  // namespace steertag::deviations
