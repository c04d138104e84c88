// A local address of the provider: its socket, and the packets of all queue pairs on it.
#pragma once

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "fabric/roce/connection_manager.h"
#include "fabric/roce/network/datagram_observation.h"
#include "fabric/roce/network/datagrams.h"
#include "fabric/roce/network/segment_run.h"
#include "fabric/roce/packets/bent_packet.h"
#include "fabric/roce/packets/formats.h"

namespace steertag::fabric::roce {

struct Runtime;

/// Packets that were dropped, by reason.
struct Dropped {
  std::uint64_t malformed = 0;  // no packet of InfiniBand's transport
  std::uint64_t crc = 0;
  std::uint64_t partition = 0;
  std::uint64_t foreign = 0;  // for no queue pair of ours, or from another address than its peer's
  std::uint64_t unsent = 0;   // the network was full
};

class Port final : private Channel {
 public:
  static Expected<std::unique_ptr<Port>, Error> open(Runtime& runtime, const Address& local);
  Port(Runtime& runtime, std::unique_ptr<Datagrams> network);
  ~Port() override;
  Port(const Port&) = delete;
  Port& operator=(const Port&) = delete;

  const Address& local() const { return network_->local(); }
  ConnectionManager& manager() { return manager_; }
  const Dropped& dropped() const { return dropped_; }
  std::uint32_t mtu() const { return network_->mtu(); }
  /// Packets of a path MTU that the socket holds, even if each is alone, while none is received.
  std::uint32_t held(std::uint32_t path_mtu) const;
  /// Whether no listener, connection or ended connection uses it, and no call of it is running.
  bool unused() const { return !running_ && manager_.unused(); }

  /// Whether a packet can be sent now. If not, sessions are notified when it can.
  bool room();
  /// Queues a packet, which leaves at the latest with the next `flush`. It is valid until the next
  /// call; it has no octets if the network is full.
  Outbound send(const Address& to, const wire::InvariantCrc& crc, const PacketHeaders& packet,
                std::span<const View> payload);
  /// The same, altered, and as many copies as it wants. Each is reported.
  void send_bent(const Address& to, const wire::InvariantCrc& crc, const PacketHeaders& packet,
                 std::span<const View> payload, const BentPacket& bent,
                 DatagramObservation& observation);
  /// As `send`, with octets of the owner, from the base header on. The CRC is added.
  Outbound send_octets(const Address& to, const wire::InvariantCrc& crc, View octets);
  void flush();

 private:
  MutableView slot(std::size_t index) {
    return MutableView(octets_).subspan(index * kMostDatagramBytes, kMostDatagramBytes);
  }
  Expected<void, Error> start();
  Outbound send_altered(const Address& to, const wire::InvariantCrc& crc,
                        const PacketHeaders& packet, std::span<const View> payload,
                        const BentPacket& bent);
  void on_ready(std::uint32_t events) override;
  void on_deadline() override {}
  void watch();
  void give();
  void separate();
  void receive();
  void take(const Inbound& datagram);

  Runtime& runtime_;
  std::unique_ptr<Datagrams> network_;
  Reactor::Key key_ = 0;
  ConnectionManager manager_;
  Dropped dropped_;
  bool running_ = false;
  bool full_ = false;  // of the network
  bool refused_room_ = false;
  bool for_output_ = false;  // what is watched
  // Packets that have not left: those from first_ on.
  std::vector<std::byte> octets_ = std::vector<std::byte>(kBatch * kMostDatagramBytes);
  std::array<Address, kBatch> destinations_;
  std::array<Outbound, kBatch> queued_;
  SegmentRun run_;  // that they end with
  std::size_t first_ = 0;
  std::size_t count_ = 0;
};

}  // namespace steertag::fabric::roce
