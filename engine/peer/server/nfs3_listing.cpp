// NFS version 3: READDIR and READDIRPLUS.
#include <algorithm>

#include "peer/limits.h"
#include "peer/server/nfs3_convert.h"
#include "peer/server/nfs3_program.h"
#include "peer/server/permission.h"

namespace steertag::peer {
namespace {

constexpr std::size_t kAttributesBytes = 4 + 84;  // a present post_op_attr
// READDIR3resok without entries: attributes, verifier, end of list, eof.
constexpr std::size_t kListingBytes = kAttributesBytes + nfs3::kVerifierOctets + 4 + 4;

std::size_t entry_bytes(std::string_view name) {
  return 4 + 8 + 4 + wire::roundup4(name.size()) + 8;
}

/// What READDIRPLUS adds to an entry.
constexpr std::size_t kPlusBytes = kAttributesBytes + 4 + 4 + kHandleBytes;

void fail(Status status, nfs3::PostOpAttr attributes, ReplyPayload& reply) {
  nfs3::ReaddirResult result;  // READDIRPLUS fails with the same arm
  result.status = to_nfs3(status);
  result.fail.dir_attributes = std::move(attributes);
  wire::Writer writer(reply.stream());
  result.encode(writer);
}

/// How much a listing may hold (RFC 1813 3.3.16, 3.3.17).
struct ListingLimits {
  std::size_t names_bytes = 0;  // dircount: entries without attributes and handles
  std::size_t total_bytes = 0;  // count or maxcount: the whole resok
};

/// Writes entries until a limit is reached.
class ListingWriter {
 public:
  ListingWriter(ReplyPayload& reply, const ListingLimits& limits)
      : writer_(reply.stream()), limits_(limits), total_bytes_(kListingBytes) {}

  /// False when the entry does not fit any more.
  bool begin(const DirectoryEntry& entry, std::size_t plus_bytes) {
    const std::size_t bytes = entry_bytes(entry.name);
    if (total_bytes_ + bytes + plus_bytes > limits_.total_bytes) return false;
    if (entries_ > 0 && names_bytes_ + bytes > limits_.names_bytes) return false;
    total_bytes_ += bytes + plus_bytes;
    names_bytes_ += bytes;
    ++entries_;
    writer_.boolean(true);
    writer_.u64(entry.node);
    writer_.string(entry.name);
    writer_.u64(entry.cookie);
    return true;
  }
  void end(bool eof) {
    writer_.boolean(false);
    writer_.boolean(eof);
  }
  std::size_t entries() const { return entries_; }
  wire::Writer& writer() { return writer_; }

 private:
  wire::Writer writer_;
  ListingLimits limits_;
  std::size_t total_bytes_;
  std::size_t names_bytes_ = 0;
  std::size_t entries_ = 0;
};

Status check_listing(const Attributes& directory, const Caller& caller, std::uint64_t cookie,
                     const nfs3::Verifier& given, const nfs3::Verifier& ours) {
  if (directory.type != FileType::directory) return Status::not_directory;
  if (!permits(directory, caller, Want::read)) return Status::access;
  if (cookie != 0 && given != ours) return Status::bad_cookie;
  return Status::ok;
}

}  // namespace

void Nfs3Program::readdir(const nfs3::ReaddirArgs& args, Call& call) {
  const auto found = object(args.dir);
  if (!found) return fail(found.error(), std::nullopt, call.reply);
  // Cookies never change their meaning, so one verifier serves as long as the server runs.
  const nfs3::Verifier ours = verifier();
  const Status status =
      check_listing(found->attributes, call.caller, args.cookie, args.cookieverf, ours);
  if (status != Status::ok) return fail(status, after(found->node), call.reply);

  const std::size_t start = call.reply.stream().size();
  wire::Writer writer(call.reply.stream());
  rpc::encode_value(writer, nfs3::Status::NFS3_OK);
  rpc::encode_value(writer, after(found->node));
  rpc::encode_value(writer, ours);
  const std::size_t limit = std::min<std::size_t>(args.count, kLargestTransfer);
  ListingWriter listing(call.reply, {limit, limit});
  const auto complete = backend_.list(found->node, args.cookie, [&](const DirectoryEntry& entry) {
    return listing.begin(entry, 0);
  });
  if (complete && (*complete || listing.entries() > 0)) return listing.end(*complete);
  call.reply.rewind(start);
  fail(complete ? Status::too_small : complete.error(), after(found->node), call.reply);
}

void Nfs3Program::readdirplus(const nfs3::ReaddirplusArgs& args, Call& call) {
  const auto found = object(args.dir);
  if (!found) return fail(found.error(), std::nullopt, call.reply);
  const nfs3::Verifier ours = verifier();
  const Status status =
      check_listing(found->attributes, call.caller, args.cookie, args.cookieverf, ours);
  if (status != Status::ok) return fail(status, after(found->node), call.reply);

  const std::size_t start = call.reply.stream().size();
  wire::Writer writer(call.reply.stream());
  rpc::encode_value(writer, nfs3::Status::NFS3_OK);
  rpc::encode_value(writer, after(found->node));
  rpc::encode_value(writer, ours);
  ListingWriter listing(call.reply,
                        {args.dircount, std::min<std::size_t>(args.maxcount, kLargestTransfer)});
  const auto complete = backend_.list(found->node, args.cookie, [&](const DirectoryEntry& entry) {
    if (!listing.begin(entry, kPlusBytes)) return false;
    rpc::encode_value(listing.writer(), after(entry.node));
    rpc::encode_value(listing.writer(), nfs3::PostOpHandle(handle(entry.node)));
    return true;
  });
  if (complete && (*complete || listing.entries() > 0)) return listing.end(*complete);
  call.reply.rewind(start);
  fail(complete ? Status::too_small : complete.error(), after(found->node), call.reply);
}

}  // namespace steertag::peer
