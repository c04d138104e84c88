// A network of datagrams, as a RoCEv2 port uses it.
//
// Everything that the invariant CRC covers is known to its user: the addresses and ports, and an IP
// identification of 0.
#pragma once

#include <optional>
#include <span>

#include "fabric/net_names.h"
#include "support/bytes.h"

namespace steertag::fabric::roce {

/// Octets of the largest packet behind UDP: headers, 4096 of payload, pad and invariant CRC.
inline constexpr std::size_t kMostDatagramBytes = 4096 + 128;
/// Datagrams that one call sends or receives.
inline constexpr std::size_t kBatch = 64;

struct Outbound {
  View octets;
  const Address* to = nullptr;
};
struct Inbound {
  View octets;
  const Address* from = nullptr;
  std::uint16_t identification = 0;  // of its IPv4 header; a network does not tell it
};

class Datagrams {
 public:
  virtual ~Datagrams() = default;
  /// For epoll: readable and writable as the network is.
  virtual int descriptor() const = 0;
  virtual const Address& local() const = 0;
  /// Takes packets in order, and returns how many. Fewer: it is full, until it is writable.
  virtual std::size_t send(std::span<const Outbound> packets) = 0;
  /// At most kBatch datagrams, valid until the next call. Empty: there are no more.
  virtual std::span<const Inbound> receive() = 0;
  /// The next address that refused a datagram (ICMP: port unreachable).
  virtual std::optional<Address> refusal() = 0;
};

/// Makes the network of a local address.
using OpenDatagrams = std::function<Expected<std::unique_ptr<Datagrams>, Error>(
    const Address& local, int buffer_bytes)>;

}  // namespace steertag::fabric::roce
