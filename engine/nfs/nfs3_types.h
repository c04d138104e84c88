// The data types that the procedures of NFS version 3 share (RFC 1813 2.4, 2.5).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "nfs/nfs3_enums.h"
#include "rpc/fields.h"
#include "support/bytes.h"
#include "wire/xdr.h"

namespace steertag::nfs3 {

using rpc::Chain;
using rpc::Field;
using rpc::Void;

inline constexpr std::uint32_t kProgram = 100003;
inline constexpr std::uint32_t kVersion = 3;

/// NFS3_FHSIZE (RFC 1813 2.4).
inline constexpr std::size_t kMostHandleOctets = 64;
/// Size of cookieverf3, createverf3 and writeverf3 (RFC 1813 2.4).
inline constexpr std::size_t kVerifierOctets = 8;
/// RFC 1813 leaves filename3 and nfspath3 open and gives their limits by PATHCONF. These are the
/// largest that file systems report (NAME_MAX and PATH_MAX of POSIX systems), hence those of
/// results.
inline constexpr std::size_t kMostNameOctets = 255;
inline constexpr std::size_t kMostPathOctets = 4096;
/// Limits of the same in arguments, where a server answers NFS3ERR_NAMETOOLONG (RFC 1813 1.7): so
/// high that it is the server who judges.
inline constexpr std::size_t kMostNameArgumentOctets = 8192;
inline constexpr std::size_t kMostPathArgumentOctets = 65536;
/// Largest READ and WRITE that servers offer in rtmax and wtmax (4 MiB).
inline constexpr std::size_t kMostDataOctets = std::size_t{4} << 20;
/// Most entries of one READDIR or READDIRPLUS: 1 MiB of the smallest entry (28 octets with a name
/// of one octet) is 37449 of them.
inline constexpr std::size_t kMostEntries = 65536;

using Verifier = std::array<std::byte, kVerifierOctets>;

/// nfs_fh3. Holds its octets itself, so that it outlives the message. There is room for more than
/// the protocol allows, because cases send such handles; decoding takes kMostHandleOctets at most.
class FileHandle {
 public:
  static constexpr std::size_t kLimit = kMostHandleOctets;
  static constexpr std::size_t kCapacity = 2 * kMostHandleOctets;

  FileHandle() = default;
  /// Octets beyond kCapacity are cut off.
  explicit FileHandle(View octets) { assign(octets.first(std::min(octets.size(), kCapacity))); }

  View view() const { return View{octets_}.first(size_); }
  std::size_t size() const { return size_; }
  /// False, and unchanged, when there are more octets than kCapacity.
  bool assign(View octets);
  bool operator==(const FileHandle& other) const;

 private:
  std::array<std::byte, kCapacity> octets_{};
  std::size_t size_ = 0;
};

/// specdata3
struct SpecData {
  std::uint32_t specdata1 = 0;
  std::uint32_t specdata2 = 0;

  bool operator==(const SpecData&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"specdata1", &SpecData::specdata1}, Field{"specdata2", &SpecData::specdata2}};
};

/// nfstime3
struct Time {
  std::uint32_t seconds = 0;
  std::uint32_t nseconds = 0;

  bool operator==(const Time&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"seconds", &Time::seconds}, Field{"nseconds", &Time::nseconds}};
};

/// fattr3, 84 octets.
struct Fattr {
  FileType type = FileType::NF3REG;
  std::uint32_t mode = 0;
  std::uint32_t nlink = 0;
  std::uint32_t uid = 0;
  std::uint32_t gid = 0;
  std::uint64_t size = 0;
  std::uint64_t used = 0;
  SpecData rdev{};
  std::uint64_t fsid = 0;
  std::uint64_t fileid = 0;
  Time atime{};
  Time mtime{};
  Time ctime{};

  bool operator==(const Fattr&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"type", &Fattr::type},     Field{"mode", &Fattr::mode},   Field{"nlink", &Fattr::nlink},
      Field{"uid", &Fattr::uid},       Field{"gid", &Fattr::gid},     Field{"size", &Fattr::size},
      Field{"used", &Fattr::used},     Field{"rdev", &Fattr::rdev},   Field{"fsid", &Fattr::fsid},
      Field{"fileid", &Fattr::fileid}, Field{"atime", &Fattr::atime}, Field{"mtime", &Fattr::mtime},
      Field{"ctime", &Fattr::ctime}};
};

/// post_op_attr and post_op_fh3.
using PostOpAttr = std::optional<Fattr>;
using PostOpHandle = std::optional<FileHandle>;

/// wcc_attr
struct WccAttr {
  std::uint64_t size = 0;
  Time mtime{};
  Time ctime{};

  bool operator==(const WccAttr&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"size", &WccAttr::size}, Field{"mtime", &WccAttr::mtime},
              Field{"ctime", &WccAttr::ctime}};
};

/// wcc_data
struct WccData {
  std::optional<WccAttr> before{};
  PostOpAttr after{};

  bool operator==(const WccData&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"before", &WccData::before}, Field{"after", &WccData::after}};
};

/// set_atime and set_mtime: `time` is on the wire only with SET_TO_CLIENT_TIME.
struct SetTime {
  TimeHow set_it = TimeHow::DONT_CHANGE;
  Time time{};

  bool operator==(const SetTime&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"set_it", &SetTime::set_it}, Field{"time", &SetTime::time}};
};

/// sattr3: what is not set stays as it is.
struct Sattr {
  std::optional<std::uint32_t> mode{};
  std::optional<std::uint32_t> uid{};
  std::optional<std::uint32_t> gid{};
  std::optional<std::uint64_t> size{};
  SetTime atime{};
  SetTime mtime{};

  bool operator==(const Sattr&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"mode", &Sattr::mode}, Field{"uid", &Sattr::uid},     Field{"gid", &Sattr::gid},
      Field{"size", &Sattr::size}, Field{"atime", &Sattr::atime}, Field{"mtime", &Sattr::mtime}};
};

/// diropargs3. The name points into the message that was decoded, or into the sender's memory.
struct DirOpArgs {
  FileHandle dir{};
  std::string_view name{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"dir", &DirOpArgs::dir},
                                          Field{"name", &DirOpArgs::name, kMostNameArgumentOctets}};
};

}  // namespace steertag::nfs3
