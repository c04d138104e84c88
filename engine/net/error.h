// Errors between this program and a peer, each with a sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace steertag::net {

enum class Errc : std::uint8_t {
  bad_url,
  unknown_provider,
  no_device,
  name_not_found,
  cannot_listen,
  cannot_connect,  // refused, unreachable
  timed_out,       // a named limit was exceeded
  not_connected,
  too_large,        // larger than the provider's message limit
  bad_region,       // the operation leaves its local region, or the rights do not allow it
  queue_full,       // more posted operations than the named limit
  unsupported,      // the provider cannot do this
  peer_closed,      // orderly end of the stream
  peer_reset,       // the stream was reset or cut inside a message
  peer_terminated,  // the peer sent Terminate (iWARP), or a NAK that refuses (InfiniBand)
  protocol_error,   // the peer broke a rule of the RDMA layers: we sent Terminate or a NAK, or
                    // closed
  rejected,         // the peer rejected the connection
  local_close,
  no_descriptors,        // of the process (EMFILE) or of the system (ENFILE)
  too_many_startups,     // half open: not established yet, up to a named limit
  too_many_connections,  // up to a named limit
  bad_record,            // the octets of a TCP stream are no records of ONC RPC
};
std::string_view sentence(Errc code);

/// `detail` is part of a sentence with fault, place and rule: "FPDU 12: CRC mismatch (RFC 5044
/// 4.4)".
struct Error {
  Errc code = Errc::not_connected;
  std::string detail;
  std::string message() const;
};

}  // namespace steertag::net
