// Codecs of the arguments of NFS version 3.
#include "nfs/nfs3_args.h"

namespace steertag::nfs3 {

void CreateHow::decode(wire::Reader& reader) {
  *this = CreateHow{};
  rpc::decode_value(reader, mode, "mode", 0);
  if (!reader.ok()) return;
  if (mode == CreateMode::EXCLUSIVE) {
    rpc::decode_value(reader, verf, "verf", 0);
  } else {
    obj_attributes.decode(reader);
  }
}

void CreateHow::encode(wire::Writer& writer) const {
  rpc::encode_value(writer, mode);
  switch (mode) {
    case CreateMode::UNCHECKED:
    case CreateMode::GUARDED:
      obj_attributes.encode(writer);
      return;
    case CreateMode::EXCLUSIVE:
      rpc::encode_value(writer, verf);
      return;
  }
  // A mode that is no enumerator has no arm.
}

namespace {

bool has_attributes(FileType type) {
  return type == FileType::NF3CHR || type == FileType::NF3BLK || type == FileType::NF3SOCK ||
         type == FileType::NF3FIFO;
}

bool is_device(FileType type) {
  return type == FileType::NF3CHR || type == FileType::NF3BLK;
}

}  // namespace

void MknodData::decode(wire::Reader& reader) {
  *this = MknodData{};
  rpc::decode_value(reader, type, "type", 0);
  if (!reader.ok()) return;
  if (has_attributes(type)) attributes.decode(reader);
  if (is_device(type)) spec.decode(reader);
}

void MknodData::encode(wire::Writer& writer) const {
  rpc::encode_value(writer, type);
  if (has_attributes(type)) attributes.encode(writer);
  if (is_device(type)) spec.encode(writer);
}

STEERTAG_DEFINE_XDR(GetattrArgs)
STEERTAG_DEFINE_XDR(SetattrArgs)
STEERTAG_DEFINE_XDR(LookupArgs)
STEERTAG_DEFINE_XDR(AccessArgs)
STEERTAG_DEFINE_XDR(ReadlinkArgs)
STEERTAG_DEFINE_XDR(ReadArgs)
STEERTAG_DEFINE_XDR(WriteArgs)
STEERTAG_DEFINE_XDR(CreateArgs)
STEERTAG_DEFINE_XDR(MkdirArgs)
STEERTAG_DEFINE_XDR(SymlinkData)
STEERTAG_DEFINE_XDR(SymlinkArgs)
STEERTAG_DEFINE_XDR(MknodArgs)
STEERTAG_DEFINE_XDR(RemoveArgs)
STEERTAG_DEFINE_XDR(RenameArgs)
STEERTAG_DEFINE_XDR(LinkArgs)
STEERTAG_DEFINE_XDR(ReaddirArgs)
STEERTAG_DEFINE_XDR(ReaddirplusArgs)
STEERTAG_DEFINE_XDR(FsstatArgs)
STEERTAG_DEFINE_XDR(PathconfArgs)
STEERTAG_DEFINE_XDR(CommitArgs)

}  // namespace steertag::nfs3
