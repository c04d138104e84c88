// Codecs of the MOUNT protocol version 3.
#include "nfs/mount3.h"

namespace steertag::mount3 {

void MntResult::decode(wire::Reader& reader) {
  *this = MntResult{};
  rpc::decode_value(reader, status, "fhs_status", 0);
  if (!reader.ok() || status != Status::MNT3_OK) return;
  rpc::decode_value(reader, fhandle, "fhandle", 0);
  rpc::decode_value(reader, auth_flavors, "auth_flavors", kMostFlavors);
}

void MntResult::encode(wire::Writer& writer) const {
  rpc::encode_value(writer, status);
  if (status != Status::MNT3_OK) return;
  rpc::encode_value(writer, fhandle);
  rpc::encode_value(writer, auth_flavors);
}

STEERTAG_DEFINE_XDR(DirPath)
STEERTAG_DEFINE_XDR(MountBody)
STEERTAG_DEFINE_XDR(MountList)
STEERTAG_DEFINE_XDR(GroupNode)
STEERTAG_DEFINE_XDR(ExportNode)
STEERTAG_DEFINE_XDR(ExportList)

}  // namespace steertag::mount3
