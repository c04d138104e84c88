// The port mapper, version 2 of program 100000 (RFC 1833 3).
#pragma once

#include <cstdint>

#include "rpc/fields.h"

namespace steertag::portmap {

using rpc::Field;

inline constexpr std::uint32_t kProgram = 100000;
inline constexpr std::uint32_t kVersion = 2;
/// The well-known port of the port mapper and of rpcbind.
inline constexpr std::uint16_t kPort = 111;
/// The RFC sets no limit for the list of DUMP. This is far above what one host registers.
inline constexpr std::size_t kMostMappings = 4096;
/// Protocol numbers of IP in mappings: RDMA has none.
inline constexpr std::uint32_t kTcp = 6;
inline constexpr std::uint32_t kUdp = 17;

enum class Procedure : std::uint32_t {
  PMAPPROC_NULL = 0,
  PMAPPROC_SET = 1,
  PMAPPROC_UNSET = 2,
  PMAPPROC_GETPORT = 3,
  PMAPPROC_DUMP = 4,
  PMAPPROC_CALLIT = 5,
};

/// mapping; GETPORT ignores the port.
struct Mapping {
  std::uint32_t program = 0;
  std::uint32_t version = 0;
  std::uint32_t protocol = 0;
  std::uint32_t port = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"prog", &Mapping::program}, Field{"vers", &Mapping::version},
              Field{"prot", &Mapping::protocol}, Field{"port", &Mapping::port}};
};

/// The result of GETPORT; 0: not registered.
struct Port {
  std::uint32_t port = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"port", &Port::port}};
};

/// pmaplist, the result of DUMP.
struct MappingList {
  rpc::Chain<Mapping> mappings{};

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"mappings", &MappingList::mappings, kMostMappings}};
};

}  // namespace steertag::portmap
