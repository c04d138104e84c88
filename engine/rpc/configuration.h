// The connection configuration protocol, version 1 of program 100417 (RFC 5666 6).
//
// With it a client and a server exchanged their sizes before the real protocol. RFC 8166 removed
// it.
#pragma once

#include <cstdint>

#include "rpc/fields.h"

namespace steertag::configuration {

using rpc::Field;

inline constexpr std::uint32_t kProgram = 100417;
inline constexpr std::uint32_t kVersion = 1;
/// CONF_RDMA, the only procedure that RFC 5666 names.
inline constexpr std::uint32_t kProcedure = 1;

/// config_rdma_req, the arguments of CONF_RDMA: the client's sizes in octets, for inline RPC
/// messages. Also the RDMA Reads that may be in flight towards the client; 0 allows none.
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

/// config_rdma_reply, the result of CONF_RDMA: the server's sizes. `align` in octets is the data
/// alignment for RDMA_MSGP (RFC 5666 3.9).
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
