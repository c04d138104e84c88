// Packets that Linux sent from its soft RoCE device: the codecs give the same octets.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "capture/file/capture_file.h"
#include "capture/reader.h"
#include "capture/testing.h"
#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/invariant_crc.h"
#include "rdma/infiniband/mad.h"
#include "rdma/infiniband/packet.h"
#include "rdma/octets.h"
#include "wire/testing.h"

namespace steertag::capture::infiniband {
namespace {

namespace ib = rdma::infiniband;
using wire::testing::from_hex;
using wire::testing::to_hex;

constexpr std::size_t kEthernetBytes = 14;
constexpr std::size_t kIpv4Bytes = 20;
constexpr std::size_t kUdpBytes = 8;
constexpr std::size_t kMadAt = ib::kBaseBytes + ib::kDatagramBytes;

struct LinuxPacket {
  std::string place;  // for messages
  ib::Ipv4Route route;
  std::uint16_t identification = 0;
  View octets;  // from the base header through the invariant CRC
};

/// Calls `each` with every packet of a capture, and returns their number.
std::size_t for_each(const std::string& name, const std::function<void(const LinuxPacket&)>& each) {
  const std::string path = std::string(STEERTAG_CAPTURES) + "/" + name;
  auto file = CaptureFile::open(path);
  if (!file) {
    ADD_FAILURE() << path << " is no capture";
    return 0;
  }
  std::size_t count = 0;
  for (auto packet = file->next(); packet && *packet; packet = file->next()) {
    const View octets = (*packet)->octets;
    if (octets.size() < kEthernetBytes + kIpv4Bytes + kUdpBytes) continue;
    const std::byte* ip = octets.data() + kEthernetBytes;
    const std::byte* udp = ip + kIpv4Bytes;
    const bool is_udp = rdma::load16(ip - 2) == 0x0800 && rdma::load8(ip) == 0x45 &&
                        rdma::load8(ip + 9) == 17 && rdma::load16(udp + 2) == ib::kRoceUdpPort;
    if (!is_udp) continue;
    LinuxPacket linux;
    linux.place = name + ": frame " + std::to_string((*packet)->stamp.frame);
    std::copy_n(ip + 12, 4, linux.route.source.begin());
    std::copy_n(ip + 16, 4, linux.route.destination.begin());
    linux.route.source_port = rdma::load16(udp);
    linux.route.dont_fragment = (rdma::load16(ip + 6) & 0x4000) != 0;
    linux.identification = rdma::load16(ip + 4);
    linux.octets = octets.subspan(kEthernetBytes + kIpv4Bytes, rdma::load16(udp + 4));
    linux.octets = linux.octets.subspan(kUdpBytes);
    each(linux);
    ++count;
  }
  return count;
}

constexpr const char* kVersion3 = "linux-6.1-rxe-v3.pcapng";
constexpr const char* kVersion41 = "linux-6.1-rxe-v4.1.pcapng";

TEST(LinuxPackets, TheirInvariantCrc) {
  const auto check = [](const LinuxPacket& packet) {
    EXPECT_TRUE(ib::InvariantCrc(packet.route).check(packet.octets, packet.identification))
        << packet.place;
  };
  EXPECT_EQ(for_each(kVersion3, check), 309u);
  EXPECT_EQ(for_each(kVersion41, check), 505u);
}

TEST(LinuxPackets, TheIdentificationThatASocketDoesNotReport) {
  const auto check = [](const LinuxPacket& packet) {
    const ib::InvariantCrc crc(packet.route);
    EXPECT_EQ(crc.identification_of(packet.octets), packet.identification) << packet.place;
    Bytes damaged(packet.octets.begin(), packet.octets.end());
    damaged[damaged.size() / 2] ^= std::byte{1};
    EXPECT_EQ(crc.identification_of(damaged), std::nullopt) << packet.place;
  };
  EXPECT_EQ(for_each(kVersion3, check), 309u);
  EXPECT_EQ(for_each(kVersion41, check), 505u);
}

TEST(LinuxPackets, HeadersPadAndCrc) {
  const auto check = [](const LinuxPacket& packet) {
    const auto parts = ib::parse_packet(packet.octets);
    ASSERT_TRUE(parts) << packet.place << ": " << ib::describe(parts.error());
    const Bytes ours = ib::whole_packet(parts->headers, parts->payload,
                                        ib::InvariantCrc(packet.route), packet.identification);
    EXPECT_EQ(to_hex(ours), to_hex(packet.octets)) << packet.place;
  };
  EXPECT_EQ(for_each(kVersion3, check), 309u);
  EXPECT_EQ(for_each(kVersion41, check), 505u);
}

TEST(LinuxPackets, MessagesOfItsConnectionManager) {
  std::size_t count = 0;
  const auto check = [&](const LinuxPacket& packet) {
    const ib::BaseHeader base = ib::decode_base(packet.octets.data());
    if (base.queue_pair != ib::kManagementQueuePair) return;
    ASSERT_EQ(packet.octets.size(), kMadAt + ib::kMadBytes + ib::kInvariantCrcBytes);
    const View mad = packet.octets.subspan(kMadAt, ib::kMadBytes);
    const ib::MadHeader header = ib::decode_mad_header(mad.data());
    const auto message = ib::decode_cm(header.attribute, mad.subspan(ib::kMadHeaderBytes));
    ASSERT_TRUE(message) << packet.place;
    Bytes again(ib::kMadBytes);
    ib::encode(header, again.data());
    ib::encode(*message, again.data() + ib::kMadHeaderBytes);
    EXPECT_EQ(to_hex(again), to_hex(mad)) << packet.place;
    ++count;
  };
  for_each(kVersion3, check);
  for_each(kVersion41, check);
  EXPECT_EQ(count, 10u) << "REQ, REP, RTU, DREQ and DREP of two connections";
}

/// What a reader says on CRCs after one bit of `spoilt` frames changed in their last octet.
std::vector<std::string> wrong_crcs(const char* name, const std::vector<std::uint64_t>& spoilt) {
  auto file = CaptureFile::open(std::string(STEERTAG_CAPTURES) + "/" + name);
  if (!file) return {"no capture"};
  capture::testing::AllLines all;
  Reader reader(all);
  for (auto packet = file->next(); packet && *packet; packet = file->next()) {
    Bytes octets((*packet)->octets.begin(), (*packet)->octets.end());
    if (std::ranges::count(spoilt, (*packet)->stamp.frame) > 0) octets.back() ^= std::byte{1};
    Packet changed = **packet;
    changed.octets = octets;
    reader.read(changed);
  }
  reader.finish();
  return all.connections.empty() ? std::vector<std::string>{"no connection"}
                                 : all.connections[0].wrong_crcs;
}

TEST(LinuxPackets, AReaderCountsWrongCrcsOfEachSide) {
  EXPECT_EQ(wrong_crcs(kVersion3, {}), std::vector<std::string>{});
  EXPECT_EQ(wrong_crcs(kVersion41, {}), std::vector<std::string>{});
  const std::vector<std::string> expected = {"client 2, frames 32 to 33",
                                             "server 3, frames 30 to 35"};
  EXPECT_EQ(wrong_crcs(kVersion3, {26, 30, 31, 32, 33, 35}), expected)
      << "frame 26 is the connection manager's";
}

/// The values are those that Wireshark shows, but for the flow label and the packet rate, which it
/// reads at wrong bits. Linux derives the connection's source port from the flow label.
TEST(LinuxPackets, FieldsOfItsRequestAndReply) {
  std::vector<ib::CmMessage> messages;
  const auto keep = [&](const LinuxPacket& packet) {
    const ib::BaseHeader base = ib::decode_base(packet.octets.data());
    if (base.queue_pair != ib::kManagementQueuePair) return;
    const View mad = packet.octets.subspan(kMadAt, ib::kMadBytes);
    const auto kind = ib::decode_mad_header(mad.data()).attribute;
    if (const auto message = ib::decode_cm(kind, mad.subspan(ib::kMadHeaderBytes))) {
      messages.push_back(*message);
      messages.back().private_data = {};
    }
  };
  for_each(kVersion3, keep);
  ASSERT_GE(messages.size(), 2u);

  const ib::CmMessage& request = messages[0];
  EXPECT_EQ(request.kind, ib::CmKind::connect_request);
  EXPECT_EQ(request.local_id, 0x94da6e1au);
  EXPECT_EQ(request.service, 0x01064e51u);
  EXPECT_EQ(request.local_guid, 0x505400fffe0a0002u);
  EXPECT_EQ(request.queue_key, 0u);
  EXPECT_EQ(request.queue_pair, 0x11u);
  EXPECT_EQ(request.responder_resources, 0x80);
  EXPECT_EQ(request.initiator_depth, 0);
  EXPECT_EQ(request.remote_response_timeout, 0x14);
  EXPECT_TRUE(request.reliable());
  EXPECT_FALSE(request.flow_control);
  EXPECT_EQ(request.starting_psn, 0xb695bdu);
  EXPECT_EQ(request.local_response_timeout, 0x14);
  EXPECT_EQ(request.retry_count, 6);
  EXPECT_EQ(request.partition, 0xffff);
  EXPECT_EQ(request.path_mtu, 3);
  EXPECT_EQ(request.rnr_retry_count, 0);
  EXPECT_EQ(request.max_cm_retries, 15);
  EXPECT_FALSE(request.shared_receive_queue);
  EXPECT_EQ(request.primary.local_lid, 0xffff);
  EXPECT_EQ(request.primary.remote_lid, 0xffff);
  EXPECT_EQ(to_hex(request.primary.local_gid), "00000000 00000000 0000ffff 0a000902");
  EXPECT_EQ(to_hex(request.primary.remote_gid), "00000000 00000000 0000ffff 0a000901");
  const std::uint32_t label = request.primary.flow_label;
  EXPECT_EQ(label, 0xacc89u);
  EXPECT_EQ(0xc000u | ((label & 0x3fff) ^ label >> 14), 52386u) << "source port of the connection";
  EXPECT_EQ(request.primary.packet_rate, 0);
  EXPECT_EQ(request.primary.traffic_class, 0);
  EXPECT_EQ(request.primary.hop_limit, 64);
  EXPECT_EQ(request.primary.service_level, 0);
  EXPECT_FALSE(request.primary.subnet_local);
  EXPECT_EQ(request.primary.local_ack_timeout, 0x13);
  EXPECT_EQ(request.alternate, ib::CmPath{});

  const ib::CmMessage& reply = messages[1];
  EXPECT_EQ(reply.kind, ib::CmKind::connect_reply);
  EXPECT_EQ(reply.local_id, 0xec099c43u);
  EXPECT_EQ(reply.remote_id, 0x94da6e1au);
  EXPECT_EQ(reply.queue_pair, 0x11u);
  EXPECT_EQ(reply.starting_psn, 0x85a73du);
  EXPECT_EQ(reply.responder_resources, 0);
  EXPECT_EQ(reply.initiator_depth, 0x80);
  EXPECT_EQ(reply.target_ack_delay, 15);
  EXPECT_EQ(reply.failover_accepted, 0);
  EXPECT_FALSE(reply.flow_control);
  EXPECT_EQ(reply.rnr_retry_count, 0);
  EXPECT_FALSE(reply.shared_receive_queue);
  EXPECT_EQ(reply.local_guid, 0x505400fffe0a0001u);
}

}  // namespace
}  // namespace steertag::capture::infiniband
