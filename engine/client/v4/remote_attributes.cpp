// Attributes of version 4 as a client sees them.
#include "client/v4/remote_attributes.h"

#include "nfs/v4/attribute_numbers.h"

namespace steertag::peer {
namespace {

RemoteType type_of(nfs4::FileType type) {
  switch (type) {
    case nfs4::FileType::NF4ATTRDIR:
      return RemoteType::directory;
    case nfs4::FileType::NF4NAMEDATTR:
      return RemoteType::regular;
    default:
      return static_cast<RemoteType>(type);  // the numbers of ftype3
  }
}

}  // namespace

nfs4::Bitmap object_attributes() {
  using namespace nfs4;
  return Bitmap::of({FATTR4_TYPE, FATTR4_SIZE, FATTR4_MODE, FATTR4_NUMLINKS, FATTR4_OWNER,
                     FATTR4_OWNER_GROUP, FATTR4_SPACE_USED, FATTR4_TIME_MODIFY});
}

nfs4::Bitmap entry_attributes() {
  using namespace nfs4;
  return object_attributes() | Bitmap::of({FATTR4_RDATTR_ERROR, FATTR4_FILEHANDLE});
}

nfs4::Bitmap name_attributes() {
  // RFC 8881 18.23.3: without it an entry that has no attributes fails the whole READDIR.
  return nfs4::Bitmap::of({nfs4::FATTR4_RDATTR_ERROR});
}

nfs4::Bitmap limit_attributes() {
  return nfs4::Bitmap::of({nfs4::FATTR4_LEASE_TIME, nfs4::FATTR4_MAXREAD, nfs4::FATTR4_MAXWRITE});
}

RemoteAttributes from_nfs4(const nfs4::Attributes& from) {
  RemoteAttributes attributes;
  if (from.type) attributes.type = type_of(*from.type);
  attributes.mode = from.mode.value_or(0) & 07777;  // RFC 8881 6.2.4: the rest is not defined
  attributes.links = from.numlinks.value_or(1);
  attributes.owner = from.owner.value_or("");
  attributes.group = from.owner_group.value_or("");
  attributes.size = from.size.value_or(0);
  attributes.used = from.space_used.value_or(attributes.size);
  if (from.time_modify) {
    attributes.modified_s = from.time_modify->seconds;
    attributes.modified_ns = from.time_modify->nseconds;
  }
  return attributes;
}

Expected<nfs4::Attributes, FileError> typed(const nfs4::Fattr& fattr, std::string_view what) {
  auto decoded = nfs4::decode_attributes(fattr);
  if (decoded) return std::move(decoded->known);
  return tl::unexpected(FileError{
      FileErrc::bad_results, std::string(what) + ": " + decoded.error().message(), 0, {}});
}

Expected<RemoteAttributes, FileError> take_attributes(CompoundReply& reply) {
  const auto attributes = reply.next<nfs4::GetattrResult>(nfs4::Opnum::OP_GETATTR);
  if (!attributes) return tl::unexpected(attributes.error());
  const auto values = typed(attributes->resok4.obj_attributes, "GETATTR");
  if (!values) return tl::unexpected(values.error());
  return from_nfs4(*values);
}

Expected<RemoteObject, FileError> take_object(CompoundReply& reply) {
  const auto handle = reply.next<nfs4::GetfhResult>(nfs4::Opnum::OP_GETFH);
  if (!handle) return tl::unexpected(handle.error());
  auto attributes = take_attributes(reply);
  if (!attributes) return tl::unexpected(std::move(attributes.error()));
  return RemoteObject{RemoteHandle(handle->resok4.object.view()), std::move(*attributes)};
}

}  // namespace steertag::peer
