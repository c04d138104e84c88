// The byte capture of a connection: whole, the same at both ends, and readable as others' captures.
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "capture/file/capture_file.h"
#include "capture/reader.h"
#include "capture/testing.h"
#include "fabric/roce/network/udp_datagrams.h"
#include "fabric/roce/packets/gid.h"
#include "fabric/testing/endpoint.h"
#include "fabric/testing/faulty_roce.h"
#include "fabric/testing/ipv6_roce.h"
#include "rdma/infiniband/cm_message.h"
#include "rdma/infiniband/invariant_crc.h"
#include "rdma/infiniband/mad.h"

namespace steertag::fabric::roce {
namespace {

namespace ib = rdma::infiniband;
using testing::Pair;
using testing::pattern;

constexpr std::uint32_t kPayload = 1 << 16;
// Hundreds of packets, so that a network with faults loses some.
constexpr std::uint32_t kLargePayload = 1 << 20;

View payload(const trace::CapturedPacket& packet) {
  return packet.datagram().payload;
}

/// A call of NFS version 3 as RPC-over-RDMA has it, so that readers recognise the protocol.
Bytes null_call() {
  return testing::hex(
      "00000001 00000001 00000010 00000000 00000000 00000000 00000000"
      "00000001 00000000 00000002 000186a3 00000003 00000000 00000000 00000000 00000000 00000000");
}

/// One connection with a Send, a Write and a Read, from its request to its end.
void converse(Pair& pair, std::uint32_t bytes = kPayload) {
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  ASSERT_TRUE(pair.server) << "no connection";
  pair.post_receives(4, 4096);
  auto region = pair.server_domain->allocate(bytes, {true, true});
  auto sink = pair.client_domain->allocate(bytes, {});
  const Bytes data = pattern(bytes);
  const Bytes call = null_call();
  const View part(call);
  ASSERT_TRUE(pair.client->send({&part, 1}, 1));
  ASSERT_TRUE(pair.client->rdma_write(data, region->stag(), region->base(), 2));
  ASSERT_TRUE(pair.client->rdma_read(*sink, 0, bytes, region->stag(), region->base(), 3));
  ASSERT_TRUE(pair.poll_until([&] { return pair.client_notices.completed.size() >= 3; }));
  pair.client->disconnect();
  ASSERT_TRUE(pair.poll_until_closed());
}

/// The octets of what `sender` sent, sorted: one side knows another order than the other.
std::vector<Bytes> sent_by(trace::Role sender, const trace::Capture& capture) {
  std::vector<Bytes> all;
  for (const trace::CapturedPacket& packet : capture.packets()) {
    if (packet.sender == sender) {
      all.emplace_back(payload(packet).begin(), payload(packet).end());
    }
  }
  std::ranges::sort(all);
  return all;
}

std::string name_of(View octets) {
  const ib::BaseHeader base = ib::decode_base(octets.data());
  if (base.queue_pair != ib::kManagementQueuePair) {
    return "";
  }
  const View mad = octets.subspan(ib::kBaseBytes + ib::kDatagramBytes);
  return std::string(ib::name(ib::CmKind(ib::decode_mad_header(mad.data()).attribute)));
}

/// The messages of connection management, in order.
std::vector<std::string> management(const trace::Capture& capture) {
  std::vector<std::string> names;
  for (const trace::CapturedPacket& packet : capture.packets()) {
    if (std::string name = name_of(payload(packet)); !name.empty()) {
      names.push_back((packet.sender == trace::Role::client ? "client " : "server ") + name);
    }
  }
  return names;
}

std::string file_of(const trace::Capture& capture) {
  std::ostringstream out;
  const std::array<const trace::Capture*, 1> one = {&capture};
  trace::write_captures(out, one, {});
  return out.str();
}

capture::testing::AllLines read_back(const std::string& file, std::uint16_t port) {
  capture::testing::AllLines all;
  capture::Reader reader(all, {{port}});
  auto opened = capture::CaptureFile::open(std::as_bytes(std::span(file)), "capture");
  if (!opened) {
    ADD_FAILURE() << "what was written is no capture";
    return all;
  }
  for (auto packet = opened->next(); packet && *packet; packet = opened->next()) {
    reader.read(**packet);
  }
  reader.finish();
  return all;
}

void expect_read_back(const Pair& pair, const trace::Capture& capture) {
  const auto all = read_back(file_of(capture), pair.listener->port());
  ASSERT_EQ(all.connections.size(), 1u);
  const capture::testing::Lines& read = all.connections[0];
  std::string text;
  for (const std::string& line : read.lines) {
    text += line + '\n';
  }
  EXPECT_EQ(text.find("loss"), std::string::npos) << "the capture lacks something:\n" << text;
  EXPECT_EQ(read.sends, std::vector<Bytes>{null_call()}) << text;
  EXPECT_TRUE(read.ended) << text;
}

TEST(RoceCapture, BothSidesKeepTheSameDatagrams) {
  Pair pair(testing::roce_factory());
  ASSERT_NO_FATAL_FAILURE(converse(pair));
  const trace::Capture& client = pair.client_bytes.datagrams;
  const trace::Capture& server = pair.server_bytes.datagrams;
  for (const trace::Role sender : {trace::Role::client, trace::Role::server}) {
    EXPECT_GT(sent_by(sender, client).size(), kPayload / 4096) << "Write or Read is missing";
    EXPECT_TRUE(sent_by(sender, client) == sent_by(sender, server))
        << sent_by(sender, client).size() << " and " << sent_by(sender, server).size();
  }
  const std::vector<std::string> setup_and_end = {"client ConnectRequest", "server ConnectReply",
                                                  "client ReadyToUse", "client DisconnectRequest",
                                                  "server DisconnectReply"};
  EXPECT_EQ(management(client), setup_and_end);
  EXPECT_EQ(management(server), setup_and_end);
}

class RoceCaptureOverIp : public ::testing::TestWithParam<testing::Factory> {};

template <class Route>
Route route_of(const trace::CapturedPacket& packet) {
  Route route;
  const std::size_t bytes = route.source.size();
  std::ranges::copy(std::span(packet.from.address).last(bytes), route.source.begin());
  std::ranges::copy(std::span(packet.to.address).last(bytes), route.destination.begin());
  route.source_port = packet.from.port;
  route.destination_port = packet.to.port;
  return route;
}

TEST_P(RoceCaptureOverIp, AddressesAreThoseThatTheCrcCovers) {
  Pair pair(GetParam());
  ASSERT_NO_FATAL_FAILURE(converse(pair));
  for (const trace::CapturedPacket& packet : pair.server_bytes.datagrams.packets()) {
    const ib::InvariantCrc crc = packet.from.is_ipv4()
                                     ? ib::InvariantCrc(route_of<ib::Ipv4Route>(packet))
                                     : ib::InvariantCrc(route_of<ib::Ipv6Route>(packet));
    EXPECT_TRUE(crc.check(payload(packet), packet.datagram().identification));
    EXPECT_EQ(packet.to.port, ib::kRoceUdpPort);
  }
}

TEST(RoceCapture, APacketOfIpv6HasNoIdentificationInARunEither) {
  for (const testing::Factory& factory : testing::ipv6_if_chosen()) {
    Pair pair(factory);
    ASSERT_NO_FATAL_FAILURE(converse(pair));
    for (const trace::Capture* capture :
         {&pair.client_bytes.datagrams, &pair.server_bytes.datagrams}) {
      ASSERT_FALSE(capture->packets().empty());
      for (const trace::CapturedPacket& packet : capture->packets()) {
        EXPECT_EQ(packet.datagram().identification, 0) << "it is the place in a run";
      }
    }
  }
}

TEST(RoceCapture, APacketHasTheIdentificationOfItsPlaceInARun) {
  const auto at = resolve({"roce", testing::roce_factory().another_host(), 0, ""}, false);
  const auto network = UdpDatagrams::open(roce_address(at->front()), 1 << 16);
  ASSERT_TRUE(network) << network.error().message();
  if (!(*network)->groups()) {
    GTEST_SKIP() << "this kernel has no UDP_SEGMENT";
  }
  Pair pair(testing::roce_factory());
  ASSERT_NO_FATAL_FAILURE(converse(pair));
  for (const trace::Capture* capture :
       {&pair.client_bytes.datagrams, &pair.server_bytes.datagrams}) {
    for (const trace::Role sender : {trace::Role::client, trace::Role::server}) {
      std::uint16_t most = 0;
      for (const trace::CapturedPacket& packet : capture->packets()) {
        if (packet.sender == sender) {
          most = std::max(most, packet.datagram().identification);
        }
      }
      EXPECT_GT(most, 0) << "no run, though Write and Read are of many packets";
    }
  }
}

TEST_P(RoceCaptureOverIp, ReadersFindTheConversation) {
  Pair pair(GetParam());
  ASSERT_NO_FATAL_FAILURE(converse(pair));
  expect_read_back(pair, pair.client_bytes.datagrams);
  expect_read_back(pair, pair.server_bytes.datagrams);
}

INSTANTIATE_TEST_SUITE_P(Ipv4, RoceCaptureOverIp, ::testing::Values(testing::roce_factory()));
INSTANTIATE_TEST_SUITE_P(Ipv6, RoceCaptureOverIp, ::testing::ValuesIn(testing::ipv6_if_chosen()));

TEST(RoceCapture, RepeatedDatagramsAreKept) {
  Pair pair(testing::faulty_roce_factory());
  ASSERT_NO_FATAL_FAILURE(converse(pair, kLargePayload));
  const std::vector<Bytes> sent = sent_by(trace::Role::client, pair.client_bytes.datagrams);
  const auto again = std::ranges::adjacent_find(sent);
  EXPECT_NE(again, sent.end()) << "a network that loses packets, and none was repeated";
}

/// Packets of the client with this opcode.
std::ptrdiff_t copies_of(ib::Opcode opcode, const trace::Capture& capture) {
  return std::ranges::count_if(capture.packets(), [&](const trace::CapturedPacket& packet) {
    return packet.sender == trace::Role::client &&
           ib::decode_base(payload(packet).data()).opcode == opcode;
  });
}

TEST(RoceCapture, EachCopyOfABentPacketIsKept) {
  BentPacket thrice;
  thrice.copies = 3;
  Pair pair(testing::roce_factory());
  pair.client_options.bent_startup = std::make_shared<const BentPacket>(thrice);
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  ASSERT_TRUE(pair.server) << "no connection";
  pair.post_receives(1, 4096);
  const Bytes call = null_call();
  const View part(call);
  Fault fault;
  fault.packet = pair.client_options.bent_startup;
  ASSERT_TRUE(pair.client->send({&part, 1}, 1, {}, &fault));
  ASSERT_TRUE(pair.poll_until([&] { return !pair.client_notices.completed.empty(); }));
  for (const trace::Capture* capture :
       {&pair.client_bytes.datagrams, &pair.server_bytes.datagrams}) {
    EXPECT_EQ(std::ranges::count(management(*capture), "client ConnectRequest"), 3);
    EXPECT_EQ(copies_of(ib::Opcode::send_only, *capture), 3);
  }
}

TEST(RoceCapture, RefusedConnectionHasItsRequestAndTheAnswer) {
  Pair pair(testing::roce_factory());
  pair.answer = [](std::unique_ptr<ConnectionRequest> request) { request->reject({}); };
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  EXPECT_EQ(management(pair.client_bytes.datagrams),
            (std::vector<std::string>{"client ConnectRequest", "server ConnectReject"}));
}

TEST(RoceCapture, ObserverThatIsRemovedHearsNothing) {
  Pair pair(testing::roce_factory());
  ASSERT_NO_FATAL_FAILURE(pair.connect());
  pair.client->observe(nullptr, nullptr);
  const std::size_t before = pair.client_bytes.datagrams.kept_bytes();
  pair.client->disconnect();
  ASSERT_TRUE(pair.poll_until_closed());
  EXPECT_EQ(pair.client_bytes.datagrams.kept_bytes(), before);
  EXPECT_GT(before, 0u);
}

}  // namespace
}  // namespace steertag::fabric::roce
