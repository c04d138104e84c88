// Results of the procedures that move file data: READLINK, READ, WRITE and COMMIT.
#pragma once

#include <cstdint>
#include <string_view>

#include "nfs/nfs3_result.h"
#include "nfs/nfs3_types.h"

namespace steertag::nfs3 {

/// READLINK3resok. `data` is the DDP-eligible item; it points into the message.
struct ReadlinkOk {
  PostOpAttr symlink_attributes{};
  std::string_view data{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"symlink_attributes", &ReadlinkOk::symlink_attributes},
              Field{"data", &ReadlinkOk::data, kMostPathOctets}};
};

/// READLINK3resfail
struct ReadlinkFail {
  PostOpAttr symlink_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"symlink_attributes", &ReadlinkFail::symlink_attributes}};
};

using ReadlinkResult = Result<ReadlinkOk, ReadlinkFail>;

/// READ3resok. `data` is the DDP-eligible item; it points into the message. The protocol has
/// `count` beside the data's own count, and cases let the two differ.
struct ReadOk {
  PostOpAttr file_attributes{};
  std::uint32_t count = 0;
  bool eof = false;
  View data{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file_attributes", &ReadOk::file_attributes}, Field{"count", &ReadOk::count},
              Field{"eof", &ReadOk::eof}, Field{"data", &ReadOk::data, kMostDataOctets}};
};

/// READ3resfail
struct ReadFail {
  PostOpAttr file_attributes{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"file_attributes", &ReadFail::file_attributes}};
};

using ReadResult = Result<ReadOk, ReadFail>;

/// WRITE3resok
struct WriteOk {
  WccData file_wcc{};
  std::uint32_t count = 0;
  StableHow committed = StableHow::UNSTABLE;
  Verifier verf{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file_wcc", &WriteOk::file_wcc}, Field{"count", &WriteOk::count},
              Field{"committed", &WriteOk::committed}, Field{"verf", &WriteOk::verf}};
};

/// WRITE3resfail and COMMIT3resfail
struct FileWccFail {
  WccData file_wcc{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"file_wcc", &FileWccFail::file_wcc}};
};

using WriteResult = Result<WriteOk, FileWccFail>;

/// COMMIT3resok
struct CommitOk {
  WccData file_wcc{};
  Verifier verf{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file_wcc", &CommitOk::file_wcc}, Field{"verf", &CommitOk::verf}};
};

using CommitResult = Result<CommitOk, FileWccFail>;

}  // namespace steertag::nfs3
