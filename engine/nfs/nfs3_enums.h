// The enumerations of NFS version 3 (RFC 1813 2.5, 2.6, 3.3) with their names in the RFC.
#pragma once

#include <cstdint>
#include <span>

#include "rpc/fields.h"

namespace steertag::nfs3 {

/// nfsstat3
enum class Status : std::uint32_t {
  NFS3_OK = 0,
  NFS3ERR_PERM = 1,
  NFS3ERR_NOENT = 2,
  NFS3ERR_IO = 5,
  NFS3ERR_NXIO = 6,
  NFS3ERR_ACCES = 13,
  NFS3ERR_EXIST = 17,
  NFS3ERR_XDEV = 18,
  NFS3ERR_NODEV = 19,
  NFS3ERR_NOTDIR = 20,
  NFS3ERR_ISDIR = 21,
  NFS3ERR_INVAL = 22,
  NFS3ERR_FBIG = 27,
  NFS3ERR_NOSPC = 28,
  NFS3ERR_ROFS = 30,
  NFS3ERR_MLINK = 31,
  NFS3ERR_NAMETOOLONG = 63,
  NFS3ERR_NOTEMPTY = 66,
  NFS3ERR_DQUOT = 69,
  NFS3ERR_STALE = 70,
  NFS3ERR_REMOTE = 71,
  NFS3ERR_BADHANDLE = 10001,
  NFS3ERR_NOT_SYNC = 10002,
  NFS3ERR_BAD_COOKIE = 10003,
  NFS3ERR_NOTSUPP = 10004,
  NFS3ERR_TOOSMALL = 10005,
  NFS3ERR_SERVERFAULT = 10006,
  NFS3ERR_BADTYPE = 10007,
  NFS3ERR_JUKEBOX = 10008,
};
inline constexpr rpc::Named<Status> kStatusNames[] = {
    {Status::NFS3_OK, "NFS3_OK"},
    {Status::NFS3ERR_PERM, "NFS3ERR_PERM"},
    {Status::NFS3ERR_NOENT, "NFS3ERR_NOENT"},
    {Status::NFS3ERR_IO, "NFS3ERR_IO"},
    {Status::NFS3ERR_NXIO, "NFS3ERR_NXIO"},
    {Status::NFS3ERR_ACCES, "NFS3ERR_ACCES"},
    {Status::NFS3ERR_EXIST, "NFS3ERR_EXIST"},
    {Status::NFS3ERR_XDEV, "NFS3ERR_XDEV"},
    {Status::NFS3ERR_NODEV, "NFS3ERR_NODEV"},
    {Status::NFS3ERR_NOTDIR, "NFS3ERR_NOTDIR"},
    {Status::NFS3ERR_ISDIR, "NFS3ERR_ISDIR"},
    {Status::NFS3ERR_INVAL, "NFS3ERR_INVAL"},
    {Status::NFS3ERR_FBIG, "NFS3ERR_FBIG"},
    {Status::NFS3ERR_NOSPC, "NFS3ERR_NOSPC"},
    {Status::NFS3ERR_ROFS, "NFS3ERR_ROFS"},
    {Status::NFS3ERR_MLINK, "NFS3ERR_MLINK"},
    {Status::NFS3ERR_NAMETOOLONG, "NFS3ERR_NAMETOOLONG"},
    {Status::NFS3ERR_NOTEMPTY, "NFS3ERR_NOTEMPTY"},
    {Status::NFS3ERR_DQUOT, "NFS3ERR_DQUOT"},
    {Status::NFS3ERR_STALE, "NFS3ERR_STALE"},
    {Status::NFS3ERR_REMOTE, "NFS3ERR_REMOTE"},
    {Status::NFS3ERR_BADHANDLE, "NFS3ERR_BADHANDLE"},
    {Status::NFS3ERR_NOT_SYNC, "NFS3ERR_NOT_SYNC"},
    {Status::NFS3ERR_BAD_COOKIE, "NFS3ERR_BAD_COOKIE"},
    {Status::NFS3ERR_NOTSUPP, "NFS3ERR_NOTSUPP"},
    {Status::NFS3ERR_TOOSMALL, "NFS3ERR_TOOSMALL"},
    {Status::NFS3ERR_SERVERFAULT, "NFS3ERR_SERVERFAULT"},
    {Status::NFS3ERR_BADTYPE, "NFS3ERR_BADTYPE"},
    {Status::NFS3ERR_JUKEBOX, "NFS3ERR_JUKEBOX"},
};
constexpr std::span<const rpc::Named<Status>> names_of(Status) {
  return kStatusNames;
}

/// ftype3
enum class FileType : std::uint32_t {
  NF3REG = 1,
  NF3DIR = 2,
  NF3BLK = 3,
  NF3CHR = 4,
  NF3LNK = 5,
  NF3SOCK = 6,
  NF3FIFO = 7,
};
inline constexpr rpc::Named<FileType> kFileTypeNames[] = {
    {FileType::NF3REG, "NF3REG"},   {FileType::NF3DIR, "NF3DIR"}, {FileType::NF3BLK, "NF3BLK"},
    {FileType::NF3CHR, "NF3CHR"},   {FileType::NF3LNK, "NF3LNK"}, {FileType::NF3SOCK, "NF3SOCK"},
    {FileType::NF3FIFO, "NF3FIFO"},
};
constexpr std::span<const rpc::Named<FileType>> names_of(FileType) {
  return kFileTypeNames;
}

/// time_how
enum class TimeHow : std::uint32_t {
  DONT_CHANGE = 0,
  SET_TO_SERVER_TIME = 1,
  SET_TO_CLIENT_TIME = 2,
};
inline constexpr rpc::Named<TimeHow> kTimeHowNames[] = {
    {TimeHow::DONT_CHANGE, "DONT_CHANGE"},
    {TimeHow::SET_TO_SERVER_TIME, "SET_TO_SERVER_TIME"},
    {TimeHow::SET_TO_CLIENT_TIME, "SET_TO_CLIENT_TIME"},
};
constexpr std::span<const rpc::Named<TimeHow>> names_of(TimeHow) {
  return kTimeHowNames;
}

/// stable_how
enum class StableHow : std::uint32_t {
  UNSTABLE = 0,
  DATA_SYNC = 1,
  FILE_SYNC = 2,
};
inline constexpr rpc::Named<StableHow> kStableHowNames[] = {
    {StableHow::UNSTABLE, "UNSTABLE"},
    {StableHow::DATA_SYNC, "DATA_SYNC"},
    {StableHow::FILE_SYNC, "FILE_SYNC"},
};
constexpr std::span<const rpc::Named<StableHow>> names_of(StableHow) {
  return kStableHowNames;
}

/// createmode3
enum class CreateMode : std::uint32_t {
  UNCHECKED = 0,
  GUARDED = 1,
  EXCLUSIVE = 2,
};
inline constexpr rpc::Named<CreateMode> kCreateModeNames[] = {
    {CreateMode::UNCHECKED, "UNCHECKED"},
    {CreateMode::GUARDED, "GUARDED"},
    {CreateMode::EXCLUSIVE, "EXCLUSIVE"},
};
constexpr std::span<const rpc::Named<CreateMode>> names_of(CreateMode) {
  return kCreateModeNames;
}

}  // namespace steertag::nfs3
