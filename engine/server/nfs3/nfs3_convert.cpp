// Conversions between the storage's values and the types of NFS version 3.
#include "server/nfs3/nfs3_convert.h"

namespace steertag::peer {
namespace {

std::uint32_t type_bits(FileType type) {
  switch (type) {
    case FileType::regular:
      return 0100000;
    case FileType::directory:
      return 0040000;
    case FileType::block:
      return 0060000;
    case FileType::character:
      return 0020000;
    case FileType::link:
      return 0120000;
    case FileType::socket:
      return 0140000;
    case FileType::fifo:
      return 0010000;
  }
  return 0;
}

TimeChange from_nfs3(const nfs3::SetTime& time) {
  TimeChange change;
  if (time.set_it == nfs3::TimeHow::SET_TO_SERVER_TIME) change.to_server_time = true;
  if (time.set_it == nfs3::TimeHow::SET_TO_CLIENT_TIME)
    change.to = Time{time.time.seconds, time.time.nseconds};
  return change;
}

}  // namespace

nfs3::Status to_nfs3(Status status) {
  return static_cast<nfs3::Status>(status);  // the same numbers, see Status
}

nfs3::Time to_nfs3(const Time& time) {
  return {static_cast<std::uint32_t>(time.seconds), time.nanoseconds};
}

nfs3::Fattr to_nfs3(const Attributes& attributes) {
  nfs3::Fattr to;
  to.type = static_cast<nfs3::FileType>(attributes.type);
  to.mode = attributes.mode | type_bits(attributes.type);
  to.nlink = attributes.link_count;
  to.uid = attributes.uid;
  to.gid = attributes.gid;
  to.size = attributes.size_bytes;
  to.used = attributes.used_bytes;
  to.rdev = {attributes.device.major, attributes.device.minor};
  to.fsid = attributes.filesystem_id;
  to.fileid = attributes.file_id;
  to.atime = to_nfs3(attributes.atime);
  to.mtime = to_nfs3(attributes.mtime);
  to.ctime = to_nfs3(attributes.ctime);
  return to;
}

nfs3::WccAttr to_wcc(const Attributes& attributes) {
  return {attributes.size_bytes, to_nfs3(attributes.mtime), to_nfs3(attributes.ctime)};
}

AttributeChange from_nfs3(const nfs3::Sattr& attributes) {
  return {attributes.mode,
          attributes.uid,
          attributes.gid,
          attributes.size,
          from_nfs3(attributes.atime),
          from_nfs3(attributes.mtime)};
}

}  // namespace steertag::peer
