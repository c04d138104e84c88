// Keeps the packets that requester or responder send.
#pragma once

#include <string>
#include <vector>

#include "fabric/roce/reliable/packet_output.h"

namespace steertag::fabric::testing {

struct SentPacket {
  roce::PacketHeaders packet;
  Bytes payload;
};

class PacketLog final : public roce::PacketOutput {
 public:
  bool room() override { return has_room; }
  void send(roce::PacketHeaders packet, std::span<const View> payload) override {
    SentPacket& sent = packets.emplace_back(SentPacket{packet, {}});
    for (const View piece : payload) {
      sent.payload.insert(sent.payload.end(), piece.begin(), piece.end());
    }
  }
  /// "SEND Only 5" with the PSN, for each packet since the last call.
  std::vector<std::string> take_lines() {
    std::vector<std::string> lines;
    for (; told < packets.size(); ++told) {
      const roce::BaseHeader& base = packets[told].packet.base;
      std::string line(rdma::infiniband::name(base.opcode));
      if (base.opcode == roce::Opcode::acknowledge) {
        line =
            rdma::infiniband::name(rdma::infiniband::ack_kind(packets[told].packet.ack.syndrome));
      }
      lines.push_back(line + " " + std::to_string(base.psn));
    }
    return lines;
  }

  bool has_room = true;
  std::vector<SentPacket> packets;
  std::size_t told = 0;
};

}  // namespace steertag::fabric::testing
