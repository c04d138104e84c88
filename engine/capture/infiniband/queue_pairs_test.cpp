// Connections whose beginning was captured: setup, Sends, Writes, Reads, and their end.
#include "capture/infiniband/queue_pairs.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "capture/infiniband/testing.h"
#include "wire/testing.h"

namespace steertag::capture::infiniband {
namespace {

using namespace infiniband::testing;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using wire::testing::from_hex;

constexpr Side kClient = Side::a;
constexpr Side kServer = Side::b;
const Bytes kPrivate = from_hex("f6ab0e18 01010303");

/// What stands in the lines of a message without chunks.
std::string words(std::uint32_t xid) {
  const auto digits = [&] {
    std::string text = "00000000";
    for (int i = 7; i >= 0; --i, xid >>= 4)
      text[static_cast<std::size_t>(i)] = "0123456789abcdef"[xid & 15];
    return text;
  }();
  return " [" + digits + " 00000001 00000020 00000000 00000000 00000000 00000000 ...]";
}

TEST(QueuePairs, TellsAWholeConnection) {
  Conversation talk;
  talk.connect(kPrivate, kPrivate);
  talk.send(kClient, call(7));
  talk.acknowledge(kServer);
  talk.write(kServer, 0xabc, 0x1000, Bytes(600));
  talk.send(kServer, reply(7), 0xabc);
  talk.acknowledge(kClient);
  talk.disconnect(kClient);
  for (const Medium medium : {Medium::rocev2, Medium::rocev1, Medium::infiniband}) {
    EXPECT_THAT(
        lines_of(talk.packets, medium),
        ElementsAre("1 client connect with private data [f6ab0e18 01010303 00000000 00000000 ...]",
                    "2 server accept with private data [f6ab0e18 01010303 00000000 00000000 ...]",
                    "4 client send 52 octets" + words(7),
                    "6 server rdma_write 256 octets to STag 0x00000abc offset 0x0000000000001000",
                    "7 server rdma_write 256 octets to STag 0x00000abc offset 0x0000000000001100",
                    "8 server rdma_write 88 octets to STag 0x00000abc offset 0x0000000000001200",
                    "9 server send 52 octets" + words(7) + " invalidates STag 0x00000abc",
                    "11 client disconnect clean", "11 end"));
  }
}

TEST(QueuePairs, NamesBothEnds) {
  Conversation talk;
  talk.connect();
  const auto roce = read_all(talk.packets);
  ASSERT_EQ(roce.connections.size(), 1u);
  EXPECT_EQ(roce.connections[0].name.fabric, Fabric::rocev2);
  EXPECT_EQ(roce.connections[0].name.ends.client, "192.0.2.1 qp 0x000011");
  EXPECT_EQ(roce.connections[0].name.ends.server, "192.0.2.2 qp 0x000022");
  const auto native = read_all(talk.packets, Medium::infiniband);
  ASSERT_EQ(native.connections.size(), 1u);
  EXPECT_EQ(native.connections[0].name.fabric, Fabric::infiniband);
  EXPECT_EQ(native.connections[0].name.ends.client, "lid 1 qp 0x000011");
  const auto first = read_all(talk.packets, Medium::rocev1);
  ASSERT_EQ(first.connections.size(), 1u);
  EXPECT_EQ(first.connections[0].name.fabric, Fabric::infiniband);
  EXPECT_EQ(first.connections[0].name.ends.client, "192.0.2.1 qp 0x000011");
}

TEST(QueuePairs, PrivateDataIsTheConsumersField) {
  Conversation talk;
  talk.connect_request(Bytes(56, std::byte{1}));
  talk.connect_reply();
  struct Sizes : ConnectionSinks, ConnectionSink {
    std::vector<std::size_t> sizes;
    ConnectionSink& open(const FrameStamp&, const ConnectionName&) override { return *this; }
    void on_event(const FrameStamp&, const trace::Event& event) override {
      if (const auto* connect = std::get_if<trace::Connect>(&event.body))
        sizes.push_back(connect->private_data.size());
      if (const auto* accept = std::get_if<trace::Accept>(&event.body))
        sizes.push_back(accept->private_data.size());
    }
    void on_loss(const FrameStamp&, trace::Role, LossKind) override {}
    void on_end(const FrameStamp&) override {}
  } sink;
  QueuePairs reader(sink);
  for (const Carried& each : talk.packets) hand_over(reader, Medium::rocev2, each, 1);
  EXPECT_THAT(sink.sizes, ElementsAre(56u, 196u)) << "as much as a live consumer is given";
}

TEST(QueuePairs, SendsOfManyPacketsArePutTogether) {
  Conversation talk;
  talk.connect();
  talk.send(kClient, call(1, 1000));
  talk.send(kServer, reply(1, 460), 0x55);  // two whole packets
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1, 1000), reply(1, 460)));
  EXPECT_THAT(all.connections[0].lines,
              Contains("10 server send 512 octets" + words(1) + " invalidates STag 0x00000055"));
}

TEST(QueuePairs, ImmediateDataIsNoPartOfASend) {
  Conversation talk;
  talk.connect();
  talk.request(kClient, ib::Opcode::send_only_immediate, Bytes(4, std::byte{9}), call(1));
  talk.request(kClient, ib::Opcode::send_first, {}, Bytes(256));
  talk.request(kClient, ib::Opcode::send_last_immediate, Bytes(4, std::byte{9}), Bytes(8));
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1), Bytes(264)));
}

TEST(QueuePairs, ReadsAndTheirResponses) {
  Conversation talk;
  talk.connect();
  const std::uint32_t first = talk.read(kServer, 0xabc, 0x1000, 600);
  const std::uint32_t second = talk.read(kServer, 0xdef, 0x9000, 10);
  talk.read_response(kClient, first, 600);
  talk.read_response(kClient, second, 10);
  talk.send(kServer, reply(1));
  EXPECT_THAT(
      lines_of(talk.packets),
      ElementsAre(
          "1 client connect with private data [00000000 00000000 00000000 00000000 ...]",
          "2 server accept with private data [00000000 00000000 00000000 00000000 ...]",
          "4 server rdma_read 600 octets from STag 0x00000abc offset 0x0000000000001000",
          "5 server rdma_read 10 octets from STag 0x00000def offset 0x0000000000009000",
          "6 client rdma_read_response 256 octets to STag 0x00000000 offset 0x0000000000001000",
          "7 client rdma_read_response 256 octets to STag 0x00000000 offset 0x0000000000001100",
          "8 client rdma_read_response 88 octets to STag 0x00000000 offset 0x0000000000001200",
          "9 client rdma_read_response 10 octets to STag 0x00000000 offset 0x0000000000009000",
          "10 server send 52 octets" + words(1), "0 end"));
}

TEST(QueuePairs, NumbersWrap) {
  Conversation talk;
  talk.client.psn = 0xffffff;
  talk.server.psn = 0xfffffe;
  talk.connect();
  talk.send(kClient, call(1, 1000));
  const std::uint32_t psn = talk.read(kServer, 1, 0, 1000);
  talk.read_response(kClient, psn, 1000);
  talk.send(kServer, reply(1));
  talk.acknowledge(kClient);
  talk.send(kClient, call(2));
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 1u);
  EXPECT_THAT(all.connections[0].sends, ElementsAre(call(1, 1000), reply(1), call(2)));
  EXPECT_THAT(all.connections[0].lines, Not(Contains(::testing::HasSubstr("loss"))));
}

TEST(QueuePairs, ManagementSentAgainOpensNothing) {
  Conversation talk;
  talk.connect_request(kPrivate);
  talk.packets.push_back(talk.packets[0]);
  talk.connect_reply(kPrivate);
  talk.packets.push_back(talk.packets[2]);
  talk.packets.push_back(talk.packets[0]);
  talk.ready();
  talk.send(kClient, call(1));
  talk.disconnect(kServer);
  talk.packets.insert(talk.packets.end(), {talk.packets[7], talk.packets[0], talk.packets[2]});
  EXPECT_THAT(
      lines_of(talk.packets),
      ElementsAre("1 client connect with private data [f6ab0e18 01010303 00000000 00000000 ...]",
                  "3 server accept with private data [f6ab0e18 01010303 00000000 00000000 ...]",
                  "7 client send 52 octets" + words(1), "8 server disconnect clean", "8 end"));
}

TEST(QueuePairs, ARejectionByTheConsumer) {
  Conversation talk;
  talk.connect_request(kPrivate);
  ib::CmMessage reject = Conversation::of_kind(ib::CmKind::connect_reject);
  reject.reason = ib::kRejectedByConsumer;
  talk.cm(kServer, reject);
  EXPECT_THAT(
      lines_of(talk.packets),
      ElementsAre("1 client connect with private data [f6ab0e18 01010303 00000000 00000000 ...]",
                  "2 server reject with private data [00000000 00000000 00000000 00000000 ...]",
                  "2 server disconnect clean", "2 end"));
  reject.reason = 8;  // no such service
  talk.packets.pop_back();
  talk.cm(kServer, reject);
  EXPECT_THAT(
      lines_of(talk.packets),
      ElementsAre("1 client connect with private data [f6ab0e18 01010303 00000000 00000000 ...]",
                  "2 server disconnect clean", "2 end"));
}

TEST(QueuePairs, AQueuePairThatIsUsedAgainEndsItsConnection) {
  Conversation talk;
  talk.connect();
  talk.send(kClient, call(1));
  Conversation next = talk;
  next.packets.clear();
  next.client_id = 0xc2;
  next.server_id = 0x5f;
  next.client.psn = 1;
  next.server.psn = 1;
  next.server.queue_pair = 0x23;
  next.connect();
  next.send(kClient, call(2));
  talk.packets.insert(talk.packets.end(), next.packets.begin(), next.packets.end());
  const auto all = read_all(talk.packets);
  ASSERT_EQ(all.connections.size(), 2u);
  EXPECT_EQ(all.connections[0].lines.back(), "5 end");
  EXPECT_THAT(all.connections[1].sends, ElementsAre(call(2)));
}

TEST(QueuePairs, AnotherPortMayBeNfs) {
  Conversation talk;
  talk.service = ib::tcp_service(4000);
  talk.connect();
  talk.send(kClient, Bytes(40));
  EXPECT_THAT(read_all(talk.packets).connections, IsEmpty()) << "something else is spoken there";
  capture::testing::AllLines all;
  QueuePairs reader(all, {{4000}});
  for (const Carried& each : talk.packets) hand_over(reader, Medium::rocev2, each, 1);
  EXPECT_EQ(all.connections.size(), 1u) << "the user says that it is NFS/RDMA";
}

TEST(QueuePairs, ARefusalForGoodEndsTheConnection) {
  Conversation talk;
  talk.connect();
  talk.write(kServer, 0xabc, 0, Bytes(8));
  talk.acknowledge(kClient, talk.server.psn - 1, 0x62);
  talk.disconnect(kServer);
  EXPECT_THAT(
      lines_of(talk.packets),
      ElementsAre("1 client connect with private data [00000000 00000000 00000000 00000000 ...]",
                  "2 server accept with private data [00000000 00000000 00000000 00000000 ...]",
                  "4 server rdma_write 8 octets to STag 0x00000abc offset 0x0000000000000000",
                  "5 client disconnect abrupt", "5 end"));
}

}  // namespace
}  // namespace steertag::capture::infiniband
