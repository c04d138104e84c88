// NFS version 3: READDIR and READDIRPLUS.
#include <algorithm>

#include "endpoint/limits.h"
#include "server/nfs3/nfs3_convert.h"
#include "server/nfs3/nfs3_program.h"
#include "server/storage/permission.h"

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
  put(result, reply);
}

/// Writes entries until a limit is reached.
class ListingWriter {
 public:
  ListingWriter(ReplyPayload& reply, std::uint32_t most_names_bytes, std::uint32_t most_bytes)
      : writer_(reply.stream()), most_names_bytes_(most_names_bytes), most_bytes_(most_bytes) {}

  /// False when the entry does not fit any more.
  bool begin(const DirectoryEntry& entry, std::size_t plus_bytes) {
    const std::size_t bytes = entry_bytes(entry.name);
    if (total_bytes_ + bytes + plus_bytes > most_bytes_) return false;
    if (entries_ > 0 && names_bytes_ + bytes > most_names_bytes_) return false;
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
  std::size_t most_names_bytes_;
  std::size_t most_bytes_;
  std::size_t total_bytes_ = kListingBytes;
  std::size_t names_bytes_ = 0;
  std::size_t entries_ = 0;
};

Status check_listing(const Attributes& directory, const Caller& caller, std::uint64_t cookie,
                     const nfs3::Verifier& given, const nfs3::Verifier& ours) {
  if (directory.type != FileType::directory) return Status::not_directory;
  if (!permits(directory, caller, AccessMode::read)) return Status::access;
  // Clients that keep no verifier send zeros, which is none of ours.
  const bool has_verifier = given != nfs3::Verifier{};
  if (cookie != 0 && has_verifier && given != ours) return Status::bad_cookie;
  return Status::ok;
}

}  // namespace

void Nfs3Program::list(const Listing& wanted, Call& call) {
  const auto found = object(wanted.dir);
  if (!found) return fail(found.error(), std::nullopt, call.reply);
  nfs3::Verifier ours;
  wire::store_u64(ours.data(), backend_.cookie_verifier());
  const Status status =
      check_listing(found->attributes, call.caller, wanted.cookie, wanted.cookieverf, ours);
  if (status != Status::ok) return fail(status, after(found->node), call.reply);

  const std::size_t start = call.reply.stream().size();
  wire::Writer writer(call.reply.stream());
  rpc::encode_value(writer, nfs3::Status::NFS3_OK);
  rpc::encode_value(writer, after(found->node));
  rpc::encode_value(writer, ours);
  // RFC 1813 3.3.17: whom LOOKUP refuses a name must not get its handle and attributes here.
  const bool may_look_up = permits(found->attributes, call.caller, AccessMode::execute);
  ListingWriter listing(call.reply, wanted.most_names_bytes,
                        std::min(wanted.most_bytes, kLargestListing));
  const auto complete = backend_.list(found->node, wanted.cookie, [&](const DirectoryEntry& entry) {
    if (!listing.begin(entry, wanted.plus ? kPlusBytes : 0)) return false;
    if (!wanted.plus) return true;
    const nfs3::PostOpAttr attributes = may_look_up ? after(entry.node) : std::nullopt;
    nfs3::PostOpHandle its_handle;  // none of what cannot be reached, such as a mount point
    if (attributes) its_handle = handle(entry.node);
    rpc::encode_value(listing.writer(), attributes);
    rpc::encode_value(listing.writer(), its_handle);
    return true;
  });
  if (complete && (*complete || listing.entries() > 0)) return listing.end(*complete);
  call.reply.rewind(start);
  fail(complete ? Status::too_small : complete.error(), after(found->node), call.reply);
}

void Nfs3Program::readdir(const nfs3::ReaddirArgs& args, Call& call) {
  list({args.dir, args.cookie, args.cookieverf, args.count, args.count, false}, call);
}

void Nfs3Program::readdirplus(const nfs3::ReaddirplusArgs& args, Call& call) {
  list({args.dir, args.cookie, args.cookieverf, args.dircount, args.maxcount, true}, call);
}

}  // namespace steertag::peer
