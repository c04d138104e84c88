// NFS version 3: procedures that move file data and link text.
#include "endpoint/limits.h"
#include "server/nfs3/nfs3_convert.h"
#include "server/nfs3/nfs3_program.h"
#include "server/storage/permission.h"

namespace steertag::peer {
void Nfs3Program::readlink(const nfs3::ReadlinkArgs& args, Call& call) {
  const auto found = object(args.symlink);
  Result<Slice> text = tl::unexpected(found ? Status::ok : found.error());
  if (found) text = backend_.read_link(found->node);
  if (!text) {
    nfs3::ReadlinkResult result;
    result.status = to_nfs3(text.error());
    if (found) result.fail.symlink_attributes = to_nfs3(found->attributes);
    return put(result, call.reply);
  }
  wire::Writer writer(call.reply.stream());
  rpc::encode_value(writer, nfs3::Status::NFS3_OK);
  rpc::encode_value(writer, nfs3::PostOpAttr(to_nfs3(found->attributes)));
  const auto length = static_cast<std::uint32_t>(text->bytes.size());
  writer.u32(length);
  const std::size_t first = call.reply.slices().size();
  call.reply.slices().push_back(std::move(*text));
  call.reply.add_item(first, length);
}

void Nfs3Program::read(const nfs3::ReadArgs& args, Call& call) {
  const auto found = object(args.file);
  Status status = found ? Status::ok : found.error();
  if (found && found->attributes.type == FileType::regular &&
      !permits_io(found->attributes, call.caller, AccessMode::read))
    status = Status::access;
  const std::size_t first = call.reply.slices().size();
  Result<std::uint32_t> length = tl::unexpected(status);
  if (status == Status::ok) {
    length = backend_.read(found->node, args.offset, std::min(args.count, kLargestTransfer),
                           call.reply.slices());
  }
  if (!length) {
    nfs3::ReadResult result;
    result.status = to_nfs3(length.error());
    if (found) result.fail.file_attributes = after(found->node);
    return put(result, call.reply);
  }
  wire::Writer writer(call.reply.stream());
  rpc::encode_value(writer, nfs3::Status::NFS3_OK);
  rpc::encode_value(writer, after(found->node));
  writer.u32(*length);
  // Compared without a sum that could wrap.
  const std::uint64_t size = found->attributes.size_bytes;
  writer.boolean(args.offset >= size || size - args.offset <= *length);
  writer.u32(*length);
  call.reply.add_item(first, *length);
}

void Nfs3Program::write(const nfs3::WriteArgs& args, Call& call) {
  nfs3::WriteResult result;
  const auto found = object(args.file);
  Status status = found ? Status::ok : found.error();
  if (status == Status::ok && args.count != args.data.size()) status = Status::invalid;
  if (status == Status::ok && args.count > kLargestTransfer) status = Status::invalid;
  if (status == Status::ok && found->attributes.type == FileType::regular &&
      !permits_io(found->attributes, call.caller, AccessMode::write))
    status = Status::access;
  if (status == Status::ok) status = may_change(*found);
  if (status == Status::ok) status = backend_.write(found->node, args.offset, args.data);
  if (status == Status::ok && args.stable != nfs3::StableHow::UNSTABLE)
    status = backend_.commit(found->node);
  result.status = to_nfs3(status);
  result.ok.file_wcc = result.fail.file_wcc = wcc(found);
  result.ok.count = args.count;
  result.ok.committed = args.stable == nfs3::StableHow::UNSTABLE ? nfs3::StableHow::UNSTABLE
                                                                 : nfs3::StableHow::FILE_SYNC;
  result.ok.verf = verifier();
  put(result, call.reply);
}

void Nfs3Program::commit(const nfs3::CommitArgs& args, Call& call) {
  nfs3::CommitResult result;
  const auto found = object(args.file);
  const Status status = found ? backend_.commit(found->node) : found.error();
  result.status = to_nfs3(status);
  result.ok.file_wcc = result.fail.file_wcc = wcc(found);
  result.ok.verf = verifier();
  put(result, call.reply);
}

}  // namespace steertag::peer
