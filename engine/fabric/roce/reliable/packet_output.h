// Where requester and responder put their packets.
#pragma once

#include <span>

#include "fabric/roce/packets/bent_packet.h"
#include "fabric/roce/packets/formats.h"

namespace steertag::fabric::roce {

class PacketOutput {
 public:
  virtual ~PacketOutput() = default;
  /// Whether a further packet may be sent now. If not, the owner transmits again when there is.
  virtual bool room() = 0;
  /// Sends a packet to the peer's queue pair. The payload is copied.
  virtual void send(PacketHeaders packet, std::span<const View> payload) = 0;
  /// The same, altered. Without this hook it leaves as it is.
  virtual void send_bent(PacketHeaders packet, std::span<const View> payload,
                         const BentPacket& /*bent*/) {
    send(packet, payload);
  }
};

}  // namespace steertag::fabric::roce
