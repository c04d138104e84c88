// The messages of direct access, the program beside NFS (docs/direct-access.md).
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "nfs/v4/result.h"
#include "nfs/v4/types.h"

namespace steertag::direct {

using nfs4::FileHandle;
using nfs4::StateId;
using nfs4::Status;
using nfs4::Verifier;
using rpc::Field;
using rpc::Void;

/// From the range that RFC 5531 8.4 leaves to users.
inline constexpr std::uint32_t kProgram = 0x20020049;
inline constexpr std::uint32_t kVersion = 1;

/// References of one reply or RETURN: 32 KiB of them, which one reply chunk takes.
inline constexpr std::size_t kMostReferences = 1024;
/// READs of one BATCH: as many as a call of our peers may have write chunks.
inline constexpr std::size_t kMostReads = 16;
inline constexpr std::size_t kTicketOctets = 16;
/// The form of frames that docs/direct-access.md describes.
inline constexpr std::uint32_t kFrameForm = 1;

using Ticket = std::array<std::byte, kTicketOctets>;

/// oref: where a frame is, and what it has. `base` is the tagged offset of its first octet.
struct Reference {
  std::uint32_t stag = 0;
  std::uint64_t base = 0;
  std::uint64_t generation = 0;
  std::uint64_t offset = 0;  // of the block in its file
  std::uint32_t length = 0;  // octets of the file in the frame

  bool operator==(const Reference&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"stag", &Reference::stag}, Field{"base", &Reference::base},
              Field{"generation", &Reference::generation}, Field{"offset", &Reference::offset},
              Field{"length", &Reference::length}};
};

struct HelloArgs {
  Verifier verifier{};
  std::uint64_t clientid = 0;  // of EXCHANGE_ID; 0 with NFS version 3
  std::uint32_t frame_form = kFrameForm;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"verifier", &HelloArgs::verifier}, Field{"clientid", &HelloArgs::clientid},
              Field{"frame_form", &HelloArgs::frame_form}};
};

/// `address` is a universal address (RFC 5665 5.2). Empty: that of the RPC connection.
struct HelloOk {
  Ticket ticket{};
  std::uint32_t block_bytes = 0;
  std::uint32_t frame_form = kFrameForm;
  std::uint32_t most_references = 0;
  std::uint32_t lease_seconds = 0;
  std::string_view netid{};
  std::string_view address{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"ticket", &HelloOk::ticket},
              Field{"block_bytes", &HelloOk::block_bytes},
              Field{"frame_form", &HelloOk::frame_form},
              Field{"most_references", &HelloOk::most_references},
              Field{"lease_seconds", &HelloOk::lease_seconds},
              Field{"netid", &HelloOk::netid, nfs4::kMostNetaddrOctets},
              Field{"address", &HelloOk::address, nfs4::kMostNetaddrOctets}};
};

struct RefsArgs {
  FileHandle file{};
  StateId state{};
  std::uint64_t offset = 0;
  std::uint64_t count = 0;  // octets; all ones: to the end of the file
  std::uint32_t want_refs = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file", &RefsArgs::file}, Field{"state", &RefsArgs::state},
              Field{"offset", &RefsArgs::offset}, Field{"count", &RefsArgs::count},
              Field{"want_refs", &RefsArgs::want_refs}};
};

struct RefsOk {
  std::uint64_t change = 0;  // the change attribute
  std::uint64_t size = 0;
  std::vector<Reference> refs{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"change", &RefsOk::change}, Field{"size", &RefsOk::size},
              Field{"refs", &RefsOk::refs, kMostReferences}};
};

/// `want_refs` counts blocks from that of `offset` on.
struct ReadArgs {
  FileHandle file{};
  StateId state{};
  std::uint64_t offset = 0;
  std::uint32_t count = 0;
  std::uint32_t want_refs = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"file", &ReadArgs::file}, Field{"state", &ReadArgs::state},
              Field{"offset", &ReadArgs::offset}, Field{"count", &ReadArgs::count},
              Field{"want_refs", &ReadArgs::want_refs}};
};

/// `data` is the DDP-eligible item; it points into the message.
struct ReadOk {
  std::uint64_t change = 0;
  std::uint64_t size = 0;
  bool eof = false;
  View data{};
  std::vector<Reference> refs{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"change", &ReadOk::change}, Field{"size", &ReadOk::size},
              Field{"eof", &ReadOk::eof}, Field{"data", &ReadOk::data, nfs4::kMostDataOctets},
              Field{"refs", &ReadOk::refs, kMostReferences}};
};

using HelloResult = nfs4::Result<HelloOk>;
using RefsResult = nfs4::Result<RefsOk>;
using ReadResult = nfs4::Result<ReadOk>;
using ReturnResult = nfs4::Result<Void>;

struct BatchArgs {
  std::vector<ReadArgs> reads{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"reads", &BatchArgs::reads, kMostReads}};
};

struct BatchResult {
  std::vector<ReadResult> results{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"results", &BatchResult::results, kMostReads}};
};

struct ReturnArgs {
  std::vector<Reference> refs{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"refs", &ReturnArgs::refs, kMostReferences}};
};

/// Counts since the server started.
struct Counters {
  std::uint64_t grants = 0;       // references
  std::uint64_t revocations = 0;  // of references
  std::uint64_t faults = 0;       // optimistic connections that the server ended
  std::uint64_t optimistic_octets = 0;
  std::uint64_t rpc_octets = 0;  // data of READ and BATCH

  bool operator==(const Counters&) const = default;
  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{
      Field{"grants", &Counters::grants}, Field{"revocations", &Counters::revocations},
      Field{"faults", &Counters::faults}, Field{"optimistic_octets", &Counters::optimistic_octets},
      Field{"rpc_octets", &Counters::rpc_octets}};
};

}  // namespace steertag::direct
