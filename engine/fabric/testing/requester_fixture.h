// A requester without a network: its events, the packets it sends, and answers of a peer.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/roce/reliable/requester.h"
#include "fabric/testing/endpoint.h"
#include "fabric/testing/packet_log.h"

namespace steertag::fabric::testing {

class RequesterFixture : public ::testing::Test, protected roce::RequesterOwner {
 protected:
  static constexpr std::uint32_t kMtu = 256;
  static constexpr std::uint32_t kFirst = 0xfffffe;  // PSNs wrap soon
  static constexpr std::uint8_t kAck = 0x1f;

  RequesterFixture() { start(2); }
  void start(std::uint8_t rnr_retries, std::uint16_t reads = 2, std::uint32_t held = 256) {
    requester.start({kFirst, kMtu, reads, rnr_retries, held});
  }

  void on_sending(const roce::Outgoing& /*operation*/, std::uint64_t offset,
                  std::uint64_t length) override {
    events.push_back(std::to_string(length) + " from " + std::to_string(offset));
  }
  void on_response(const roce::Outgoing& /*operation*/, std::uint64_t offset,
                   View payload) override {
    events.push_back("response " + std::to_string(payload.size()) + " at " +
                     std::to_string(offset));
  }
  void on_done(Operation /*kind*/, WorkId id) override {
    events.push_back("done " + std::to_string(id));
  }
  void on_requester_failed(CloseReason reason) override {
    failed = reason;
    requester.stop();
  }

  void post_send(WorkId id, const Bytes& message = {}) {
    messages.push_back(std::make_unique<Bytes>(message));
    roce::Outgoing& operation = requester.post(Operation::send, id);
    operation.parts.assign(1, View(*messages.back()));
    operation.length = message.size();
  }
  void post_read(WorkId id, std::size_t length) {
    messages.push_back(std::make_unique<Bytes>(length));
    roce::Outgoing& operation = requester.post(Operation::rdma_read, id);
    operation.length = length;
    operation.sink = messages.back()->data();
    operation.stag = 7;
    operation.offset = 1000;
  }
  void acknowledge(std::uint8_t syndrome, std::uint32_t number) {
    roce::Packet packet;
    packet.headers.base.opcode = roce::Opcode::acknowledge;
    packet.headers.base.psn = psn(number);
    packet.headers.ack.syndrome = syndrome;
    requester.take_acknowledge(packet, now);
    requester.transmit(now);
  }
  /// The right packet of a response to what was requested last.
  void respond(std::uint32_t number, const Bytes& payload) {
    take_response(number, payload);
    requester.transmit(now);
  }
  void take_response(std::uint32_t number, const Bytes& payload) {
    take_response(response_opcode(psn(number)), number, payload);
  }
  void take_response(roce::Opcode opcode, std::uint32_t number, const Bytes& payload,
                     std::uint8_t syndrome = kAck) {
    roce::Packet packet;
    packet.headers.base.opcode = opcode;
    packet.headers.base.psn = psn(number);
    packet.headers.ack.syndrome = syndrome;
    packet.payload = payload;
    requester.take_response(packet, now);
  }
  void wait(Time time) {
    now += time;
    requester.on_deadline(now);
  }
  static std::uint32_t psn(std::uint32_t number) { return roce::psn_after(kFirst, number); }
  static std::string line(const std::string& what, std::uint32_t number) {
    return what + " " + std::to_string(psn(number));
  }
  std::vector<std::string> sent() { return output.take_lines(); }
  std::vector<std::string> take_events() { return std::exchange(events, {}); }

  Time now = 1;
  fabric::Limits limits;
  PacketLog output;
  roce::Policy policy;
  roce::Requester requester{*this, output, limits, policy};
  std::vector<std::unique_ptr<Bytes>> messages;
  std::vector<std::string> events;
  std::optional<CloseReason> failed;

 private:
  roce::Opcode response_opcode(std::uint32_t number) const {
    for (std::size_t i = output.packets.size(); i-- > 0;) {
      const roce::PacketHeaders& sent = output.packets[i].packet;
      const std::uint32_t packets = (sent.rdma.length + kMtu - 1) / kMtu;
      const std::int32_t place = roce::psn_distance(sent.base.psn, number);
      if (sent.base.opcode == roce::Opcode::read_request && place >= 0 &&
          static_cast<std::uint32_t>(place) < packets) {
        const bool last = static_cast<std::uint32_t>(place) + 1 == packets;
        return place == 0
                   ? (last ? roce::Opcode::read_response_only : roce::Opcode::read_response_first)
                   : (last ? roce::Opcode::read_response_last : roce::Opcode::read_response_middle);
      }
    }
    return roce::Opcode::read_response_middle;
  }
};

}  // namespace steertag::fabric::testing
