// A network of datagrams, as a RoCEv2 port uses it.
//
// Everything that the invariant CRC covers is known to its user: the addresses and ports, and the
// IPv4 identification. That is 0, or the packet's place in its run (SegmentRun).
#pragma once

#include <optional>
#include <span>

#include "fabric/net_names.h"
#include "fabric/roce/packets/limits.h"
#include "support/bytes.h"

namespace steertag::fabric::roce {

/// Octets of the largest packet behind UDP: headers, 4096 of payload, pad and invariant CRC.
inline constexpr std::size_t kMostDatagramBytes = 4096 + 128;
/// Octets of the largest IP packet.
inline constexpr std::uint32_t kMostIpBytes = 65535;
/// Octets of a socket's receive buffer: the default limit of Linux (net.core.rmem_max), doubled.
inline constexpr std::size_t kUsualReceiveBuffer = 2 * 212992;

struct Outbound {
  View octets;
  const Address* to = nullptr;
  std::uint16_t identification = 0;  // its place in its run, and that of its IPv4 header
};
struct Inbound {
  View octets;
  const Address* from = nullptr;
  std::uint16_t identification = 0;  // of its IPv4 header; a network tells the likely one
};

class Datagrams {
 public:
  virtual ~Datagrams() = default;
  /// For epoll: readable and writable as the network is.
  virtual int descriptor() const = 0;
  virtual const Address& local() const = 0;
  /// Whether it takes runs. Once it has refused one, it never does again.
  virtual bool groups() const { return false; }
  /// Octets of an IP packet that its interface takes, as far as the system tells.
  virtual std::uint32_t mtu() const { return kMostIpBytes; }
  /// Octets of packets that wait to be received, as Linux counts them; see Port::held.
  virtual std::size_t receive_buffer() const { return kUsualReceiveBuffer; }
  /// Takes packets in order, a run as a whole, and returns how many. Fewer: it is full, until it is
  /// writable, or has refused a run, which `groups` tells.
  virtual std::size_t send(std::span<const Outbound> packets) = 0;
  /// Datagrams, valid until the next call. Fewer than kReceives: there are no more now.
  virtual std::span<const Inbound> receive() = 0;
  /// The next address that refused a datagram (ICMP: port unreachable).
  virtual std::optional<Address> refusal() = 0;
};

/// Makes the network of a local address.
using OpenDatagrams = std::function<Expected<std::unique_ptr<Datagrams>, Error>(
    const Address& local, int buffer_bytes)>;

}  // namespace steertag::fabric::roce
