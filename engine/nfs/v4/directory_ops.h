// Operations that change or list directories: CREATE, LINK, READDIR, READLINK, REMOVE, RENAME.
#pragma once

#include <cstdint>
#include <string_view>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// createtype4. `linkdata` is a DDP-eligible item (RFC 8267 6.1). A type that CREATE does not make
/// is void here and NFS4ERR_BADTYPE at the server.
struct CreateType {
  FileType type = FileType::NF4DIR;
  std::string_view linkdata{};
  SpecData devdata{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"type", &CreateType::type},
              arm<FileType::NF4LNK>("linkdata", &CreateType::linkdata, kMostPathOctets),
              arm<FileType::NF4BLK, FileType::NF4CHR>("devdata", &CreateType::devdata)};
};

/// CREATE4args
struct CreateArgs {
  CreateType objtype{};
  std::string_view objname{};
  Fattr createattrs{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"objtype", &CreateArgs::objtype},
                                          Field{"objname", &CreateArgs::objname, kMostNameOctets},
                                          Field{"createattrs", &CreateArgs::createattrs}};
};

/// CREATE4resok
struct CreateOk {
  ChangeInfo cinfo{};
  Bitmap attrset{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cinfo", &CreateOk::cinfo}, Field{"attrset", &CreateOk::attrset}};
};

/// LINK4args: the saved filehandle gets a name in the current one.
struct LinkArgs {
  std::string_view newname{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"newname", &LinkArgs::newname, kMostNameOctets}};
};

/// LINK4resok
struct LinkOk {
  ChangeInfo cinfo{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"cinfo", &LinkOk::cinfo}};
};

/// REMOVE4args
struct RemoveArgs {
  std::string_view target{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"target", &RemoveArgs::target, kMostNameOctets}};
};

/// REMOVE4resok
struct RemoveOk {
  ChangeInfo cinfo{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"cinfo", &RemoveOk::cinfo}};
};

/// RENAME4args: `oldname` is in the saved filehandle, `newname` in the current one.
struct RenameArgs {
  std::string_view oldname{};
  std::string_view newname{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"oldname", &RenameArgs::oldname, kMostNameOctets},
                                          Field{"newname", &RenameArgs::newname, kMostNameOctets}};
};

/// RENAME4resok
struct RenameOk {
  ChangeInfo source_cinfo{};
  ChangeInfo target_cinfo{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"source_cinfo", &RenameOk::source_cinfo},
                                          Field{"target_cinfo", &RenameOk::target_cinfo}};
};

/// READDIR4args. `maxcount` bounds READDIR4resok, `dircount` its names and cookies.
struct ReaddirArgs {
  std::uint64_t cookie = 0;
  Verifier cookieverf{};
  std::uint32_t dircount = 0;
  std::uint32_t maxcount = 0;
  Bitmap attr_request{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cookie", &ReaddirArgs::cookie}, Field{"cookieverf", &ReaddirArgs::cookieverf},
              Field{"dircount", &ReaddirArgs::dircount}, Field{"maxcount", &ReaddirArgs::maxcount},
              Field{"attr_request", &ReaddirArgs::attr_request}};
};

/// entry4 without `nextentry`, which the chain is made of. Name and values point into the message.
struct Entry {
  std::uint64_t cookie = 0;
  std::string_view name{};
  Fattr attrs{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cookie", &Entry::cookie}, Field{"name", &Entry::name, kMostNameOctets},
              Field{"attrs", &Entry::attrs}};
};

/// READDIR4resok; `entries` and `eof` are dirlist4.
struct ReaddirOk {
  Verifier cookieverf{};
  Chain<Entry> entries{};
  bool eof = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"cookieverf", &ReaddirOk::cookieverf},
              Field{"entries", &ReaddirOk::entries, kMostEntries}, Field{"eof", &ReaddirOk::eof}};
};

/// READLINK4resok. `link` is a DDP-eligible item; it points into the message.
struct ReadlinkOk {
  std::string_view link{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"link", &ReadlinkOk::link, kMostPathOctets}};
};

using CreateResult = Result<CreateOk>;
using LinkResult = Result<LinkOk>;
using RemoveResult = Result<RemoveOk>;
using RenameResult = Result<RenameOk>;
using ReaddirResult = Result<ReaddirOk>;
using ReadlinkResult = Result<ReadlinkOk>;

}  // namespace steertag::nfs4
