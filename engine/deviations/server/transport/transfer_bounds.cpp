// Deviations in READ, WRITE and COMMIT of no octets, or of places behind every file.
#include <optional>

#include "deviations/families.h"
#include "deviations/server/compound.h"
#include "nfs/nfs3_args.h"
#include "nfs/nfs3_procedures.h"
#include "nfs/nfs3_results_io.h"
#include "nfs/v4/io_ops.h"
#include "rpc/message.h"

namespace steertag::deviations {
namespace {

/// The largest offset of hosts that count in 64 bits with a sign.
constexpr std::uint64_t kMostSignedOffset = ~std::uint64_t{0} >> 1;

/// The arguments, if the call is this procedure of version 3.
template <class Args>
std::optional<Args> nfs3_arguments(View call, nfs3::Procedure procedure) {
  wire::Reader reader(call);
  rpc::CallHeader header;
  header.decode(reader);
  if (!reader.ok() || header.program != nfs3::kProgram || header.version != nfs3::kVersion ||
      header.procedure != static_cast<std::uint32_t>(procedure))
    return std::nullopt;
  Args args;
  args.decode(reader);
  return reader.ok() ? std::optional(args) : std::nullopt;
}

/// Results of version 3 that succeeded become this error.
template <class Result>
void fail_nfs3(peer::ReplyStep& reply, nfs3::Status status) {
  wire::Reader reader(reply.reply.stream());
  rpc::ReplyHeader header;
  header.decode(reader);
  if (!reader.ok() || !header.success() || reader.u32("status") != 0) return;
  Result result;
  result.status = status;
  reply.reply.clear();
  peer::put(header, reply.reply);
  peer::put(result, reply.reply);
}

template <class Result>
void fail_nfs4(peer::ReplyStep& reply, nfs4::Opnum number, nfs4::Status status) {
  change_result<Result>(reply, number, [&](Result& result) {
    if (result.status == nfs4::Status::NFS4_OK) result.status = status;
  });
}

void fail_write_of_nothing(peer::ReplyStep& reply) {
  const auto old = nfs3_arguments<nfs3::WriteArgs>(reply.call, nfs3::Procedure::NFSPROC3_WRITE);
  if (old && old->data.empty()) fail_nfs3<nfs3::WriteResult>(reply, nfs3::Status::NFS3ERR_IO);
  const auto args = arguments_of<nfs4::WriteArgs>(reply.call, nfs4::Opnum::OP_WRITE);
  if (args && args->data.empty())
    fail_nfs4<nfs4::WriteResult>(reply, nfs4::Opnum::OP_WRITE, nfs4::Status::NFS4ERR_IO);
}

/// READs for which `is_refused(offset, count)`.
template <class IsRefused>
void fail_reads(peer::ReplyStep& reply, IsRefused is_refused) {
  const auto old = nfs3_arguments<nfs3::ReadArgs>(reply.call, nfs3::Procedure::NFSPROC3_READ);
  if (old && is_refused(old->offset, old->count))
    fail_nfs3<nfs3::ReadResult>(reply, nfs3::Status::NFS3ERR_INVAL);
  const auto args = arguments_of<nfs4::ReadArgs>(reply.call, nfs4::Opnum::OP_READ);
  if (args && is_refused(args->offset, args->count))
    fail_nfs4<nfs4::ReadResult>(reply, nfs4::Opnum::OP_READ, nfs4::Status::NFS4ERR_INVAL);
}

void fail_commit_of_far_range(peer::ReplyStep& reply) {
  const auto args = nfs3_arguments<nfs3::CommitArgs>(reply.call, nfs3::Procedure::NFSPROC3_COMMIT);
  if (!args) return;
  const bool fits =
      args->offset <= kMostSignedOffset && args->count <= kMostSignedOffset - args->offset;
  if (!fits) fail_nfs3<nfs3::CommitResult>(reply, nfs3::Status::NFS3ERR_INVAL);
}

constexpr Deviation kTransferBounds[] = {
    {.name = "empty-write-fails",
     .breaks = {"RFC1813-3.3.7-2", "RFC8881-18.32.3-3"},
     .sentence = "A WRITE of no octets gets an I/O error.",
     .server = {.reply = fail_write_of_nothing},
     .script_shows = false},
    {.name = "empty-read-fails",
     .breaks = {"RFC1813-3.3.6-1", "RFC8881-18.22.3-1"},
     .sentence = "A READ with a count of zero is refused as invalid.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      fail_reads(reply,
                                 [](std::uint64_t, std::uint32_t count) { return count == 0; });
                    }},
     .script_shows = false},
    {.name = "far-read-fails",
     .breaks = {"RFC1813-3.3.6-2", "RFC8881-18.22.3-2"},
     .sentence = "A READ at an offset with the highest bit is refused as invalid.",
     .server = {.reply =
                    [](peer::ReplyStep& reply) {
                      fail_reads(reply, [](std::uint64_t offset, std::uint32_t) {
                        return offset > kMostSignedOffset;
                      });
                    }},
     .script_shows = false},
    {.name = "far-commit-fails",
     .breaks = {"RFC1813-3.3.21-2"},
     .sentence = "A COMMIT whose range has an end with the highest bit is refused as invalid.",
     .server = {.reply = fail_commit_of_far_range},
     .script_shows = false},
};

}  // namespace

std::span<const Deviation> transfer_bounds_family() {
  return kTransferBounds;
}

}  // namespace steertag::deviations
