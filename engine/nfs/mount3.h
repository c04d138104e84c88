// The MOUNT protocol version 3 (RFC 1813 appendix I, section 5).
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "nfs/nfs3_types.h"
#include "rpc/auth.h"
#include "rpc/fields.h"

namespace steertag::mount3 {

using nfs3::FileHandle;
using rpc::Chain;
using rpc::Field;
using rpc::Void;

inline constexpr std::uint32_t kProgram = 100005;
inline constexpr std::uint32_t kVersion = 3;

/// MNTPATHLEN and MNTNAMLEN (RFC 1813 5.1.4).
inline constexpr std::size_t kMostPathOctets = 1024;
inline constexpr std::size_t kMostNameOctets = 255;
/// auth_flavors<> is open in the RFC; IANA has fewer flavours and pseudo-flavours than this.
inline constexpr std::size_t kMostFlavors = 64;
/// The lists of DUMP and EXPORT are open too: far above the largest servers, far below memory.
inline constexpr std::size_t kMostMounts = 65536;
inline constexpr std::size_t kMostExports = 16384;
inline constexpr std::size_t kMostGroups = 4096;

/// mountstat3
enum class Status : std::uint32_t {
  MNT3_OK = 0,
  MNT3ERR_PERM = 1,
  MNT3ERR_NOENT = 2,
  MNT3ERR_IO = 5,
  MNT3ERR_ACCES = 13,
  MNT3ERR_NOTDIR = 20,
  MNT3ERR_INVAL = 22,
  MNT3ERR_NAMETOOLONG = 63,
  MNT3ERR_NOTSUPP = 10004,
  MNT3ERR_SERVERFAULT = 10006,
};
inline constexpr rpc::Named<Status> kStatusNames[] = {
    {Status::MNT3_OK, "MNT3_OK"},
    {Status::MNT3ERR_PERM, "MNT3ERR_PERM"},
    {Status::MNT3ERR_NOENT, "MNT3ERR_NOENT"},
    {Status::MNT3ERR_IO, "MNT3ERR_IO"},
    {Status::MNT3ERR_ACCES, "MNT3ERR_ACCES"},
    {Status::MNT3ERR_NOTDIR, "MNT3ERR_NOTDIR"},
    {Status::MNT3ERR_INVAL, "MNT3ERR_INVAL"},
    {Status::MNT3ERR_NAMETOOLONG, "MNT3ERR_NAMETOOLONG"},
    {Status::MNT3ERR_NOTSUPP, "MNT3ERR_NOTSUPP"},
    {Status::MNT3ERR_SERVERFAULT, "MNT3ERR_SERVERFAULT"},
};
constexpr std::span<const rpc::Named<Status>> names_of(Status) {
  return kStatusNames;
}

/// dirpath, the argument of MNT and UMNT.
struct DirPath {
  std::string_view path{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"path", &DirPath::path, kMostPathOctets}};
};

/// mountres3: handle and flavours are on the wire with MNT3_OK only.
struct MntResult {
  Status status = Status::MNT3_OK;
  FileHandle fhandle{};
  std::vector<rpc::AuthFlavor> auth_flavors{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"status", &MntResult::status}, Field{"fhandle", &MntResult::fhandle},
              Field{"auth_flavors", &MntResult::auth_flavors, kMostFlavors}};
};

/// mountbody
struct MountBody {
  std::string_view hostname{};
  std::string_view directory{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"hostname", &MountBody::hostname, kMostNameOctets},
              Field{"directory", &MountBody::directory, kMostPathOctets}};
};

/// mountlist, the result of DUMP.
struct MountList {
  Chain<MountBody> mounts{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"mounts", &MountList::mounts, kMostMounts}};
};

/// groupnode
struct GroupNode {
  std::string_view name{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"name", &GroupNode::name, kMostNameOctets}};
};

/// exportnode: no groups means everyone.
struct ExportNode {
  std::string_view dir{};
  Chain<GroupNode> groups{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"dir", &ExportNode::dir, kMostPathOctets},
                                          Field{"groups", &ExportNode::groups, kMostGroups}};
};

/// exports, the result of EXPORT.
struct ExportList {
  Chain<ExportNode> exports{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"exports", &ExportList::exports, kMostExports}};
};

}  // namespace steertag::mount3
