// A responder without a network: its events, the packets it sends, and requests of a peer.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fabric/roce/reliable/responder.h"
#include "fabric/testing/endpoint.h"
#include "fabric/testing/packet_log.h"

namespace steertag::fabric::roce {

class ResponderFixture : public ::testing::Test, protected ResponderOwner {
 protected:
  using Lines = std::vector<std::string>;
  static constexpr std::uint32_t kMtu = 256;
  static constexpr std::uint32_t kFirst = 0xfffffe;  // PSNs wrap soon

  ResponderFixture() { responder.start({kFirst, kMtu, 2}); }

  void on_message(const PostedReceive& receive, MutableView bytes,
                  std::optional<std::uint32_t> invalidated) override {
    events.push_back("Send " + std::to_string(bytes.size()) + " into " +
                     std::to_string(receive.id) + (invalidated ? " invalidating" : ""));
  }
  void on_write(std::uint32_t /*key*/, std::uint64_t /*address*/, std::uint64_t length,
                View payload) override {
    events.push_back("Write " + std::to_string(length) +
                     (payload.size() < length ? " refused" : ""));
  }
  void on_read(const RdmaHeader& request) override {
    events.push_back("Read " + std::to_string(request.length));
  }
  void on_read_answered(const RdmaHeader& /*request*/, std::uint64_t offset,
                        std::uint64_t length) override {
    events.push_back("Response " + std::to_string(length) + " from " + std::to_string(offset));
  }
  void on_refused_request(Refusal refusal, std::uint32_t psn) override {
    refused = refusal;
    refused_psn = psn;
  }
  void on_source_closed(std::uint32_t psn) override { refused_psn = psn; }

  static std::uint32_t psn(std::uint32_t number) { return psn_after(kFirst, number); }
  static Packet request(Opcode opcode, std::uint32_t number) {
    Packet packet;
    packet.headers.base.opcode = opcode;
    packet.headers.base.psn = psn(number);
    packet.headers.base.acknowledge = true;
    return packet;
  }
  void transmit() {
    while (responder.transmit()) {
    }
  }
  void take(Opcode opcode, std::uint32_t number, const Bytes& payload = {}, RdmaHeader rdma = {},
            std::uint32_t invalidate = 0) {
    Packet packet = request(opcode, number);
    packet.headers.rdma = rdma;
    packet.headers.invalidate = invalidate;
    packet.payload = payload;
    responder.take(packet);
    transmit();
  }
  static std::string line(const std::string& what, std::uint32_t number) {
    return what + " " + std::to_string(psn(number));
  }
  void post(std::size_t size) {
    buffers.push_back(std::make_unique<Bytes>(size));
    responder.receives().post(*buffers.back(), buffers.size());
  }
  RdmaHeader at(Region& region, std::uint64_t offset, std::uint32_t length) {
    return {region.base() + offset, region.stag(), length};
  }
  /// A READ is requested so often before any of its response leaves, and then its source is closed.
  void expect_refused_once_the_source_is_closed(int requests) {
    auto region = domain.allocate(600, {true, false});
    output.has_room = false;
    for (int i = 0; i < requests; ++i) {
      take(Opcode::read_request, 0, {}, at(*region, 0, 600));
    }
    region->invalidate();
    output.has_room = true;
    responder.transmit();
    EXPECT_EQ(output.take_lines(), Lines{line("NAK: remote access error", 0)});
    EXPECT_EQ(refused_psn, psn(0));
  }
  static bool untouched(Region& region) {
    return std::ranges::all_of(region.bytes(),
                               [](std::byte octet) { return octet == std::byte{0}; });
  }

  std::uint64_t drawn = 0;
  StagTable table{[this] { return ++drawn * 0x9e3779b97f4a7c15; }};
  SoftwareDomain domain{table};
  Windows windows;
  testing::PacketLog output;
  Limits limits;
  SendSplitter splitter;
  Responder responder{*this, output, domain, windows, splitter, limits};
  std::vector<std::unique_ptr<Bytes>> buffers;
  Lines events;
  std::optional<Refusal> refused;
  std::uint32_t refused_psn = 0;
};

}  // namespace steertag::fabric::roce
