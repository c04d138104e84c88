// READDIR: entries with their attributes, within the limits that the client sets.
#include <algorithm>

#include "endpoint/limits.h"
#include "nfs/v4/attribute_codec.h"
#include "server/storage/entry_name.h"
#include "server/storage/permission.h"
#include "server/v4/attribute_values.h"
#include "server/v4/directory_access.h"
#include "server/v4/file_operations.h"
#include "server/v4/status_map.h"
#include "wire/xdr.h"

namespace steertag::peer {
namespace {

// READDIR4resok without entries: verifier, end of the chain, eof.
constexpr std::size_t kListingBytes = nfs4::kVerifierOctets + 4 + 4;

nfs4::Verifier cookie_verifier(const CompoundCall& call) {
  nfs4::Verifier verifier;
  wire::store_u64(verifier.data(), call.storage.cookie_verifier());
  return verifier;
}

/// Encodes the entries of one READDIR into the call's scratch. `store` makes a result whose values
/// point into the scratch, which must not grow after that.
class ReaddirEncoder {
 public:
  ReaddirEncoder(const nfs4::ReaddirArgs& args, const Object& directory, CompoundCall& call)
      : args_(args),
        call_(call),
        may_look_up_(check_search(directory, call) == nfs4::Status::NFS4_OK),
        values_(call, args.attr_request),
        writer_(call.scratch) {
    client_limit_ = std::min<std::size_t>(args.maxcount, kLargestListing);
    most_bytes_ = client_limit_;
    // What the channel cannot take had to be answered with NFS4ERR_REP_TOO_BIG.
    if (call.slot)
      most_bytes_ = std::min(most_bytes_, room_for_result(call, reply_limit(*call.slot)));
  }

  /// False when the entry does not fit, or on an error (`status`).
  bool add(const DirectoryEntry& entry) {
    if (is_dots(entry.name)) return true;
    // Whom LOOKUP refuses a name must not get filehandle and attributes of its object here.
    const Result<Attributes> attributes =
        may_look_up_ ? call_.storage.attributes(entry.node) : tl::unexpected(Status::access);
    const bool gone = !attributes && (attributes.error() == Status::no_entry ||
                                      attributes.error() == Status::stale);
    if (gone) return true;  // removed meanwhile
    if (!attributes && args_.attr_request.none()) return encode(entry, {}, {});
    if (!attributes && !args_.attr_request.test(nfs4::FATTR4_RDATTR_ERROR)) {
      status_ = to_nfs4(attributes.error());
      return false;
    }
    return attributes ? encode(entry, values_.of({entry.node, *attributes}), args_.attr_request)
                      : encode_error(entry, attributes.error());
  }

  nfs4::Status status() const { return status_; }
  /// Why there is not even one entry. RFC 8881 18.23.3: NFS4ERR_TOOSMALL is about maxcount alone;
  /// 2.10.6.4 has another error for each limit of the channel.
  nfs4::Status too_small() const {
    if (first_bytes_ > client_limit_) return nfs4::Status::NFS4ERR_TOOSMALL;
    return first_bytes_ > room_for_result(call_, call_.slot->maxresponsesize)
               ? nfs4::Status::NFS4ERR_REP_TOO_BIG
               : nfs4::Status::NFS4ERR_REP_TOO_BIG_TO_CACHE;
  }
  std::size_t size() const { return places_.size(); }

  void store(nfs4::ReaddirOk& result) const {
    const View octets = call_.scratch;
    const auto* text = reinterpret_cast<const char*>(octets.data());
    result.entries.items.reserve(places_.size());
    for (const Place& place : places_) {
      nfs4::Entry& entry = result.entries.items.emplace_back();
      entry.cookie = place.cookie;
      entry.name = {text + place.name_at, place.name_bytes};
      entry.attrs = {place.mask, octets.subspan(place.values_at, place.values_bytes)};
    }
  }

 private:
  struct Place {
    std::uint64_t cookie = 0;
    std::size_t name_at = 0;
    std::size_t name_bytes = 0;
    std::size_t values_at = 0;
    std::size_t values_bytes = 0;
    nfs4::Bitmap mask;
  };

  /// RFC 8881 18.23.3: an entry whose attributes cannot be had tells why.
  bool encode_error(const DirectoryEntry& entry, Status error) {
    nfs4::Attributes values;
    values.rdattr_error = to_nfs4(error);
    return encode(entry, values, nfs4::Bitmap::of({nfs4::FATTR4_RDATTR_ERROR}));
  }

  bool encode(const DirectoryEntry& entry, const nfs4::Attributes& values,
              const nfs4::Bitmap& wanted) {
    const std::size_t start = call_.scratch.size();
    writer_.raw(std::as_bytes(std::span(entry.name)));
    const std::size_t fattr_at = writer_.size();
    Place place{entry.cookie, start, entry.name.size(), 0, 0, {}};
    place.mask = nfs4::encode_attributes(writer_, values, wanted);
    place.values_at = fattr_at + 4 + 4 * place.mask.size() + 4;
    place.values_bytes = writer_.size() - place.values_at;
    const std::size_t name_bytes = 8 + 4 + wire::roundup4(entry.name.size());
    const std::size_t bytes = 4 + name_bytes + (writer_.size() - fattr_at);
    const bool fits = total_bytes_ + bytes <= most_bytes_;
    if (places_.empty()) first_bytes_ = total_bytes_ + bytes;
    // RFC 8881 18.23.3: dircount is a hint, zero none at all.
    const bool hinted =
        args_.dircount == 0 || places_.empty() || names_bytes_ + name_bytes <= args_.dircount;
    if (!fits || !hinted) {
      call_.scratch.resize(start);
      return false;
    }
    total_bytes_ += bytes;
    names_bytes_ += name_bytes;
    places_.push_back(place);
    return true;
  }

  const nfs4::ReaddirArgs& args_;
  CompoundCall& call_;
  bool may_look_up_;
  AttributeValues values_;
  wire::Writer writer_;
  std::vector<Place> places_;
  std::size_t client_limit_ = 0;  // of the result, what the client has room for
  std::size_t most_bytes_ = 0;    // the same with what the channel has room for
  std::size_t first_bytes_ = 0;   // of a result with the first entry alone
  std::size_t total_bytes_ = kListingBytes;
  std::size_t names_bytes_ = 0;
  nfs4::Status status_ = nfs4::Status::NFS4_OK;
};

nfs4::Status check_listing(const nfs4::ReaddirArgs& args, const Object& directory,
                           const CompoundCall& call) {
  if (directory.attributes.type != FileType::directory) return nfs4::Status::NFS4ERR_NOTDIR;
  if (!permits(directory.attributes, call.context.caller, AccessMode::read))
    return nfs4::Status::NFS4ERR_ACCESS;
  // RFC 8881 18.23.3 reserves both; "." and "..", which are not listed, have them.
  if (args.cookie == 1 || args.cookie == 2) return nfs4::Status::NFS4ERR_BAD_COOKIE;
  // Clients that keep no verifier send zeros, which is none of ours. Whether an old cookie still
  // has its meaning is then theirs to know.
  const bool has_verifier = args.cookieverf != nfs4::Verifier{};
  if (args.cookie != 0 && has_verifier && args.cookieverf != cookie_verifier(call))
    return nfs4::Status::NFS4ERR_NOT_SAME;
  // Not even an empty listing fits.
  if (args.maxcount < kListingBytes) return nfs4::Status::NFS4ERR_TOOSMALL;
  const auto unreadable =
      nfs4::Bitmap::of({nfs4::FATTR4_TIME_ACCESS_SET, nfs4::FATTR4_TIME_MODIFY_SET});
  if (!(args.attr_request & unreadable).none()) return nfs4::Status::NFS4ERR_INVAL;
  return nfs4::Status::NFS4_OK;
}

}  // namespace

void op_readdir(const nfs4::ReaddirArgs& args, CompoundCall& call, nfs4::ReaddirResult& result) {
  const auto directory = current_object(call);
  result.status = directory ? check_listing(args, *directory, call) : directory.error();
  if (result.status != nfs4::Status::NFS4_OK) return;
  ReaddirEncoder encoder(args, *directory, call);
  const auto complete =
      call.storage.list(directory->node, args.cookie,
                        [&](const DirectoryEntry& entry) { return encoder.add(entry); });
  result.status = complete ? encoder.status() : to_nfs4(complete.error());
  if (result.status != nfs4::Status::NFS4_OK) return;
  if (!*complete && encoder.size() == 0) {
    result.status = encoder.too_small();
    return;
  }
  result.resok4.cookieverf = cookie_verifier(call);
  result.resok4.eof = *complete;
  encoder.store(result.resok4);
}

}  // namespace steertag::peer
