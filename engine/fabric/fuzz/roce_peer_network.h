// A network in memory whose only other end is a fuzz target.
//
// It checks what the provider sends, and remembers what it says of itself.
#pragma once

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/packets/cm_wire.h"
#include "fabric/roce/packets/gid.h"
#include "wire/fuzz/check.h"

namespace steertag::fuzz {

using fabric::Address;
using fabric::Socket;
namespace roce = fabric::roce;

/// Numbers of one end of the provider's, from its REQ or REP.
struct KnownEnd {
  Address at;
  std::uint32_t id = 0;
  std::uint32_t queue_pair = 0;
  std::uint32_t next_psn = 0;  // of the peer's requests
};

/// What the provider's addresses share.
struct PeerNetwork {
  Address peer = roce::ipv4_address(0x7f000002, roce::kRoceUdpPort);
  bool full = false;
  std::vector<Address> locals;
  std::vector<KnownEnd> ends;
  std::uint32_t last_request_psn = 0;  // that the provider sent
  // The datagram and the refusal that wait, and for whom.
  Address to;
  Address from = peer;
  std::optional<Bytes> datagram;
  bool refuses = false;
};

/// A descriptor that epoll always reports as readable, writable and with an error.
inline Socket eager_descriptor() {
  std::array<int, 2> ends{};
  check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, ends.data()) == 0);
  Socket kept(ends[0]);
  const Socket closed(ends[1]);  // with an unread octet: a reset
  check(::send(kept.fd(), "", 1, MSG_NOSIGNAL) == 1);
  return kept;
}

class PeerDatagrams final : public roce::Datagrams {
 public:
  PeerDatagrams(PeerNetwork& network, const Address& local) : network_(network), local_(local) {
    network_.locals.push_back(local);
  }
  ~PeerDatagrams() override {
    std::erase_if(network_.locals, [this](const Address& each) { return is_here(each); });
  }

  int descriptor() const override { return descriptor_.fd(); }
  const Address& local() const override { return local_; }
  bool groups() const override { return true; }
  std::size_t send(std::span<const roce::Outbound> packets) override {
    if (network_.full) return 0;
    for (const roce::Outbound& packet : packets) take(packet);
    return packets.size();
  }
  std::span<const roce::Inbound> receive() override {
    if (!network_.datagram || !is_here(network_.to)) return {};
    octets_ = std::move(*network_.datagram);
    network_.datagram.reset();
    inbound_ = {octets_, &network_.from};
    return {&inbound_, 1};
  }
  std::optional<Address> refusal() override {
    if (!std::exchange(network_.refuses, false)) return std::nullopt;
    return network_.peer;
  }

 private:
  bool is_here(const Address& address) const {
    return roce::gid_of(address) == roce::gid_of(local_);
  }

  void take(const roce::Outbound& out) {
    check(roce::wire::InvariantCrc(roce::route_of(local_, *out.to))
              .check(out.octets, out.identification));
    const auto packet = roce::wire::parse_packet(out.octets);
    check(packet.has_value());
    if (packet->headers.traits().operation != roce::wire::Operation::datagram) {
      if (packet->headers.traits().is_request()) {
        network_.last_request_psn = packet->headers.base.psn;
      }
      return;
    }
    const auto mad = roce::decode_mad(packet->payload);
    check(mad.has_value());
    const roce::CmMessage& message = mad->message;
    if (message.kind == roce::CmKind::connect_request ||
        message.kind == roce::CmKind::connect_reply) {
      network_.ends.push_back({local_, message.local_id, message.queue_pair, message.starting_psn});
    }
  }

  PeerNetwork& network_;
  Address local_;
  Socket descriptor_ = eager_descriptor();
  Bytes octets_;
  roce::Inbound inbound_;
};

}  // namespace steertag::fuzz
