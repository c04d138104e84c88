// Operations that move file data: READ, WRITE, COMMIT.
#pragma once

#include <cstdint>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::nfs4 {

/// READ4args
struct ReadArgs {
  StateId stateid{};
  std::uint64_t offset = 0;
  std::uint32_t count = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"stateid", &ReadArgs::stateid}, Field{"offset", &ReadArgs::offset},
              Field{"count", &ReadArgs::count}};
};

/// READ4resok. `data` is a DDP-eligible item; it points into the message.
struct ReadOk {
  bool eof = false;
  View data{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"eof", &ReadOk::eof}, Field{"data", &ReadOk::data, kMostDataOctets}};
};

/// WRITE4args. `data` is a DDP-eligible item; it points into the message, or into the sender's
/// memory.
struct WriteArgs {
  StateId stateid{};
  std::uint64_t offset = 0;
  StableHow stable = StableHow::UNSTABLE4;
  View data{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"stateid", &WriteArgs::stateid}, Field{"offset", &WriteArgs::offset},
      Field{"stable", &WriteArgs::stable}, Field{"data", &WriteArgs::data, kMostDataOctets}};
};

/// WRITE4resok
struct WriteOk {
  std::uint32_t count = 0;
  StableHow committed = StableHow::UNSTABLE4;
  Verifier writeverf{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"count", &WriteOk::count}, Field{"committed", &WriteOk::committed},
              Field{"writeverf", &WriteOk::writeverf}};
};

/// COMMIT4args
struct CommitArgs {
  std::uint64_t offset = 0;
  std::uint32_t count = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"offset", &CommitArgs::offset}, Field{"count", &CommitArgs::count}};
};

/// COMMIT4resok
struct CommitOk {
  Verifier writeverf{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"writeverf", &CommitOk::writeverf}};
};

using ReadResult = Result<ReadOk>;
using WriteResult = Result<WriteOk>;
using CommitResult = Result<CommitOk>;

}  // namespace steertag::nfs4
