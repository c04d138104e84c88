// The connection configuration protocol, version 1 of program 100417 (RFC 5666 6), which RFC 8166
// dropped: a client and a server told each other their sizes before the real protocol.
#pragma once

#include <cstdint>

#include "rpc/fields.h"

namespace steertag::configuration {

using rpc::Field;

inline constexpr std::uint32_t kProgram = 100417;
inline constexpr std::uint32_t kVersion = 1;
/// CONF_RDMA, the only procedure that RFC 5666 names.
inline constexpr std::uint32_t kProcedure = 1;

/// config_rdma_req, the arguments of CONF_RDMA: what the client has. Sizes in octets, of RPC
/// messages that are inline; RDMA Reads that may be under way towards the client, 0 for none at
/// all.
struct Request {
  std::uint32_t maxcall_sendsize = 0;
  std::uint32_t maxreply_sendsize = 0;
  std::uint32_t maxrdmaread = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields = Entries{Field{"maxcall_sendsize", &Request::maxcall_sendsize},
                                          Field{"maxreply_sendsize", &Request::maxreply_sendsize},
                                          Field{"maxrdmaread", &Request::maxrdmaread}};
};

/// config_rdma_reply, the result of CONF_RDMA: what the server takes. `align` in octets is what
/// RDMA_MSGP should align data to (RFC 5666 3.9).
struct Reply {
  std::uint32_t maxcall_sendsize = 0;
  std::uint32_t align = 0;
  std::uint32_t maxrdmaread = 0;

  void decode(wire::Reader& reader);
  void encode(wire::Writer& writer) const;
  static constexpr auto kFields =
      Entries{Field{"maxcall_sendsize", &Reply::maxcall_sendsize}, Field{"align", &Reply::align},
              Field{"maxrdmaread", &Reply::maxrdmaread}};
};

}  // namespace steertag::configuration
