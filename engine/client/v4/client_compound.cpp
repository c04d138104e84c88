// Encoding of COMPOUND calls and decoding of their replies.
#include "client/v4/client_compound.h"

#include "nfs/v4/reply_size.h"

namespace steertag::peer {

using nfs4::Opnum;
using nfs4::Status;

void ClientCompound::add_write(const nfs4::WriteArgs& args) {
  nfs4::WriteArgs reduced = args;
  reduced.data = {};
  add(Opnum::OP_WRITE, reduced);
  has_item_ = true;
  item_ = args.data;
}

Request ClientCompound::request(const Identity& identity,
                                const nfs4::SequenceArgs* sequence) const {
  Request request = start_call(nfs4::kProgram, nfs4::kVersion, nfs4::NFSPROC4_COMPOUND, identity);
  wire::Writer writer(request.stream);
  nfs4::CompoundArgs{{}, 1}.encode(writer);
  writer.u32(count_ + (sequence ? 1 : 0));
  if (sequence) {
    writer.u32(static_cast<std::uint32_t>(Opnum::OP_SEQUENCE));
    sequence->encode(writer);
  }
  writer.raw(operations_);
  if (const auto size = nfs4::largest_reply(request.stream)) {
    request.reply.payload = size->payload;
    request.reply.eligible = size->eligible.empty() ? 0 : size->eligible.front();
  }
  if (has_item_) {
    request.has_item = true;
    request.item = item_;
    writer.patch_u32(request.stream.size() - 4, static_cast<std::uint32_t>(item_.size()));
  }
  return request;
}

Expected<CompoundReply, FileError> CompoundReply::of(const CallReply& reply) {
  if (!reply.rpc.success()) {
    const bool unsupported = reply.rpc.status == rpc::ReplyStatus::MSG_ACCEPTED &&
                             (reply.rpc.accept_status == rpc::AcceptStatus::PROG_UNAVAIL ||
                              reply.rpc.accept_status == rpc::AcceptStatus::PROG_MISMATCH);
    if (unsupported)
      return tl::unexpected(FileError{FileErrc::unsupported_version, "version 4", 0, {}});
    return tl::unexpected(
        failed({CallErrc::rpc_error, std::string(refusal(reply.rpc))}, "COMPOUND"));
  }
  CompoundReply made;
  made.reader_ = wire::Reader(reply.results);
  made.item_reduced_ = reply.item_reduced;
  made.item_ = reply.item;
  nfs4::CompoundResult head;
  head.decode(made.reader_);
  made.status_ = head.status;
  made.left_ = made.reader_.u32("resarray");
  if (!made.reader_.ok())
    return tl::unexpected(
        FileError{FileErrc::bad_results, "COMPOUND: " + made.reader_.fault().message(), 0, {}});
  if (made.left_ > 0) return made;
  if (made.status_ == Status::NFS4ERR_MINOR_VERS_MISMATCH)
    return tl::unexpected(FileError{FileErrc::unsupported_version, "version 4.1", 0, {}});
  return tl::unexpected(refused(made.status_, "COMPOUND"));
}

FileError CompoundReply::bad(Opnum number, const std::string& why) {
  return {FileErrc::bad_results, std::string(rpc::name(number)) + ": " + why, 0, {}};
}

std::optional<FileError> CompoundReply::begin(Opnum number) {
  if (left_ == 0) return bad(number, "there is no result");
  --left_;
  const auto found = static_cast<Opnum>(reader_.u32("resop"));
  if (!reader_.ok()) return bad(number, reader_.fault().message());
  if (found != number)
    return bad(number, "there is the result of operation " +
                           std::to_string(static_cast<std::uint32_t>(found)) + " in its place");
  return std::nullopt;
}

Expected<void, FileError> CompoundReply::skip(Opnum number) {
  return nfs4::with_signature(
      number,
      [&]<class Args, class Result>(nfs4::Signature<Args, Result>) -> Expected<void, FileError> {
        const auto result = next<Result>(number);
        if (!result) return tl::unexpected(result.error());
        return {};
      });
}

Expected<void, FileError> CompoundReply::skip(std::initializer_list<Opnum> numbers) {
  for (const Opnum number : numbers) {
    if (auto skipped = skip(number); !skipped) return skipped;
  }
  return {};
}

View CompoundReply::take_item(std::size_t limit) {
  if (!item_reduced_) return reader_.opaque(limit, "data");
  reader_.u32("data");
  return item_;
}

Expected<std::string, FileError> CompoundReply::next_link() {
  if (auto error = begin(Opnum::OP_READLINK)) return tl::unexpected(std::move(*error));
  Status status{};
  rpc::decode_value(reader_, status, "status", 0);
  if (status != Status::NFS4_OK) return tl::unexpected(refused(status, "READLINK"));
  const View link = take_item(nfs4::kMostPathOctets);
  if (!reader_.ok()) return tl::unexpected(bad(Opnum::OP_READLINK, reader_.fault().message()));
  return std::string(reinterpret_cast<const char*>(link.data()), link.size());
}

Expected<ReadOutcome, FileError> CompoundReply::next_read() {
  if (auto error = begin(Opnum::OP_READ)) return tl::unexpected(std::move(*error));
  Status status{};
  rpc::decode_value(reader_, status, "status", 0);
  ReadOutcome outcome;
  if (status == Status::NFS4_OK) {
    outcome.eof = reader_.boolean("eof");
    outcome.data = take_item(nfs4::kMostDataOctets);
  }
  if (!reader_.ok()) return tl::unexpected(bad(Opnum::OP_READ, reader_.fault().message()));
  if (status != Status::NFS4_OK) return tl::unexpected(refused(status, "READ"));
  return outcome;
}

}  // namespace steertag::peer
