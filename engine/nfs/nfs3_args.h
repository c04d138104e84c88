// The arguments of the procedures of NFS version 3 (RFC 1813 3.3).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "nfs/nfs3_types.h"

namespace steertag::nfs3 {

/// GETATTR3args
struct GetattrArgs {
  FileHandle object{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"object", &GetattrArgs::object}};
};

/// SETATTR3args. `guard` is sattrguard3: the ctime that the object must have.
struct SetattrArgs {
  FileHandle object{};
  Sattr new_attributes{};
  std::optional<Time> guard{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"object", &SetattrArgs::object},
                                          Field{"new_attributes", &SetattrArgs::new_attributes},
                                          Field{"guard", &SetattrArgs::guard}};
};

/// LOOKUP3args
struct LookupArgs {
  DirOpArgs what{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"what", &LookupArgs::what}};
};

/// Bits of `access` (RFC 1813 3.3.4).
inline constexpr std::uint32_t ACCESS3_READ = 0x0001;
inline constexpr std::uint32_t ACCESS3_LOOKUP = 0x0002;
inline constexpr std::uint32_t ACCESS3_MODIFY = 0x0004;
inline constexpr std::uint32_t ACCESS3_EXTEND = 0x0008;
inline constexpr std::uint32_t ACCESS3_DELETE = 0x0010;
inline constexpr std::uint32_t ACCESS3_EXECUTE = 0x0020;

/// ACCESS3args
struct AccessArgs {
  FileHandle object{};
  std::uint32_t access = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"object", &AccessArgs::object}, Field{"access", &AccessArgs::access}};
};

/// READLINK3args
struct ReadlinkArgs {
  FileHandle symlink{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"symlink", &ReadlinkArgs::symlink}};
};

/// READ3args
struct ReadArgs {
  FileHandle file{};
  std::uint64_t offset = 0;
  std::uint32_t count = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file", &ReadArgs::file}, Field{"offset", &ReadArgs::offset},
              Field{"count", &ReadArgs::count}};
};

/// WRITE3args. `data` points into the message that was decoded, or into the sender's memory. The
/// protocol has `count` beside the data's own count; cases let the two differ.
struct WriteArgs {
  FileHandle file{};
  std::uint64_t offset = 0;
  std::uint32_t count = 0;
  StableHow stable = StableHow::UNSTABLE;
  View data{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file", &WriteArgs::file}, Field{"offset", &WriteArgs::offset},
              Field{"count", &WriteArgs::count}, Field{"stable", &WriteArgs::stable},
              Field{"data", &WriteArgs::data, kMostDataOctets}};
};

/// createhow3: `obj_attributes` with UNCHECKED and GUARDED, `verf` with EXCLUSIVE.
struct CreateHow {
  CreateMode mode = CreateMode::UNCHECKED;
  Sattr obj_attributes{};
  Verifier verf{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"mode", &CreateHow::mode}, Field{"obj_attributes", &CreateHow::obj_attributes},
              Field{"verf", &CreateHow::verf}};
};

/// CREATE3args
struct CreateArgs {
  DirOpArgs where{};
  CreateHow how{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"where", &CreateArgs::where}, Field{"how", &CreateArgs::how}};
};

/// MKDIR3args
struct MkdirArgs {
  DirOpArgs where{};
  Sattr attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"where", &MkdirArgs::where}, Field{"attributes", &MkdirArgs::attributes}};
};

/// symlinkdata3. The path is the DDP-eligible item of SYMLINK.
struct SymlinkData {
  Sattr symlink_attributes{};
  std::string_view symlink_data{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"symlink_attributes", &SymlinkData::symlink_attributes},
              Field{"symlink_data", &SymlinkData::symlink_data, kMostPathArgumentOctets}};
};

/// SYMLINK3args
struct SymlinkArgs {
  DirOpArgs where{};
  SymlinkData symlink{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"where", &SymlinkArgs::where}, Field{"symlink", &SymlinkArgs::symlink}};
};

/// mknoddata3: `attributes` is pipe_attributes with NF3SOCK and NF3FIFO, dev_attributes with NF3CHR
/// and NF3BLK; `spec` goes with the latter two; other types carry nothing.
struct MknodData {
  FileType type = FileType::NF3FIFO;
  Sattr attributes{};
  SpecData spec{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"type", &MknodData::type}, Field{"attributes", &MknodData::attributes},
              Field{"spec", &MknodData::spec}};
};

/// MKNOD3args
struct MknodArgs {
  DirOpArgs where{};
  MknodData what{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"where", &MknodArgs::where}, Field{"what", &MknodArgs::what}};
};

/// REMOVE3args and RMDIR3args
struct RemoveArgs {
  DirOpArgs object{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"object", &RemoveArgs::object}};
};

using RmdirArgs = RemoveArgs;

/// RENAME3args
struct RenameArgs {
  DirOpArgs from{};
  DirOpArgs to{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"from", &RenameArgs::from}, Field{"to", &RenameArgs::to}};
};

/// LINK3args
struct LinkArgs {
  FileHandle file{};
  DirOpArgs link{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file", &LinkArgs::file}, Field{"link", &LinkArgs::link}};
};

/// READDIR3args
struct ReaddirArgs {
  FileHandle dir{};
  std::uint64_t cookie = 0;
  Verifier cookieverf{};
  std::uint32_t count = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"dir", &ReaddirArgs::dir}, Field{"cookie", &ReaddirArgs::cookie},
              Field{"cookieverf", &ReaddirArgs::cookieverf}, Field{"count", &ReaddirArgs::count}};
};

/// READDIRPLUS3args
struct ReaddirplusArgs {
  FileHandle dir{};
  std::uint64_t cookie = 0;
  Verifier cookieverf{};
  std::uint32_t dircount = 0;
  std::uint32_t maxcount = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"dir", &ReaddirplusArgs::dir}, Field{"cookie", &ReaddirplusArgs::cookie},
      Field{"cookieverf", &ReaddirplusArgs::cookieverf},
      Field{"dircount", &ReaddirplusArgs::dircount}, Field{"maxcount", &ReaddirplusArgs::maxcount}};
};

/// FSSTAT3args and FSINFO3args
struct FsstatArgs {
  FileHandle fsroot{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"fsroot", &FsstatArgs::fsroot}};
};

using FsinfoArgs = FsstatArgs;

/// PATHCONF3args
struct PathconfArgs {
  FileHandle object{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"object", &PathconfArgs::object}};
};

/// COMMIT3args
struct CommitArgs {
  FileHandle file{};
  std::uint64_t offset = 0;
  std::uint32_t count = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file", &CommitArgs::file}, Field{"offset", &CommitArgs::offset},
              Field{"count", &CommitArgs::count}};
};

}  // namespace steertag::nfs3
