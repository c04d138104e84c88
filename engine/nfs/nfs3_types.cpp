// Codecs of the shared types of NFS version 3.
#include "nfs/nfs3_types.h"

namespace steertag::nfs3 {

bool FileHandle::assign(View octets) {
  if (octets.size() > kCapacity) return false;
  std::copy(octets.begin(), octets.end(), octets_.begin());
  size_ = octets.size();
  return true;
}

bool FileHandle::operator==(const FileHandle& other) const {
  return std::ranges::equal(view(), other.view());
}

void SetTime::decode(wire::Reader& reader) {
  *this = SetTime{};
  rpc::decode_value(reader, set_it, "set_it", 0);
  if (reader.ok() && set_it == TimeHow::SET_TO_CLIENT_TIME) time.decode(reader);
}

void SetTime::encode(wire::Writer& writer) const {
  rpc::encode_value(writer, set_it);
  if (set_it == TimeHow::SET_TO_CLIENT_TIME) time.encode(writer);
}

STEERTAG_DEFINE_XDR(SpecData)
STEERTAG_DEFINE_XDR(Time)
STEERTAG_DEFINE_XDR(Fattr)
STEERTAG_DEFINE_XDR(WccAttr)
STEERTAG_DEFINE_XDR(WccData)
STEERTAG_DEFINE_XDR(Sattr)
STEERTAG_DEFINE_XDR(DirOpArgs)

}  // namespace steertag::nfs3
