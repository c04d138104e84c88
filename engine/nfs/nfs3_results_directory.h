// Results of the procedures that change or list directories.
#pragma once

#include <cstdint>
#include <string_view>

#include "nfs/nfs3_result.h"
#include "nfs/nfs3_types.h"

namespace steertag::nfs3 {

/// CREATE3resok, and the same arm of MKDIR, SYMLINK and MKNOD.
struct CreateOk {
  PostOpHandle obj{};
  PostOpAttr obj_attributes{};
  WccData dir_wcc{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"obj", &CreateOk::obj}, Field{"obj_attributes", &CreateOk::obj_attributes},
              Field{"dir_wcc", &CreateOk::dir_wcc}};
};

/// CREATE3resfail and its likes, and both arms of REMOVE and RMDIR.
struct DirWcc {
  WccData dir_wcc{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"dir_wcc", &DirWcc::dir_wcc}};
};

using CreateResult = Result<CreateOk, DirWcc>;
using MkdirResult = CreateResult;
using SymlinkResult = CreateResult;
using MknodResult = CreateResult;

using RemoveResult = Result<DirWcc, DirWcc>;
using RmdirResult = RemoveResult;

/// RENAME3resok and RENAME3resfail
struct RenameOk {
  WccData fromdir_wcc{};
  WccData todir_wcc{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"fromdir_wcc", &RenameOk::fromdir_wcc},
                                          Field{"todir_wcc", &RenameOk::todir_wcc}};
};

using RenameResult = Result<RenameOk, RenameOk>;

/// LINK3resok and LINK3resfail
struct LinkOk {
  PostOpAttr file_attributes{};
  WccData linkdir_wcc{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"file_attributes", &LinkOk::file_attributes},
                                          Field{"linkdir_wcc", &LinkOk::linkdir_wcc}};
};

using LinkResult = Result<LinkOk, LinkOk>;

/// entry3. The name points into the message.
struct Entry {
  std::uint64_t fileid = 0;
  std::string_view name{};
  std::uint64_t cookie = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"fileid", &Entry::fileid}, Field{"name", &Entry::name, kMostNameOctets},
              Field{"cookie", &Entry::cookie}};
};

/// READDIR3resok; `entries` and `eof` are dirlist3.
struct ReaddirOk {
  PostOpAttr dir_attributes{};
  Verifier cookieverf{};
  Chain<Entry> entries{};
  bool eof = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"dir_attributes", &ReaddirOk::dir_attributes},
              Field{"cookieverf", &ReaddirOk::cookieverf},
              Field{"entries", &ReaddirOk::entries, kMostEntries}, Field{"eof", &ReaddirOk::eof}};
};

/// READDIR3resfail and READDIRPLUS3resfail
struct DirFail {
  PostOpAttr dir_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"dir_attributes", &DirFail::dir_attributes}};
};

using ReaddirResult = Result<ReaddirOk, DirFail>;

/// entryplus3. The name points into the message.
struct EntryPlus {
  std::uint64_t fileid = 0;
  std::string_view name{};
  std::uint64_t cookie = 0;
  PostOpAttr name_attributes{};
  PostOpHandle name_handle{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"fileid", &EntryPlus::fileid}, Field{"name", &EntryPlus::name, kMostNameOctets},
      Field{"cookie", &EntryPlus::cookie}, Field{"name_attributes", &EntryPlus::name_attributes},
      Field{"name_handle", &EntryPlus::name_handle}};
};

/// READDIRPLUS3resok; `entries` and `eof` are dirlistplus3.
struct ReaddirplusOk {
  PostOpAttr dir_attributes{};
  Verifier cookieverf{};
  Chain<EntryPlus> entries{};
  bool eof = false;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"dir_attributes", &ReaddirplusOk::dir_attributes},
                                          Field{"cookieverf", &ReaddirplusOk::cookieverf},
                                          Field{"entries", &ReaddirplusOk::entries, kMostEntries},
                                          Field{"eof", &ReaddirplusOk::eof}};
};

using ReaddirplusResult = Result<ReaddirplusOk, DirFail>;

}  // namespace steertag::nfs3
